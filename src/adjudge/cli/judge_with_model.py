"""adjudge judge-with-model: let a language model judge a project, or a table of items."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from adjudge.cli import Command, flag, option
from adjudge.cli import _options as o
from adjudge.cli._console import progress, say
from adjudge.cli._files import STDOUT, check_places, tell_written, write_tables
from adjudge.cli._results import print_json
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.collect.model_judge.endpoint import Endpoint
    from adjudge.collect.model_judge.items import Answers
    from adjudge.collect.model_judge.judging import ModelTally, Work

_GRADES = "0<1<2<3"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """Which model is asked, how, and for how much."""

    panel: ClassVar[str] = "The model"

    endpoint: Annotated[str, option("--endpoint", "URL", "OpenAI-compatible: .../v1.")]
    ask: Annotated[str, option("--ask", "NAME", "The model's name.")]
    key_variable: Annotated[
        str, option("--key-variable", "NAME", "Environment variable with the endpoint's key.")
    ] = "OPENAI_API_KEY"
    prompt: Annotated[
        str,
        option(
            "--prompt", "NAME", "guidelines, or umbrela: UMBRELA's steps to a grade from 0 to 3."
        ),
    ] = "guidelines"
    samples: Annotated[int, option("--samples", "N", "Times each pair is asked.", min=1)] = 1
    logprobs: Annotated[bool, flag("--logprobs", "Ask how probable each label was, too.")] = False
    concurrency: Annotated[int, option("--concurrency", "N", "Questions at once.", min=1)] = 8
    temperature: Annotated[
        float | None, option("--temperature", "X", "Of the answers; 0, or 0.7 for several samples.")
    ] = None
    max_tokens: Annotated[int, option("--max-tokens", "N", "Of one answer.", min=1)] = 300
    price_in: Annotated[float, option("--price-in", "X", "Of a million prompt tokens.")] = 0.0
    price_out: Annotated[float, option("--price-out", "X", "Of a million completion tokens.")] = 0.0
    money: Annotated[float | None, option("--budget", "X", "Money that may be spent.")] = None
    token_budget: Annotated[
        int | None, option("--token-budget", "N", "Tokens that may be spent.", min=1)
    ] = None

    def make(self) -> Endpoint:
        """The endpoint, as it is to be asked."""
        from adjudge.collect.model_judge.endpoint import Endpoint, SpendingLimit
        from adjudge.collect.model_judge.prompts import prompt_named

        usual = 0.0 if self.samples == 1 else 0.7
        return Endpoint(
            url=self.endpoint,
            model=self.ask,
            key=os.environ.get(self.key_variable),
            temperature=usual if self.temperature is None else self.temperature,
            max_tokens=self.max_tokens,
            prompt=prompt_named(self.prompt),
            logprobs=self.logprobs,
            budget=SpendingLimit(
                money=self.money,
                tokens=self.token_budget,
                price_in=self.price_in,
                price_out=self.price_out,
            ),
        )


def _run(
    project: Annotated[
        str | None,
        typer.Argument(metavar="PROJECT", help="The project's short name; none with --items."),
    ] = None,
    *,
    item_file: Annotated[
        Path | None,
        option(
            "--items",
            "FILE",
            "A table of items to judge, without a project: item, query, title, text, ...",
        ),
    ] = None,
    labels: Annotated[
        str | None, option("--labels", "SCALE", "With --items: the scale, '0<1<2<3' if not given.")
    ] = None,
    guidelines: Annotated[
        Path | None, option("--guidelines", "FILE", "With --items: what judges go by.")
    ] = None,
    output: o.Output = None,
    judge: Annotated[
        str | None, option("--judge", "NAME", "Who it is as a judge; the model's name if none.")
    ] = None,
    stop_after: Annotated[int | None, option("--stop-after", "N", "So many pairs.", min=1)] = None,
    no_lessons: Annotated[bool, flag("--no-lessons", "Do not tell it of golds it missed.")] = False,
    ledger: Annotated[
        Path | None, option("--ledger", "FILE", "Where answers are kept, to go on from.")
    ] = None,
    server: Annotated[
        str | None, option("--server", "URL", "A server elsewhere; its token in ADJUDGE_TOKEN.")
    ] = None,
    database: o.Database = o.DATABASE,
    asking: _Asking,
    printing: o.Printing,
) -> None:
    """Let a language model judge a project's pages like any judge, or a table of items.

    In a project it is trained, tested by hidden gold, warned and blocked like any judge, and told
    of its mistakes. With --items it judges a table and writes its answers, sample by sample, with
    version, log-probability, tokens and cost, as 'adjudge align' reads them. Stopped and started
    again, it goes on where it was and pays for nothing twice; a budget is never gone beyond.
    """
    if (project is None) == (item_file is None):
        raise BadSetting("PROJECT", project, "either a project, or --items FILE")
    asked = asking.make()
    name = (judge or asking.ask).replace("/", "_")
    if item_file is not None:
        path = ledger or Path(f"{item_file.stem}-{name}.answers.jsonl")
        found = _judge_table(
            item_file, asked, path, asking, labels or _GRADES, guidelines, output, stop_after
        )
        _deliver(found, asked, asking, judge, output, printing)
        return
    for beside, given in {"-o": output, "--labels": labels, "--guidelines": guidelines}.items():
        if given is not None:
            raise BadSetting(beside, "given", "--items beside it; a project has its own")
    work = _work(str(project), judge or asking.ask, server, database)
    path = ledger or Path(f"{project}-{name}.answers.jsonl")
    tally = _judge_project(str(project), work, asked, path, asking, stop_after, not no_lessons)
    _tell(tally, asked, printing)


COMMAND = Command(
    _run,
    examples=(
        "adjudge judge-with-model shop --endpoint http://localhost:8000/v1 --ask NAME",
        "adjudge judge-with-model shop --endpoint URL --ask NAME --server URL",
        "adjudge judge-with-model --items i.csv --endpoint URL --ask NAME -o a.csv",
    ),
)


def _judge_table(
    file: Path,
    asked: Endpoint,
    ledger: Path,
    asking: _Asking,
    labels: str,
    guidelines: Path | None,
    output: Path | None,
    most: int | None,
) -> Answers:
    """The answers to a table of items."""
    import asyncio

    from adjudge.collect.model_judge.items import judge_items, read_items
    from adjudge.collect.model_judge.ledger import AnswerLedger
    from adjudge.data.scale import Scale
    from adjudge.models.model import Step

    check_places({"--output": output}, inputs=(file, guidelines, ledger))
    scale = Scale.parse(labels)
    items = read_items(file)
    guide = _words_of(guidelines)

    with progress(f"{asking.ask} judges {file.name}") as on_step:

        def on_item(done: int) -> None:
            if on_step is not None:
                on_step(Step("items", done, most or len(items), _spent(asked)))

        async def go() -> Answers:
            with AnswerLedger.opened(ledger) as kept:
                async with asked as open_one:
                    return await judge_items(
                        items, open_one, kept, guidelines=guide, labels=scale.labels,
                        samples=asking.samples, concurrency=asking.concurrency, most=most,
                        on_item=on_item,
                    )  # fmt: skip

        return asyncio.run(go())


def _words_of(guidelines: Path | None) -> str:
    """The guidelines of a file; none is none."""
    if guidelines is None:
        return ""
    if not guidelines.is_file():
        raise BadData("there is no such file", source=str(guidelines))
    return guidelines.read_text("utf-8", errors="replace")


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
    import asyncio

    from adjudge.collect.model_judge.judging import judge as at_work
    from adjudge.collect.model_judge.ledger import AnswerLedger
    from adjudge.models.model import Step

    async def go(on_page: Any) -> ModelTally:
        with AnswerLedger.opened(ledger) as kept:
            async with asked as open_one:
                return await at_work(
                    work, open_one, kept, concurrency=asking.concurrency, most=most,
                    samples=asking.samples, learn=learn, on_page=on_page,
                )  # fmt: skip

    with progress(f"{asking.ask} judges {project}") as on_step:

        def on_page(tally: ModelTally) -> None:
            if on_step is not None:
                on_step(Step("pages", tally.judged, most or tally.judged, _spent(asked)))

        return asyncio.run(go(on_page))


def _work(project: str, key: str, server: str | None, database: str) -> Work:
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


def _spent(asked: Endpoint) -> str:
    return f"{_cost(asked):.2f} spent"


def _deliver(
    found: Answers,
    asked: Endpoint,
    asking: _Asking,
    judge: str | None,
    output: Path | None,
    printing: o.Printing,
) -> None:
    """The answers to their file, or to standard output; how it went for people."""
    table = found.to_table(asking.ask, asking.prompt, judge)
    if output is not None:
        write_tables((table, output))
        tell_written("answers", output)
    say(
        (f"{len(found.sampled):,} of {count_of(len(found.items), 'item')}", "bold"),
        f", {count_of(asking.samples, 'sample')} each, "
        f"{found.unanswered:,} it could not judge, {found.known:,} answered before",
    )
    _tell_usage(asked)
    if found.stopped is not None:
        say((f"  stopped: {found.stopped}", "yellow"))
    if printing.json:
        about = {"items": len(found.items), "judged": len(found.sampled),
                 "unanswered": found.unanswered, "from_ledger": found.known,
                 "cost": _cost(asked), "usage": asdict(asked.usage),
                 "stopped": found.stopped}  # fmt: skip
        print_json(about if output is not None else {**about, "answers": table.to_pylist()})
    elif output is None:
        write_tables((table, STDOUT))


def _tell(tally: ModelTally, asked: Endpoint, printing: o.Printing) -> None:
    """How it went: pairs, trust, tokens, money."""
    view = tally.judge
    if printing.json:
        print_json({"pages": tally.pages, "judged": tally.judged, "unanswered": tally.unanswered,
                    "from_ledger": tally.from_ledger, "cost": _cost(asked),
                    "usage": asdict(asked.usage), "stopped": tally.stopped,
                    "both_orders": _sides_of(tally),
                    "judge": asdict(view) if view else None})  # fmt: skip
        return
    say(
        (count_of(tally.judged, "pair"), "bold"),
        f" on {count_of(tally.pages, 'page')}, {tally.unanswered:,} it could not judge, "
        f"{tally.from_ledger:,} answered before",
    )
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
