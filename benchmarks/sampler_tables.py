"""The comparison of samplers as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

BEGIN, END = "<!-- results -->", "<!-- end of results -->"
LEAST = {"JAGS": (200, 1000), "nutpie": (None, 50)}  # times less CPU, times more effective draws
MOST_MEMORY = 350e6


def markdown(result: dict[str, Any]) -> str:
    """All tables of a result, what they should show, and where they come from."""
    sides = [side for side in result["sides"] if "missing" not in side]
    parts = [_costs(result, sides), _effective(sides), _wanted(sides)]
    parts += [
        f"{s['side']} is not in the table: {s['missing']}."
        for s in result["sides"]
        if "missing" in s
    ]
    return "\n\n".join([*(part for part in parts if part), _colophon(result)])


def refresh(page: Path, result: dict[str, Any]) -> None:
    """Put a result into the page, between its two marks."""
    text = page.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n\n{markdown(result)}\n\n{END}{after}", encoding="utf-8")


def slowest(side: dict[str, Any]) -> tuple[str, float, float]:
    """The hyper-parameter with the fewest effective draws, how many, and how many a CPU second."""
    name = min(side["hyper"], key=lambda name: side["hyper"][name]["effective"])
    effective = side["hyper"][name]["effective"]
    return name, effective, effective / side.get("measured", side["cpu"])


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (header, ["---"] * len(header), *rows)]
    return "\n".join(lines)


def _number(value: float) -> str:
    """Three figures of a number."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _costs(result: dict[str, Any], sides: list[dict[str, Any]]) -> str:
    crowd = result["crowd"]
    first = sides[0]
    rows = []
    for side in sides:
        name, effective, rate = slowest(side)
        length = f"{side['chains']} x ({side['warmup']:,} + {side['draws']:,})"
        rows.append(
            [
                side["side"],
                length,
                _number(side["cpu"]) + (" (scaled)" if side.get("scaled") else ""),
                _number(side["total"]),
                f"{side['peak'] / 1e6:,.0f} MB",
                _number(1e3 * side["sampling"]),
                _number(1e9 * side["sampling"] / crowd["judgments"]),
                f"{name}: {effective:,.0f}",
                _number(rate),
                "" if side is first else _number(side["cpu"] / first["cpu"]),
                "" if side is first else _number(slowest(first)[2] / rate),
            ]
        )
    header = ["", "chains x (warm-up + draws)", "CPU s", "entire process", "peak memory"]
    header += ["CPU ms an iteration", "ns a judgment an iteration", "slowest: effective draws"]
    header += ["a CPU second", "adjudge: times less CPU", "times more effective draws a CPU second"]
    title = (
        f"### The hierarchical relevance model, {crowd['judgments']:,} judgments "
        f"({crowd['items']:,} items, {crowd['judges']:,} judges, {crowd['topics']:,} topics)"
    )
    return f"{title}\n\n{_table(header, rows)}"


def _effective(sides: list[dict[str, Any]]) -> str:
    """Effective draws and R-hat of every hyper-parameter, and where each side puts it."""
    names = list(sides[0]["hyper"])
    rows = []
    for name in names:
        row = [name]
        for side in sides:
            figures = side["hyper"][name]
            row += [
                f"{figures['mean']:.3f} ({figures['sd']:.3f})",
                f"{figures['effective']:,.0f}",
                f"{figures['r_hat']:.3f}",
            ]
        rows.append(row)
    header = [""]
    for side in sides:
        header += [f"{side['side']}: mean (sd)", "effective", "R-hat"]
    mirrored = [
        side["side"]
        for side in sides
        if side["hyper"]["phi_0"]["mean"] + side["hyper"]["phi_1"]["mean"] < 1
    ]
    note = f"\n\n**In the mirrored mode, so not to be compared: {', '.join(mirrored)}.**"
    return _table(header, rows) + (note if mirrored else "")


def _wanted(sides: list[dict[str, Any]]) -> str:
    """What the comparison should show, and what it does."""
    first = sides[0]
    peak = first["peak"] / 1e6
    lines = [f"- memory at most {MOST_MEMORY / 1e6:.0f} MB: {peak:,.0f} MB"]
    for side in sides[1:]:
        cpu, rate = LEAST[side["side"]]
        if cpu is not None:
            found = side["cpu"] / first["cpu"]
            lines.append(f"- at least {cpu} times less CPU than {side['side']}: {found:,.0f}")
        found = slowest(first)[2] / slowest(side)[2]
        lines.append(
            "- effective draws a CPU second of the slowest hyper-parameter at least "
            f"{rate:,} times those of {side['side']}: {found:,.0f}"
        )
    return "Goals, and results:\n\n" + "\n".join(lines)


def _colophon(result: dict[str, Any]) -> str:
    """When, where and with what."""
    machine = result["machine"]
    named = dict(result["versions"])
    for side in result["sides"]:
        more = side.get("versions", {})
        named |= {f"{side['side']}'s {key}" if key in named else key: v for key, v in more.items()}
    commit = f", commit {result['commit']}" if result["commit"] else ""
    scaled = ""
    for side in result["sides"]:
        if side.get("scaled"):
            made = side["warmup"] + side["draws"]
            scaled = (
                f" {side['side']} made {made:,} iterations of each chain, and its CPU time is "
                "scaled up from them; its effective draws are those of the short run."
            )
    return (
        f"{result['date'][:10]}{commit}; adjudge: least time of {result['repeats']}, effective "
        f"draws their mean; {machine['processor']}, {machine['cores']} cores, "
        f"{machine['memory_gb']:g} GB, {machine['system']}, load before {machine['load_before']}; "
        f"{result['threads']} threads; "
        + ", ".join(f"{name} {version}" for name, version in named.items())
        + f".{scaled}"
    )
