# SPDX-License-Identifier: Apache-2.0
"""Turns validation errors into problems that name the dotted key, the value and the way out."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from helia_aot.errors import Problem
from helia_aot.optimization.knobs import KNOBS

# Keys that heliaAOT configurations may carry and that this version does not have.
_UNSUPPORTED: Final = ("test.skip_verification",)
_GIVE_MODEL: Final = "give the model: --model.path MODEL.tflite, or model: {path: ...} in the file"

_KEY_MARK: Final = "[key]"
"""What pydantic adds to the place of a mapping whose key, not value, is wrong."""

Location = Sequence[str | int]


@dataclass(frozen=True)
class Place:
    """Where a key is written.

    Attributes:
        file: The file; empty when no file sets the key.
        line: The line, from 1; None when the file does not have the key.
    """

    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        """Gives ``convert.yaml:14``."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


NOWHERE: Final = Place()


def problems_of(
    error: ValidationError,
    root: type[BaseModel],
    place_of: Callable[[Location], Place] = lambda _: NOWHERE,
) -> list[Problem]:
    """Gives one problem for each error of a validation.

    Args:
        error: What pydantic found.
        root: The model that was validated; suggestions come from its fields.
        place_of: Gives where a key is written; by default problems name keys alone.

    Returns:
        The problems by line; those without one first.
    """
    found = [(place_of(details["loc"]), details) for details in error.errors(include_url=False)]
    found.sort(key=lambda item: item[0].line or 0)
    return [replace(_problem(details, root), source=str(place)) for place, details in found]


def dotted_key(location: Location) -> str:
    """Gives ``operators[0].attributes.kernel`` for ``("operators", 0, "attributes", "kernel")``."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def unknown_key(key: str, known: Iterable[str], *, sigil: str = "") -> Problem:
    """Gives the problem of a key or option that does not exist, with the nearest one that does.

    Args:
        key: The dotted key, underscores between words.
        known: Dotted keys to choose a suggestion from.
        sigil: What goes before a key where it is shown: ``--`` for options.
    """
    shown = _shown(key, sigil)
    if any(key == name or key.startswith(name + ".") for name in _UNSUPPORTED):
        return Problem(shown, "not supported by this version", "remove it")
    names = list(known)
    leaf = key.rpartition(".")[2]
    close = (
        [name for name in names if name.startswith(f"{key}.")]
        or difflib.get_close_matches(key, names, n=1, cutoff=0.8)
        or [name for name in names if name.rpartition(".")[2] == leaf]
        or difflib.get_close_matches(key, names, n=1)
    )
    kind = "option" if sigil else "key"
    advice = f"did you mean {_shown(close[0], sigil)}?" if close else ""
    return Problem(shown, f"unknown {kind}", advice)


def known_keys(model: type[BaseModel], prefix: str = "") -> list[str]:
    """Gives the dotted keys of a model, sections included; lists of rules are not entered."""
    keys = []
    for name, field in model.model_fields.items():
        keys.append(prefix + name)
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            keys += known_keys(section, f"{prefix}{name}.")
    return keys


def mapping_keys(model: type[BaseModel], prefix: str = "") -> list[str]:
    """Gives the dotted keys of a model whose values are mappings with free keys."""
    keys = []
    for name, field in model.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            keys += mapping_keys(section, f"{prefix}{name}.")
        elif any(get_origin(kind) is dict for kind in (section, *get_args(section))):
            keys.append(prefix + name)
    return keys


def _shown(key: str, sigil: str) -> str:
    return sigil + key.replace("_", "-") if sigil else key


def _problem(details: ErrorDetails, root: type[BaseModel]) -> Problem:
    location = [part for part in details["loc"] if part != _KEY_MARK]
    where = dotted_key(location)
    if details["type"] == "extra_forbidden":
        return _extra_key(location, root)
    if details["type"] == "invalid_key":
        return Problem(str(details["input"]), "not a key; keys are text", "write it in quotes")
    if details["type"] == "missing":
        if where in ("model", "model.path"):
            return Problem("model.path", "missing", _GIVE_MODEL)
        return Problem(where, "missing", "give it a value")
    return Problem(where, _reason(details), _advice(details))


def _extra_key(location: Location, root: type[BaseModel]) -> Problem:
    *section, name = location
    if section[-1:] == ["attributes"] and name in KNOBS:
        place = dotted_key([*section[:-1], "optimization", name])
        return Problem(dotted_key(location), f"{name} is a knob, not an attribute", f"set {place}")
    key = dotted_key(location).replace("-", "_")
    owner = _model_at(root, location[:-1])
    if not owner.model_fields:
        return Problem(key, "not supported by this version", "remove it")
    prefix = dotted_key(location[:-1])
    siblings = [f"{prefix}.{name}" if prefix else name for name in owner.model_fields]
    near = unknown_key(key, siblings)
    return near if near.next_step else unknown_key(key, known_keys(root))


def _model_at(root: type[BaseModel], location: Location) -> type[BaseModel]:
    model = root
    for part in location:
        if isinstance(part, str) and part in model.model_fields:
            model = _inner_model(model.model_fields[part].annotation) or model
    return model


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_inner_model(argument) for argument in get_args(annotation))
    return next((model for model in found if model is not None), None)


def _reason(details: ErrorDetails) -> str:
    value = details["input"]
    message = details["msg"].removeprefix("Value error, ").removesuffix(f" for {Path}")
    message = message.replace("Input should be", "should be").replace("Input is", "is")
    if details["type"] == "value_error":
        # A model's own check names the fields; a field's check speaks of the value.
        return message if isinstance(value, dict) else f"{value!r} is {message}"
    if details["type"] == "model_type":
        return f"{value!r} should be a mapping of keys to values"
    return f"{value!r} {message}"


def _advice(details: ErrorDetails) -> str:
    value = details["input"]
    if details["type"] == "string_type" and isinstance(value, int | float):
        return f"write it in quotes: '{value}'"
    if details["type"] == "literal_error" and isinstance(value, str):
        choices = details["ctx"]["expected"].replace(" or ", ", ").replace("'", "").split(", ")
        close = difflib.get_close_matches(value, choices, n=1)
        return f"did you mean {close[0]}?" if close else ""
    return ""
