"""Asking an endpoint that speaks the real protocol, with its faults."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from adjudge.collect.model_judge.endpoint import Endpoint
from adjudge.collect.model_judge.prompts import NO_ANSWER, Question, Reply
from adjudge.errors import EndpointFailed
from waiting import alone

LABELS = ("A", "B")


def asked(endpoint: Endpoint, times: int = 1) -> list[Reply]:
    async def go() -> list[Reply]:
        async with endpoint as open_one:
            return await asyncio.gather(
                *(
                    open_one.ask(Question(query=f"q{n}"), guidelines="G", labels=LABELS)
                    for n in range(times)
                )
            )

    return alone(go())


def at(speaker: Any, **settings: Any) -> Endpoint:
    return Endpoint(url=speaker.url, model="m", **{"first_wait": 0.01, **settings})


def test_an_answer_with_its_tokens(speaker: Any) -> None:
    endpoint = at(speaker, key="secret")
    assert asked(endpoint) == [Reply(label="A", reason="so")]
    assert (endpoint.usage.prompt_tokens, endpoint.usage.completion_tokens) == (100, 10)
    assert (endpoint.usage.prompt_tokens, endpoint.usage.completion_tokens) == (100, 10)
    assert speaker.keys == ["Bearer secret"]
    body = speaker.bodies[0]
    assert (body["model"], body["temperature"]) == ("m", 0.0)
    assert body["response_format"]["json_schema"]["strict"] is True
    assert "secret" not in repr(endpoint)


def test_a_fixed_address_is_used_whatever_the_name_of_the_host_leads_to(speaker: Any) -> None:
    named = speaker.url.replace("127.0.0.1", "model.invalid")
    endpoint = Endpoint(url=named, model="m", address="127.0.0.1", tries=1)
    assert asked(endpoint) == [Reply(label="A", reason="so")]
    assert speaker.hosts == [named.split("/")[2]]


@pytest.mark.parametrize(
    "fault", ["cut", "bad json", (429, {}), (500, {}), (503, {}), (502, {}), (529, {})]
)
def test_passing_faults_are_tried_again(speaker: Any, fault: Any) -> None:
    speaker.faults = [fault, fault]
    endpoint = at(speaker)
    assert asked(endpoint) == [Reply(label="A", reason="so")]
    assert (endpoint.usage.requests, endpoint.usage.faults) == (3, 2)


def test_it_waits_as_long_as_the_server_asks(speaker: Any) -> None:
    speaker.faults = [(429, {"Retry-After": "0.4"})]
    start = time.monotonic()
    asked(at(speaker))
    assert time.monotonic() - start >= 0.4


def test_an_endpoint_that_stays_broken_is_named(speaker: Any) -> None:
    speaker.faults = [(500, {})] * 3
    with pytest.raises(EndpointFailed) as caught:
        asked(at(speaker, tries=3))
    assert str(caught.value) == (
        f"{speaker.url} gave no answer in 3 tries; the last said: 500: by request"
    )


def test_a_wrong_key_is_not_tried_again(speaker: Any) -> None:
    speaker.faults = [(401, {})]
    with pytest.raises(EndpointFailed, match="answered 401: by request"):
        asked(at(speaker))
    assert len(speaker.bodies) == 1


def test_answers_that_cannot_be_read_are_asked_for_again(speaker: Any) -> None:
    said = iter(["nonsense", json.dumps({"label": "C"}), json.dumps({"label": "B"})])
    speaker.answer = lambda _: next(said)
    endpoint = at(speaker)
    assert asked(endpoint) == [Reply(label="B")]
    assert endpoint.usage.unread == 2


def test_in_the_end_it_cannot_judge(speaker: Any) -> None:
    speaker.answer = lambda _: "nonsense"
    endpoint = at(speaker, rereads=1)
    (reply,) = asked(endpoint)
    assert (reply.label, reply.unreadable) == (NO_ANSWER, True)
    assert "nonsense" in reply.reason
    assert endpoint.usage.requests == 2
