"""Items that belong together: those of a topic, given or read from how items are named.

Items of a topic are alike, some topics being easier, or richer in relevant documents, than others.
Where topics are not given, the names of items often tell: in ``q12_doc7`` or ``301/FT911-3`` what
stands before the first sign is the topic. It is taken for one where every item has such a part and
there are three items or more to a part on average.
"""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.names import Names, encode

_PART = r"^(?P<part>[^_/:| ]+)[_/:| ]+[^_/:| ]"
_EACH = 3  # items to a part, on average, for parts to be topics

Groups = tuple[NDArray[np.int32], Names, bool] | None


def group_items(judgments: Judgments) -> Groups:
    """The group of each item, the groups' names, and whether they were read from items' names."""
    if judgments.topics is not None and judgments.topic is not None:
        return (judgments.topic, judgments.topics, False) if judgments.topic_count > 1 else None
    part = pc.struct_field(pc.extract_regex(judgments.items, _PART), "part")
    if part.null_count or not len(part):
        return None
    number, names = encode(part)
    if len(names) < 2 or len(part) < _EACH * len(names):
        return None
    return number, names, True
