"""`akd check`: a table or JSON of what is found, codes explained, and an exit status for scripts; the page of the docs holds every code."""

from __future__ import annotations

import json
from pathlib import Path

import bad_files
import pytest
from check_gltf import GLTF_FAULTS, Fault
from check_usd import BVH_FAULTS, USD_FAULTS

from akd_sdk.cli import main
from akd_sdk.exporters.check import CODES
from akd_sdk.schemas import CheckedFile, FaultKinds

PAGE = Path(__file__).resolve().parents[2] / "docs" / "check.md"


def test_a_good_file_is_status_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Fault().save(tmp_path)
    assert main(["check", str(path), "--profile", "godot"]) == 0
    assert capsys.readouterr() == (f"{path}: nothing found\n", "")


@pytest.mark.parametrize("code", ["key-not-unit", "clip-lead-in", "skel-no-rest", "bvh-frame-time"])
def test_errors_and_warnings_are_status_2_and_a_line(code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = {**GLTF_FAULTS, **USD_FAULTS, **BVH_FAULTS}[code].save(tmp_path)
    assert main(["check", str(path)]) == 2
    out, err = capsys.readouterr()
    assert code in out
    assert CODES[code].severity in out
    counts = "1 error, 0 warnings" if CODES[code].severity == "error" else "0 errors, 1 warning"
    assert err == f"error: {path}: {counts}; akd check --explain CODE says what of it\n"


def test_notes_alone_are_status_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = GLTF_FAULTS["import-rate"].save(tmp_path)
    assert main(["check", str(path), "--profile", "godot"]) == 0
    out, err = capsys.readouterr()
    assert "set FPS to 24" in out
    assert err == ""


def test_json_holds_every_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = GLTF_FAULTS["root-several"].save(tmp_path)
    assert main(["check", str(path), "--profile", "unreal", "--json"]) == 2
    told = CheckedFile.model_validate_json(capsys.readouterr().out)
    assert (told.path, told.profile, told.errors, told.warnings, told.notes) == (str(path), "unreal", 1, 0, 0)
    (finding,) = told.findings
    assert (finding.code, finding.where) == ("root-several", "skin 0")
    assert finding.fault == "2 root joints: low, high"
    assert "--add-root" in finding.remedy


def test_json_of_a_good_file_is_all_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Fault().save(tmp_path)
    assert main(["check", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == []


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_explained(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--explain", code]) == 0
    out = capsys.readouterr().out
    kind = CODES[code]
    for text in (code, kind.severity, kind.formats, kind.fault, kind.why, kind.remedy):
        assert text in out
    assert ("--profile" in out) == kind.profiled or "--profile" in kind.remedy


def test_all_codes_are_listed_as_a_table_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--explain", "all"]) == 0
    out = capsys.readouterr().out
    assert [code for code in CODES if code not in out] == []
    assert main(["check", "--explain", "all", "--json"]) == 0
    told = FaultKinds.model_validate_json(capsys.readouterr().out)
    assert [kind.code for kind in told.codes] == list(CODES)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check"], "FILE: no file is given"),
        (["check", "--explain", "key-antipodall"], "unknown code 'key-antipodall'"),
        (["check", "walk.glb", "--profile", "gogot"], "unknown profile 'gogot'"),
        (["check", "clip.fbx"], "clip.fbx: is no file of clips by its name"),
        (["check", "none.usda"], "none.usda: no such file"),
        (["check", "none.bvh"], "none.bvh: no such file"),
    ],
)
def test_what_cannot_be_checked_is_refused_in_one_line(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Fault().save(tmp_path)
    (tmp_path / "clip.fbx").write_bytes(b"Kaydara FBX Binary")
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert said in err


UNREADABLE = [name for name in bad_files.CONTENTS if name not in ("no_skin.glb", "nan.glb")]
"""Those whose clips can be checked all the same are left out."""


@pytest.mark.parametrize("name", ["missing.glb", "folder.glb", *UNREADABLE])
def test_a_file_that_is_damaged_beyond_its_clips_is_named(
    name: str, tmp_path: Path, samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = bad_files.make(tmp_path, name, (samples / "quadruped.glb").read_bytes())
    assert main(["check", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {path}: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usdz", ".bvh"])
@pytest.mark.parametrize(
    "content", [b"", b"once upon a time", b"#usda 1.0\n(", b"PXR-USDC" + bytes(80), b"HIERARCHY\nROOT a\n{", bytes(range(256))]
)
def test_so_is_one_of_another_format(suffix: str, content: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"clip{suffix}"
    path.write_bytes(content)
    assert main(["check", str(path)]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"error: {path}: ")
    assert err.count("\n") == 1


def test_the_page_of_the_docs_holds_the_table_of_codes() -> None:
    rows = [f"| `{c.name}` | {c.severity} | {c.fault} | {c.why} | {c.remedy} |" for c in CODES.values()]
    text = PAGE.read_text(encoding="utf-8")
    assert [row for row in text.splitlines() if row.startswith("| `") and row.count("|") == 6] == rows
