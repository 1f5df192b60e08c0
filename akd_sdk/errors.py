"""Every refusal of the SDK: one base class, one kind a subject.

AkdError
 ├─ ReadError        a file cannot be read
 ├─ RigError         a character cannot be used for what is asked
 ├─ PromptError      a sentence cannot be understood
 ├─ PriorError       a prior is unknown or its weights are unusable
 ├─ BackendError     an extra or a device is missing
 ├─ PhysicsError     a tracking failed
 ├─ RetargetError    a motion cannot be carried to a character
 └─ ExportError      a file cannot be written
"""

from __future__ import annotations

from os import PathLike, fspath


class AkdError(Exception):
    """Bad input, said in one line: the file (or option), the fault, what to do.

    Parameters are facts, the message is built here: `fault` is a clause without a full stop, `path` the file or
    option it is about, `hint` what would be right.
    """

    def __init__(self, fault: str, path: str | PathLike[str] | None = None, hint: str | None = None) -> None:
        self.fault = " ".join(str(fault).split())
        self.path = None if path is None else fspath(path)
        self.hint = None if hint is None else " ".join(str(hint).split())
        super().__init__(self.fault, self.path, self.hint)

    def __str__(self) -> str:
        head = self.fault if self.path is None else f"{self.path}: {self.fault}"
        return head if self.hint is None else f"{head}; {self.hint}"

    def at(self, path: str | PathLike[str]) -> AkdError:
        """The same fault with `path` as its file, unless it names one already."""
        return self if self.path is not None else type(self)(self.fault, path, self.hint)


class ReadError(AkdError):
    """A file is missing, broken, or holds what is not read."""


class RigError(AkdError):
    """A character lacks what the work asked for needs: a skin, limbs, a known body."""


class PromptError(AkdError):
    """A sentence names no action that the prior knows."""


class PriorError(AkdError):
    """A prior is unknown, or its weights cannot be used."""


class BackendError(AkdError):
    """An optional package or a device is missing; the hint says what to install."""


class PhysicsError(AkdError):
    """A simulation failed or fell."""


class RetargetError(AkdError):
    """A motion cannot be carried to this character."""


class ExportError(AkdError):
    """A clip cannot be written as asked."""
