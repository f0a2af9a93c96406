"""adjudge judge-with-model: let an LLM judge a project, or a table of items."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import typer

from adjudge.cli import _options as o
from adjudge.cli import argument, command, flag, option
from adjudge.cli._console import progress, say
from adjudge.cli._reading import read_text
from adjudge.cli._results import STDOUT, check_places, print_json, write_tables
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.collect.model_judge.endpoint import Endpoint
    from adjudge.collect.model_judge.items import Answers
    from adjudge.collect.model_judge.judging import ModelTally, Work
    from adjudge.models.model import Progress

_GRADES = "0<1<2<3"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """Which model is asked, how, and for how much."""

    panel: ClassVar[str] = "The model"

    endpoint: str = option("--endpoint URL", "OpenAI-compatible: .../v1.", required=True)
    ask: str = option("--ask NAME", "The model's name.", required=True)
    key_variable: str = option(
        "--key-variable NAME", "Environment variable with the endpoint's key.", "OPENAI_API_KEY"
    )
    prompt: str = option(
        "--prompt NAME",
        "guidelines, or umbrela: UMBRELA's steps to a grade from 0 to 3.",
        "guidelines",
    )
    samples: int = option("--samples N", "Times each pair is asked.", 1, min=1)
    logprobs: bool = flag("--logprobs", "Ask how probable each label was, too.")
    concurrency: int = option("--concurrency N", "Questions at once.", 8, min=1)
    temperature: float | None = option(
        "--temperature X", "Of the answers; 0, or 0.7 for several samples."
    )
    max_tokens: int = option("--max-tokens N", "Of one answer.", 300, min=1)
    price_in: float = option("--price-in X", "Of a million prompt tokens.", 0.0)
    price_out: float = option("--price-out X", "Of a million completion tokens.", 0.0)
    money: float | None = option("--budget X", "Money that may be spent.")
    token_budget: int | None = option("--token-budget N", "Tokens that may be spent.", min=1)

    def make(self) -> Endpoint:
        """The endpoint, as it is to be asked."""
        from adjudge.collect.model_judge.endpoint import Endpoint, SpendingLimit
        from adjudge.collect.model_judge.prompts import prompt_named

        usual = 0.0 if self.samples == 1 else 0.7
        limit = SpendingLimit(
            money=self.money,
            tokens=self.token_budget,
            price_in=self.price_in,
            price_out=self.price_out,
        )
        return Endpoint(
            url=self.endpoint,
            model=self.ask,
            key=os.environ.get(self.key_variable),
            temperature=usual if self.temperature is None else self.temperature,
            max_tokens=self.max_tokens,
            prompt=prompt_named(self.prompt),
            logprobs=self.logprobs,
            budget=limit,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ItemTable:
    """Items that are judged without a project."""

    panel: ClassVar[str] = "Without a project"

    items: Path | None = option(
        "--items FILE", "A table of items to judge: item, query, title, text, ..."
    )
    labels: str | None = option("--labels SCALE", f"The scale; '{_GRADES}' if not given.")
    guidelines: Path | None = option("--guidelines FILE", "The guidelines for the judge.")


@command(
    "adjudge judge-with-model shop --endpoint http://localhost:8000/v1 --ask NAME",
    "adjudge judge-with-model shop --endpoint URL --ask NAME --server URL",
    "adjudge judge-with-model --items i.csv --endpoint URL --ask NAME -o a.csv",
)
def run(
    project: str | None = argument("PROJECT", "The project's short name; none with --items."),
    *,
    judge: str | None = option("--judge NAME", "The judge's name; the model's if not given."),
    stop_after: int | None = option("--stop-after N", "Pairs to judge at most.", min=1),
    no_lessons: bool = flag("--no-lessons", "Give it no feedback on missed gold."),
    ledger: Path | None = option("--ledger FILE", "Where answers are kept, to continue from."),
    server: str | None = option("--server URL", "A server elsewhere; its token in ADJUDGE_TOKEN."),
    database: str = o.DATABASE,
    table: _ItemTable,
    asking: _Asking,
    out: o.Delivery,
) -> None:
    """Let an LLM judge the pages of a project, or a table of items.

    In a project it is trained, tested by hidden gold, warned and blocked like any judge, and shown
    its mistakes. With --items it judges a table and writes its answers, sample by sample, with
    version, log-probability, tokens and cost, as 'adjudge audit' reads them. If it is stopped and
    started again, it continues and pays for nothing twice. It never exceeds its budget. Exit code
    1: it failed the training, or was blocked.
    """
    if (project is None) == (table.items is None):
        raise BadSetting("PROJECT", project, "either a project, or --items FILE")
    asked = asking.make()
    name = judge or asking.ask
    kept = ledger or Path(
        f"{project or (table.items and table.items.stem)}-{name.replace('/', '_')}.answers.jsonl"
    )
    if project is None:
        inputs = (table.items, table.guidelines, kept)
        check_places({"--output": out.output}, inputs=inputs)
        found = _judge_table(table, asked, kept, asking, stop_after)
        _deliver(found, asked, asking, judge, out)
        return
    of_tables = {"-o": out.output, "--labels": table.labels, "--guidelines": table.guidelines}
    for option_name, given in of_tables.items():
        if given is not None:
            raise BadSetting(option_name, "given", "--items with it; a project has its own")
    work = _open_work(project, name, server, database)
    tally = _judge_project(project, work, asked, kept, asking, stop_after, not no_lessons)
    _tell(tally, asked, out)
    if tally.judge is not None and tally.judge.stage in ("failed", "blocked"):
        raise typer.Exit(1)


def _judge_table(
    table: _ItemTable, asked: Endpoint, ledger: Path, asking: _Asking, most: int | None
) -> Answers:
    """The answers to a table of items."""
    from adjudge.collect.model_judge.items import judge_items, read_items
    from adjudge.data.scale import Scale

    path = table.items or Path()
    items = read_items(path)
    guidelines = "" if table.guidelines is None else read_text(table.guidelines)
    with progress(f"{asking.ask} judges {path.name}") as on_step:
        ask = partial(
            judge_items,
            items,
            guidelines=guidelines,
            labels=Scale.parse(table.labels or _GRADES).labels,
            on_item=lambda done: _report(on_step, done, most or len(items), asked),
        )
        found: Answers = _ask_model(ask, asked, ledger, asking, most)
        return found


def _judge_project(
    project: str,
    work: Work,
    asked: Endpoint,
    ledger: Path,
    asking: _Asking,
    most: int | None,
    learn: bool,
) -> ModelTally:
    """How a model judged the pages of a project."""
    from adjudge.collect.model_judge.judging import judge

    def on_page(tally: ModelTally) -> None:
        _report(on_step, tally.judged, most or tally.judged, asked)

    with progress(f"{asking.ask} judges {project}") as on_step:
        ask = partial(judge, work, learn=learn, on_page=on_page)
        found: ModelTally = _ask_model(ask, asked, ledger, asking, most)
        return found


def _report(on_step: Progress | None, done: int, total: int, asked: Endpoint) -> None:
    from adjudge.models.model import Step

    if on_step is not None:
        on_step(Step("judged", done, total, f"{_cost(asked):.2f} spent"))


def _ask_model(
    ask: Callable[..., Any], asked: Endpoint, ledger: Path, asking: _Asking, most: int | None
) -> Any:
    """What a coroutine gives that asks the endpoint and keeps the answers in the ledger."""
    import asyncio

    from adjudge.collect.model_judge.ledger import AnswerLedger

    async def ask_all() -> Any:
        with AnswerLedger.opened(ledger) as kept:
            async with asked as endpoint:
                many = {"samples": asking.samples, "concurrency": asking.concurrency}
                return await ask(endpoint, kept, most=most, **many)

    return asyncio.run(ask_all())


def _open_work(project: str, key: str, server: str | None, database: str) -> Work:
    """Where the pages come from: the database here, or a server elsewhere."""
    if server is not None:
        from adjudge.collect.model_judge.judging import HttpWork

        token = os.environ.get("ADJUDGE_TOKEN")
        if not token:
            raise BadSetting("ADJUDGE_TOKEN", None, "a token of the server in the environment")
        return HttpWork(server, project, token, key)
    from adjudge.collect.model_judge.judging import InProcessWork
    from adjudge.collect.services.judging import JudgingService
    from adjudge.collect.store.database import Database

    return InProcessWork(JudgingService(Database(database)), project, key)


def _cost(asked: Endpoint) -> float:
    return asked.budget.cost(asked.usage.prompt_tokens, asked.usage.completion_tokens)


def _deliver(
    found: Answers, asked: Endpoint, asking: _Asking, judge: str | None, out: o.Delivery
) -> None:
    """The answers to their file, or to standard output; how it went for people."""
    table = found.to_table(asking.ask, asking.prompt, judge)
    write_tables({"answers": (table, out.output)})
    say(
        (f"{len(found.sampled):,} of {count_of(len(found.items), 'item')}", "bold"),
        f", {count_of(asking.samples, 'sample')} each, "
        f"{found.unanswered:,} it could not judge, {found.known:,} answered before",
    )
    _tell_unreadable(found)
    _tell_usage(asked)
    if found.stopped is not None:
        say((f"  stopped: {found.stopped}", "yellow"))
    if out.json:
        counts = {"items": len(found.items), "judged": len(found.sampled)}
        counts["from_ledger"] = found.known
        rows = {"answers": table.to_pylist()} if out.output is None else {}
        print_json(counts | _summarise(found, asked) | rows)
    elif out.output is None:
        write_tables({"answers": (table, STDOUT)})


def _summarise(found: Answers | ModelTally, asked: Endpoint) -> dict[str, Any]:
    """What a table and a project have in common, as data."""
    return {
        "unanswered": found.unanswered,
        "unreadable": found.unreadable,
        "cost": _cost(asked),
        "usage": asdict(asked.usage),
        "stopped": found.stopped,
    }


def _tell_unreadable(found: Answers | ModelTally) -> None:
    """How many replies could not be read, and why the latest could not be."""
    if found.unreadable:
        replies = count_of(found.unreadable, "answer")
        said = f'  {replies} could not be read and count as "can\'t judge", such as:'
        say((said, "yellow"))
        say(f"  {found.problem}")


def _tell(tally: ModelTally, asked: Endpoint, printing: o.Printing) -> None:
    """How it went: pairs, trust, tokens, money."""
    view = tally.judge
    if printing.json:
        counts = {name: getattr(tally, name) for name in ("pages", "judged", "from_ledger")}
        sides = {"both_orders": _sides_of(tally), "judge": asdict(view) if view else None}
        print_json(counts | _summarise(tally, asked) | sides)
        return
    say(
        (count_of(tally.judged, "pair"), "bold"),
        f" on {count_of(tally.pages, 'page')}, {tally.unanswered:,} it could not judge, "
        f"{tally.from_ledger:,} answered before",
    )
    _tell_unreadable(tally)
    _tell_usage(asked)
    _tell_sides(tally)
    if tally.stopped is not None:
        say((f"  stopped: {tally.stopped}", "yellow"))
    if view is not None:
        known = "" if view.accuracy is None else f", {view.accuracy:.0%} of its gold right"
        say(f"  it is {view.stage}{known}: {view.reason}")


def _sides_of(tally: ModelTally) -> dict[str, Any] | None:
    """What was found of sides, as JSON has it; None where no pair was judged."""
    sides, found = tally.sides, tally.sides.position
    if found is None:
        return None
    bounds = dict(zip(("position", "position_low", "position_high"), found, strict=True))
    return {"pairs": sides.pairs, "agreed": sides.agreed, **bounds}


def _tell_sides(tally: ModelTally) -> None:
    """How far the sides of pairs matter to the model."""
    position = tally.sides.position
    if position is None:
        return
    mean, low, high = position
    side = "the left" if low > 0 else "the right" if high < 0 else "no"
    say(
        f"  asked in both orders it agreed with itself on {tally.sides.agreed:,} of "
        f"{count_of(tally.sides.pairs, 'pair')}; it prefers {side} side ({mean:+.2f}, "
        f"{low:+.2f} to {high:+.2f} of its answers)"
    )


def _tell_usage(asked: Endpoint) -> None:
    usage = asked.usage
    say(
        f"  {usage.requests:,} requests ({usage.faults:,} again after faults), "
        f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens, {_cost(asked):.4f} spent"
    )
