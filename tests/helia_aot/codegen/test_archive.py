# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import zipfile
from pathlib import Path

from module_program import converted

from helia_aot.codegen.archive import archive_bytes


def test_an_archive_holds_the_folder_with_every_file(digits_model: Path) -> None:
    module = converted(digits_model, "net", memory={"allocate_arenas": False}).module
    with zipfile.ZipFile(io.BytesIO(archive_bytes(module))) as archive:
        assert archive.testzip() is None
        content = {name: archive.read(name) for name in archive.namelist()}
    assert content == {f"net/{file.path}": file.content for file in module.files}
    for report in ("net_plan.json", "net_report.json", "net_residency.json"):
        assert f"net/{report}" in content
    assert "net/net_arena_const_dtcm__blob.bin" in content


def test_equal_modules_give_equal_bytes_with_nothing_of_the_machine(digits_model: Path) -> None:
    one, two = (archive_bytes(converted(digits_model).module) for _ in range(2))
    assert one == two
    with zipfile.ZipFile(io.BytesIO(one)) as archive:
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == sorted(entry.filename for entry in entries)
    facts = {(e.date_time, e.external_attr, e.create_system, e.compress_type) for e in entries}
    assert facts == {((1980, 1, 1, 0, 0, 0), 0o100644 << 16, 3, zipfile.ZIP_STORED)}
