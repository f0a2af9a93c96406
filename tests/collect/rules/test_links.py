"""Links back to a panel: what is refused, and what no value can do to one."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.settings import fill_template
from adjudge.errors import BadSetting


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)//{code}",
        "//panel.example/{code}",
        "http://panel.example/?cc={code}",
        "https://{participant}.example/?cc={code}",
        "https://{participant}",
        "https://panel.example@evil.example/{code}",
        "https:///{code}",
        "https://panel.example:port/{code}",
        "https://panel.example/?a={code} b",
        "https://panel.example\\@evil.example/",
        "https://panel.example/?a={}",
        "https://panel.example/?a={code!r}",
        "https://panel.example/?a={{code}}",
        "https://panel.example/?a={code",
        "https://panel.example/?a=" + "x" * 1000,
    ],
)
def test_a_link_that_cannot_be_used_safely_is_refused(link: str) -> None:
    with pytest.raises(BadSetting, check=lambda error: error.value == link):
        Policy(return_link=link)


@pytest.mark.parametrize(
    "link",
    [
        "",
        "https://app.prolific.com/submissions/complete?cc={code}",
        "https://panel.example/done?code={code}&who={participant}&session={SESSION_ID}",
        "http://localhost:8000/{outcome}/{code}#x",
        "http://127.0.0.1/{code}",
    ],
)
def test_a_link_to_a_panel_is_taken(link: str) -> None:
    assert Policy(return_link=link).return_link == link


@pytest.mark.parametrize("name", ["dry_run", "code", "a b", "1st", "x" * 65, "é"])
def test_a_participant_goes_by_a_plain_name(name: str) -> None:
    with pytest.raises(BadSetting, match="a name of letters, digits and _ such as PROLIFIC_PID"):
        Policy(participant_parameter=name)


@given(value=st.text(max_size=30))
def test_no_value_changes_where_a_link_leads_or_what_else_it_says(value: str) -> None:
    template = "https://panel.example/a/{participant}/b?code={code}&who={participant}"
    parts = urlsplit(fill_template(template, {"participant": value, "code": "C0DE"}))
    assert (parts.scheme, parts.netloc, parts.fragment) == ("https", "panel.example", "")
    assert len(parts.path.split("/")) == 4
    assert ".." not in parts.path.split("/")
    given_back = parse_qs(parts.query, keep_blank_values=True)
    assert list(given_back) == ["code", "who"]
    assert given_back["code"] == ["C0DE"]
    if value.strip("."):
        assert given_back["who"] == [value.encode("utf-8", "replace").decode()]


def test_what_is_not_there_is_empty() -> None:
    assert fill_template("https://p.example/?s={SESSION_ID}&c={code}", {"code": "A"}) == (
        "https://p.example/?s=&c=A"
    )
