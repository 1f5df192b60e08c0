"""`akd train`: a prior from nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from akd_sdk.cli.arguments import Force, Json
from akd_sdk.cli.outputs import claim
from akd_sdk.cli.terminal import progress_bar, say, say_json
from akd_sdk.errors import PriorError
from akd_sdk.progress import Progress, ProgressCallback, between

if TYPE_CHECKING:
    from akd_sdk.training.train import TrainProgress

EXAMPLE: Final = "akd train mini -o mini.safetensors"

CLIPS_SHARE: Final = 0.03
"""Share of a training's time in which the teacher makes its clips."""


def train(
    prior: Annotated[str, typer.Argument(metavar="PRIOR", help="Which prior; only mini can be trained.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The weights to write.", show_default=False)],
    seed: Annotated[int | None, typer.Option(help="Of everything random; else the packaged weights' own.", show_default=False)] = None,
    steps: Annotated[int | None, typer.Option(help="Of the optimiser; else the packaged weights' own.", show_default=False)] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Train the embedded prior from nothing.

    About an hour on two cores. Ctrl-C leaves a checkpoint that the same command takes up.
    """
    if prior != "mini":
        raise PriorError(f"{prior!r} cannot be trained", "PRIOR", "mini can")
    claim(output, force=force)
    from akd_sdk.schemas import OutputFile, Training
    from akd_sdk.training.train import TrainOptions, train_mini

    standard = TrainOptions()
    options = replace(standard, seed=standard.seed if seed is None else seed, steps=standard.steps if steps is None else steps)
    with progress_bar() as bar:
        result = train_mini(output, options, _drawn(bar))
    if json:
        written = OutputFile(path=str(result.path), bytes=result.path.stat().st_size)
        say_json(Training(prior=prior, seed=options.seed, steps=result.steps, minutes=result.minutes, loss=result.loss, file=written))
        return
    say(f"{result.path}: {result.steps} steps in {result.minutes:.0f} minutes, loss {result.loss:.4f}")


def _drawn(bar: ProgressCallback) -> Callable[[TrainProgress], None]:
    """The bar as a training drives it: the clips are its first part, the steps the rest."""
    clips, steps = between(bar, 0.0, CLIPS_SHARE), between(bar, CLIPS_SHARE, 1.0)

    def draw(report: TrainProgress) -> None:
        if report.stage == "clips":
            clips(Progress("making the teacher's clips", report.fraction))
        else:
            left = f"{report.left_s / 60:.0f} minutes left"
            steps(Progress("training", report.fraction, f"step {report.step}, loss {report.loss:.4f}, {left}"))

    return draw
