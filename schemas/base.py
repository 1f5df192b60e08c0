"""What all schemas have in common: frozen, closed to unknown fields, JSON in and out."""

from __future__ import annotations

import json

from pydantic import BaseModel, ConfigDict


class Schema(BaseModel):
    """Base of all schemas. Numbers are finite; what may have no value is optional."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def to_json(self) -> str:
        """Indented JSON with a final newline, the same text for the same values.

        Names of files and joints may hold lone surrogates (bytes that are no text); they become escapes, so that the text can always be
        written as UTF-8.
        """
        text = json.dumps(self.model_dump(), indent=2, ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"
