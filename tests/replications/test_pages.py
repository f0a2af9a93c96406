"""What a run leaves behind: a page, tables, data and pictures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow.csv

from adjudge import __version__
from adjudge.replications import pages
from adjudge.replications.replication import Setup
from adjudge.replications.running import run

PAGE = f"""\
# A toy paper

N. Body (2001), Journal of Nothing.

Made by `adjudge replicate toy`, adjudge {__version__}, in 12 s (20 s of work on all \
cores), with at most 34 MB of memory. This is the full run. Cells read: \
obtained ± sd over seeds (published).

Made for a test.

## What the paper says, and whether it holds here

1 of 2 (1 cannot be told) hold.

- **Holds**: It rises. (page 4)
    - *Published:* 0.4 to 0.7.
    - *Obtained:* 0.5 to 0.6.
    - *Criterion:* if it rises by 0.1. The published figures pass it.
    - *Reading:* of the first seed.
- **Does not hold**: It falls.
    - *Published:* in words only. There are no figures to try the criterion on.
    - *Obtained:* No.
- **Cannot be told**: It stays. (page 5)
    - *Published:* 0.4 to 0.7.
    - *Obtained:* 0.5 to 0.6.
    - *Criterion:* if neither differs. **The paper's own figures fail it**, so that nothing \
is held against it.

## Beyond the paper

1 of 1 hold.

- **Holds**: It was asked besides.
    - *Obtained:* Yes.

## Values

Table 1, page 3.

| | x | y |
| --- | --- | --- |
| near | 0.600 ± 0.100 (0.600) | – |
| far | 0.600 ± 0.100 (0.900) | 0.600 ± 0.100 (new) |

Data: [table-1.csv](toy/table-1.csv)

1 of 2 cells differ from the published by more than two sd.

The far cell was made so:

- far, x: obtained 0.600, published 0.900: lower by 0.300, 3.0 sd.

## A line

Figure 1, page 4.

![A line](toy/figure-1.png)

Data: [figure-1.csv](toy/figure-1.csv)
"""


def test_a_page_has_all_of_it(toy, tmp_path: Path) -> None:
    result = replace(run(toy, Setup()), seconds=12.3, busy=20.1, memory=34.2e6)
    pages.write(result, Setup(), tmp_path)
    assert (tmp_path / "toy.md").read_text(encoding="utf-8") == PAGE
    beside = tmp_path / "toy"
    cells = pyarrow.csv.read_csv(beside / "table-1.csv").to_pylist()
    assert [cell["row"] for cell in cells] == ["near", "far", "far"]
    assert cells[1]["published"] == 0.9
    assert pyarrow.csv.read_csv(beside / "figure-1.csv")["y"].to_pylist() == [0.5, 0.6]
    assert (beside / "figure-1.png").read_bytes().startswith(b"\x89PNG")
    assert (beside / "figure-1.svg").read_text().startswith("<svg")


def test_the_index_leads_to_the_pages(toy, tmp_path: Path) -> None:
    setup = Setup(quick=True, seeds=3)
    result = replace(run(toy, setup), seconds=12.3, busy=20.1, memory=34.2e6)
    pages.write_index([result], setup, tmp_path)
    text = (tmp_path / "index.md").read_text()
    assert "This is the quick run, 3 seeds." in text
    assert text.splitlines()[-1] == (
        "| [A toy paper](toy.md) | 2 | 1 | 1 of 2 (1 cannot be told) | 1 of 1 | 12 | 20 | 34 MB |"
    )


def test_tables_without_differences_say_so(toy) -> None:
    result = run(toy, Setup())
    table = replace(result.tables[0], cells=result.tables[0].cells[:1])
    text = "\n".join(pages.page(replace(result, tables=[table]), Setup()))
    assert "No cell differs from the published one by more than two sd." in text
    assert pages.differences(table) == {}
