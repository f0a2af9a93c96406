"""Charts as their specifications, with the data of each part in its place."""

from __future__ import annotations

from typing import Any


def spec_with_data(chart: Any) -> dict[str, Any]:
    """The specification of a chart; data that Altair keeps by name are put where they are used."""
    spec: dict[str, Any] = chart.to_dict()
    named = spec.pop("datasets", {})

    def visit(part: Any) -> Any:
        if isinstance(part, dict):
            if set(part) == {"name"} and part["name"] in named:
                return {"values": named[part["name"]]}
            return {key: visit(inner) for key, inner in part.items()}
        return [visit(inner) for inner in part] if isinstance(part, list) else part

    found: dict[str, Any] = visit(spec)
    return found
