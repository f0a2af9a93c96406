"""What browsers send: forms whose proof is checked, fields as clean text, files within limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypeVar

from fastapi import Depends
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from adjudge.collect.values.texts import clean
from adjudge.collect.web._state import state_of
from adjudge.data.scale import as_number
from adjudge.errors import BadSetting, Refused

_PROOF = "proof"
_HEADER = "x-form-proof"
_MOST_FIELDS = 2_000
_MOST_FILES = 50
_Word = TypeVar("_Word", bound=str)
_SHORTEST = 10  # characters of a password


@dataclass(frozen=True, slots=True)
class Form:
    """A form that came from one of our own pages."""

    fields: Mapping[str, str]
    lists: Mapping[str, list[str]] = field(default_factory=dict)
    files: list[tuple[str, bytes]] = field(default_factory=list)

    def text(self, name: str, *, most: int = 10_000) -> str:
        """A field as text; empty where it was not sent."""
        value = self.fields.get(name, "").strip()
        if len(value) > most:
            raise Refused(
                "bad-form", f"{name} has {len(value):,} characters; expected at most {most:,}"
            )
        return value

    def need(self, name: str, *, most: int = 10_000) -> str:
        """A field that has to be there."""
        value = self.text(name, most=most)
        if not value:
            raise Refused("bad-form", f"{name} is missing in what was sent")
        return value

    def number(self, name: str) -> int:
        """A field that has to be a whole number."""
        text = self.need(name, most=12)
        try:
            return int(text)
        except ValueError:
            raise Refused("bad-form", f"{name}: expected a whole number, got {text!r}") from None

    def choice(self, name: str, choices: Sequence[_Word]) -> _Word:
        """Return a field that has to be one of a few words."""
        text = self.need(name, most=100)
        for choice in choices:
            if choice == text:
                return choice
        raise Refused("bad-form", f"{name}: expected {', '.join(choices)}; got {text!r}")

    def rows(self, *names: str) -> list[dict[str, str]]:
        """Return fields that the form has several times, side by side."""
        lists = [self.lists.get(name, []) for name in names]
        return [dict(zip(names, row, strict=True)) for row in zip(*lists, strict=False)]


async def read_form(request: Request) -> Form:
    """The form of a request, once its proof is found right."""
    state = state_of(request)
    if not request.headers.get("content-type", "").startswith("multipart/"):
        # Counted before it is parsed, which takes microseconds per field of the server's one loop.
        fields = (await request.body()).count(b"&") + 1
        if fields > _MOST_FIELDS:
            raise Refused(
                "bad-form", f"a form has {fields:,} fields; expected at most {_MOST_FIELDS:,}"
            )
    data = await request.form(max_files=_MOST_FILES, max_fields=_MOST_FIELDS)
    try:
        proof = request.headers.get(_HEADER) or str(data.get(_PROOF, ""))
        session = state.pages.session(request)
        if not state.sessions.is_proven(session, proof):
            raise Refused(
                "form-forged",
                "this form did not come from a page of your present session; "
                "go back, load the page again and send it once more",
            )
        return await _taken(data, state.settings.upload_bytes)
    finally:
        await data.close()


def new_password(form: Form) -> str:
    """The password of a form that sets one, typed twice. Refused: ``bad-form``."""
    password = form.fields.get("password", "")
    if password != form.fields.get("again", ""):
        raise Refused("bad-form", "The two passwords differ.")
    if len(password) < _SHORTEST or len(password) > 1_000:
        raise Refused("bad-form", f"A password has at least {_SHORTEST} characters.")
    return password


SentForm = Annotated[Form, Depends(read_form)]  # of a route that runs in a thread
PROVEN = Depends(read_form)  # of a route that needs nothing of the form but its proof


async def _taken(data: FormData, most: int) -> Form:
    fields: dict[str, str] = {}
    lists: dict[str, list[str]] = {}
    files: list[tuple[str, bytes]] = []
    room = most
    for name, value in data.multi_items():
        if isinstance(value, UploadFile):
            if not value.filename:
                continue
            body = await value.read(room + 1)
            room -= len(body)
            if room < 0:
                raise HTTPException(413, f"the files are larger than {most:,} bytes together")
            files.append((clean(value.filename), body))
        else:
            text = clean(value)
            fields.setdefault(name, text)
            lists.setdefault(name, []).append(text)
    return Form(fields, lists, files)


def asked_number(request: Request, name: str) -> int | None:
    """Return a number that an address asks for; None where it is not a reasonable one."""
    text = request.query_params.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 18 else None


def asked_word(request: Request, name: str, choices: Sequence[_Word]) -> _Word:
    """Return a word that an address asks for; the first of the choices if it is none of them."""
    text = request.query_params.get(name, "")
    return next((choice for choice in choices if choice == text), choices[0])


def read_number(
    name: str, text: str, expected: str = "a number of at least 0", least: float = 0.0
) -> float:
    """Return a number that somebody typed; ``expected`` says what the field takes."""
    number = as_number(text.strip())
    if number is None or not least <= number <= 1e9:
        raise BadSetting(name, text.strip(), expected)
    return number


def read_grade(label: str, grade: str) -> float:
    """Return the grade of a label as a form has it."""
    return read_number("grade", grade, f"a number as the grade of {label}", least=-1e6)


def number_or_text(text: str) -> int | float | str:
    """Return a text as a number if it is one; the caller checks its range."""
    number = as_number(text)
    if number is None:
        return text
    return int(number) if number.is_integer() else number
