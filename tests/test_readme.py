"""What README and docs say is true: the example runs, commands, files and fields exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from akd_sdk.cli.app import COMMANDS, app
from akd_sdk.formats.usd import SUFFIXES as USD_SUFFIXES
from akd_sdk.readers.open import GLTF_SUFFIXES
from akd_sdk.schemas import (
    AnimateOptions,
    Character,
    ClipFacts,
    Distillation,
    ExportedClip,
    ExportedFile,
    Filming,
    GaitFit,
    HelpUsed,
    Metrics,
    OutputFile,
    Report,
    Schema,
    SourceFile,
    Tracking,
    Understanding,
)

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "akd_sdk" / "priors" / "mini" / "CARD.md")


def test_the_python_examples_run_and_print_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len([line for line in example.splitlines() if line.strip()]) == 5
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {})
    assert (tmp_path / "out" / "dog_trot.glb").stat().st_size > 10_000
    assert "'a dog trotting' understood as: trot" in capsys.readouterr().out
    (filming,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(filming, "how-it-works.md", "exec"), names)
    assert names["film"].shape == (1, names["motion"].frames, 96, 128, 3)
    assert float(names["film"].detach().std()) > 0.05
    assert float(names["world"].grad.abs().max()) > 0.0


def test_every_command_is_shown_and_nothing_else() -> None:
    shown = {shlex.split(line)[1] for line in README.splitlines() if line.startswith("    akd ")}
    assert shown == {command.__name__ for command, _ in COMMANDS}


def long_options(command: str) -> set[str]:
    """Options of a command as they are written out, both sides of switches."""
    found = typer.main.get_group(app).commands[command].params
    return {name for parameter in found for name in (*parameter.opts, *parameter.secondary_opts) if name.startswith("--")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    known = {command.__name__: long_options(command.__name__) for command, _ in COMMANDS}
    lines = [shlex.split(line, comments=True) for line in re.findall(r"(?:^ {4}|`)(akd [^`\n]+)", text, flags=re.MULTILINE)]
    shown = [(name, word) for _, name, *words in lines if name in known for word in words if word.startswith("--")]
    assert [pair for pair in shown if pair[1] not in known[pair[0]]] == []
    assert set(re.findall(r"`(--[\w-]+)", text)) <= set().union(*known.values(), {"--json", "--help"})


def test_make_targets_that_are_named_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(r"(?:`|^    )make ([a-z]+)", text, flags=re.MULTILINE)) <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_pictures_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    assert links or page.name != "README.md"
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_table_and_the_help_name_every_format() -> None:
    characters, clips = (re.findall(rf"^\| {row} \|(.*)$", README, flags=re.MULTILINE)[0] for row in ("characters", "clips"))
    assert set(re.findall(r"`(\.\w+)`", characters)) == set(GLTF_SUFFIXES)
    assert set(re.findall(r"`(\.\w+)`", clips)) == {".glb", *USD_SUFFIXES, ".bvh"}
    told = CliRunner().invoke(app, ["inspect", "--help"]).output
    assert [suffix for suffix in GLTF_SUFFIXES if suffix not in told] == []


SCHEMAS = (
    Report,
    Metrics,
    GaitFit,
    SourceFile,
    Character,
    AnimateOptions,
    Understanding,
    ClipFacts,
    OutputFile,
    Distillation,
    Filming,
    Tracking,
    HelpUsed,
    ExportedFile,
    ExportedClip,
)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_page_on_the_report_names_every_field(schema: type[Schema]) -> None:
    page = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    assert [name for name in schema.model_fields if f"`{name}`" not in page] == []


def test_paths_that_the_docs_name_exist() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md")))
    paths = re.findall(r"`((?:akd_sdk|tests|exporters|schemas)/[\w/.]+)`", pages)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
