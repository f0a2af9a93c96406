"""Guidelines as HTML: Markdown as requesters write it, with nothing in it that could run."""

from __future__ import annotations

from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

_TAGS = {
    "a", "b", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "h2", "h3", "h4", "h5",
    "hr", "i", "img", "kbd", "li", "ol", "p", "pre", "s", "strong", "sub", "sup", "table", "tbody",
    "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "img": {"src", "alt", "title"}, "ol": {"start"}}
_parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_DEEPER = {"h1": "h2", "h2": "h3", "h3": "h4", "h4": "h5", "h5": "h5", "h6": "h5"}


@lru_cache(maxsize=64)
def render(text: str) -> Markup:
    """The HTML of a Markdown text: headings one level down, below the page's own."""
    tokens = _parser.parse(text)
    for token in tokens:
        if token.tag in _DEEPER:
            token.tag = _DEEPER[token.tag]
    html = _parser.renderer.render(tokens, _parser.options, {})
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    # A wide table scrolls by itself rather than make a phone's whole page scroll.
    clean = clean.replace("<table>", '<div class="scroll" tabindex="0"><table>')
    clean = clean.replace("</table>", "</table></div>")
    return Markup(clean)  # noqa: S704 - just sanitised
