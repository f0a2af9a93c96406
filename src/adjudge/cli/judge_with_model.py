"""adjudge judge-with-model: let a language model judge a project, like any judge."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli import options as o
from adjudge.cli.console import be_quiet, progress, say
from adjudge.cli.project.stored import DATABASE, Stored
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.collect.model_judge.endpoint import Endpoint
    from adjudge.collect.model_judge.judging import ModelTally, Work

NAME = "judge-with-model"
EXAMPLES = (
    "adjudge judge-with-model shop --endpoint http://localhost:8000/v1 --ask NAME",
    "adjudge judge-with-model shop --endpoint URL --ask NAME --server URL",
)
_ASK = "The model"


def run(
    project: Annotated[str, typer.Argument(metavar="PROJECT", help="The project's short name.")],
    *,
    endpoint: Annotated[
        str,
        o.option("--endpoint", metavar="URL", help="OpenAI-compatible: .../v1.", panel=_ASK),
    ],
    ask: Annotated[str, o.option("--ask", metavar="NAME", help="The model's name.", panel=_ASK)],
    key_variable: Annotated[
        str,
        o.option(
            "--key-variable",
            metavar="NAME",
            help="Environment variable with the endpoint's key.",
            panel=_ASK,
        ),
    ] = "OPENAI_API_KEY",
    judge: Annotated[
        str | None,
        o.option("--judge", metavar="NAME", help="Who it is as a judge; the model's name if none."),
    ] = None,
    stop_after: Annotated[
        int | None, o.option("--stop-after", metavar="N", min=1, help="So many pairs.")
    ] = None,
    concurrency: Annotated[
        int, o.option("--concurrency", metavar="N", min=1, help="Questions at once.", panel=_ASK)
    ] = 8,
    temperature: Annotated[
        float, o.option("--temperature", metavar="X", help="Of the answers.", panel=_ASK)
    ] = 0.0,
    max_tokens: Annotated[
        int, o.option("--max-tokens", metavar="N", min=1, help="Of one answer.", panel=_ASK)
    ] = 300,
    no_lessons: Annotated[
        bool,
        o.option("--no-lessons", help="Do not tell it of golds it missed.", panel=_ASK),
    ] = False,
    price_in: Annotated[
        float,
        o.option("--price-in", metavar="X", help="Of a million prompt tokens.", panel=_ASK),
    ] = 0.0,
    price_out: Annotated[
        float,
        o.option("--price-out", metavar="X", help="Of a million completion tokens.", panel=_ASK),
    ] = 0.0,
    ledger: Annotated[
        Path | None,
        o.option("--ledger", metavar="FILE", help="Where answers are kept, to go on from."),
    ] = None,
    server: Annotated[
        str | None,
        o.option("--server", metavar="URL", help="A server elsewhere; its token in ADJUDGE_TOKEN."),
    ] = None,
    database: Stored = DATABASE,
    printing: o.Printing,
) -> None:
    """Let a language model judge a project's pages, with its guidelines, gold and trust.

    The model is trained, tested by hidden gold, warned and blocked like any judge, and told of its
    mistakes. Stopped and started again, it goes on where it was and pays for nothing twice.
    """
    import asyncio

    from adjudge.collect.model_judge.endpoint import Endpoint
    from adjudge.collect.model_judge.judging import judge as at_work
    from adjudge.collect.model_judge.ledger import AnswerLedger
    from adjudge.models.model import Step

    be_quiet(printing.quiet or printing.json)
    asked = Endpoint(
        url=endpoint, model=ask, key=os.environ.get(key_variable), temperature=temperature,
        max_tokens=max_tokens,
    )  # fmt: skip
    work = _work(project, judge or ask, server, database)
    path = ledger or Path(f"{project}-{(judge or ask).replace('/', '_')}.answers.jsonl")

    async def go(on_page: Any) -> ModelTally:
        with AnswerLedger.opened(path) as kept:
            async with asked as open_one:
                return await at_work(
                    work, open_one, kept, concurrency=concurrency, most=stop_after,
                    learn=not no_lessons, on_page=on_page,
                )  # fmt: skip

    with progress(f"{ask} judges {project}") as on_step:

        def on_page(tally: ModelTally) -> None:
            if on_step is not None:
                shown = f"{asked.usage.cost(price_in, price_out):.2f} spent"
                on_step(Step("pages", tally.judged, stop_after or tally.judged, shown))

        tally = asyncio.run(go(on_page))
    _tell(tally, asked, price_in, price_out, printing)


def _work(project: str, key: str, server: str | None, database: str) -> Work:
    """Where the pages come from: the database here, or a server elsewhere."""
    if server is not None:
        from adjudge.collect.model_judge.over_http import HttpWork

        token = os.environ.get("ADJUDGE_TOKEN")
        if not token:
            raise BadSetting("ADJUDGE_TOKEN", None, "a token of the server in the environment")
        return HttpWork(server, project, token, key)
    from adjudge.collect.model_judge.in_process import InProcessWork
    from adjudge.collect.services.judging import JudgingService
    from adjudge.collect.store.database import Database

    return InProcessWork(JudgingService(Database(database)), project, key)


def _tell(
    tally: ModelTally, asked: Endpoint, price_in: float, price_out: float, printing: o.Printing
) -> None:
    """How it went: pairs, trust, tokens, money."""
    from dataclasses import asdict

    from adjudge.cli.writing import print_json

    usage, view = asked.usage, tally.judge
    cost = usage.cost(price_in, price_out)
    if printing.json:
        print_json({"pages": tally.pages, "judged": tally.judged, "unanswered": tally.unanswered,
                    "from_ledger": tally.from_ledger, "cost": cost, "usage": asdict(usage),
                    "judge": asdict(view) if view else None})  # fmt: skip
        return
    say(
        (f"{tally.judged:,} pairs", "bold"),
        f" on {tally.pages:,} pages, {tally.unanswered:,} it could not judge, "
        f"{tally.from_ledger:,} answered before",
    )
    say(
        f"  {usage.requests:,} requests ({usage.faults:,} again after faults), "
        f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens, {cost:.4f} spent"
    )
    if view is not None:
        known = "" if view.accuracy is None else f", {view.accuracy:.0%} of its gold right"
        say(f"  it is {view.stage}{known}: {view.reason}")
