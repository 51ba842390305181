"""Quality gates on labelled data that is not part of the project: skipped where it is not there."""

from __future__ import annotations

import gzip
import json
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import neardup

DATA = Path(os.environ.get("NEARDUP_DATA", "../shared/data"))
TERMS = DATA / "terms_history" / "pages.jsonl.gz"


@pytest.mark.skipif(not TERMS.exists(), reason="needs the labelled data (NEARDUP_DATA)")
@pytest.mark.parametrize("site", ["one nameless site", "a site a page"])
def test_templates_take_nothing_that_all_versions_of_a_page_share(tmp_path, site):
    """Blocks that stand in every capture of a page are its text, whatever else is on the site."""
    source, captures = TERMS, defaultdict(list)
    with gzip.open(TERMS, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    if site == "a site a page":
        source = tmp_path / "pages.jsonl"
        with source.open("w") as out:
            for row in rows:
                url = f"http://{row['document']}.example/terms"
                out.write(json.dumps({"id": row["id"], "url": url, "html": row["html"]}) + "\n")
    for number, row in enumerate(rows):
        captures[row["document"]].append(number)
    web = neardup.deduplicate(source, "web")
    plain = neardup.deduplicate(source, "text")
    lost = total = 0
    for numbers in captures.values():
        whole = plain.documents(np.array(numbers)).to_pylist()
        left = web.documents(np.array(numbers)).to_pylist()
        shared = set.intersection(*(set(text.split("\n")) for text in whole))
        for text in left:
            total += sum(map(len, shared))
            lost += sum(map(len, shared - set(text.split("\n"))))
    assert total > 1_000_000
    assert lost <= total * 0.0001
