"""What all schemas have in common: frozen, closed to unknown fields, JSON in and out."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Schema(BaseModel):
    """Base of all schemas. Numbers are finite; what may have no value is optional."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def to_json(self) -> str:
        """Indented JSON with a final newline, the same text for the same values."""
        return self.model_dump_json(indent=2) + "\n"
