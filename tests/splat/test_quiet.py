"""Standard error without one line."""

from __future__ import annotations

import os

import pytest

from akd_sdk.splat.quiet import without_line


def test_only_lines_with_the_text_are_kept_back(capfd: pytest.CaptureFixture[str]) -> None:
    with without_line("noise"):
        os.write(2, b"some noise\nnews\n")
    os.write(2, b"later noise\n")
    assert capfd.readouterr().err == "news\nlater noise\n"


def test_standard_error_is_given_back_after_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        with without_line("noise"):
            os.write(2, b"news\n")
            raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        fail()
    os.write(2, b"more\n")
    assert capfd.readouterr().err == "news\nmore\n"
