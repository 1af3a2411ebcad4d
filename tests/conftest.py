# SPDX-License-Identifier: Apache-2.0
"""Fixtures that more than one part of the suite needs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from device_bench import SessionServer
from hypothesis import settings

# A deadline would make tests depend on what else the machine does.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

REPOSITORY = Path(__file__).resolve().parent.parent
MODELS = REPOSITORY.parent / "shared" / "models"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the size of the tests that make up their own models."""
    parser.addoption(
        "--generated-cases",
        type=int,
        metavar="N",
        help="random operators and damaged files to try, each; by default as many as the suite has time for",
    )


@pytest.fixture(scope="session")
def generated_cases(request: pytest.FixtureRequest) -> int | None:
    """How many cases tests that make up their own models try; None for their default."""
    count: int | None = request.config.getoption("--generated-cases")
    return count


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One cache for all workers of the session, apart from the user's."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HELIA_CACHE_DIR", str(folder))
        yield


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """The folder of development models with golden outputs; they are no part of the repository."""
    if not MODELS.is_dir():
        pytest.skip("the development models are not beside this repository")
    return MODELS


@pytest.fixture(scope="session")
def digits_model() -> Path:
    """The model that ships with the repository."""
    return REPOSITORY / "examples" / "digits" / "digits_int8.tflite"


@pytest.fixture(scope="session")
def session_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SessionServer]:
    """A process that runs sessions with boards, started by the first test that has one."""
    server = SessionServer(tmp_path_factory.mktemp("server"))
    yield server
    server.close()


@pytest.fixture
def shared_sessions(session_server: SessionServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions that this process starts share one import of pyOCD, which is most of what they cost."""
    monkeypatch.setattr("runners.device.ladder.run_with_deadline", session_server.run)
