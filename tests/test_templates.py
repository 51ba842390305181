"""Template removal: what repeats across different pages goes, what copies share stays."""

from __future__ import annotations

import random

import numpy as np

from neardup.extract.templates import (
    TemplateBuilder,
    TemplateTable,
    Templates,
    block_hashes,
    remove,
)

SITE = 77


def prose(seed: object, words: int) -> str:
    """Words drawn from a vocabulary of 2,000, the same for the same seed."""
    draw = random.Random(str(seed))
    return " ".join(f"w{draw.randrange(2000)}x" for _ in range(words))


def template(name: object, links: int = 30, footers: int = 2) -> tuple[list[str], list[str]]:
    """What stands above and below the articles of a site."""
    above = [prose((name, "link", i), 2) for i in range(links)]
    return above, [prose((name, "footer", i), 30) for i in range(footers)]


def table_of(texts: list[str], spec: Templates | None = None, site: int = SITE) -> TemplateTable:
    sites = np.full(len(texts), site, np.uint64)
    with TemplateBuilder(spec or Templates()) as builder:
        builder.add(sites, np.arange(len(texts)), *block_hashes(texts))
        return builder.build()


def removed(texts: list[str], table: TemplateTable, site: int = SITE) -> list[str]:
    sites = np.full(len(texts), site, np.uint64)
    return remove(texts, sites, table, table.spec)[0].to_pylist()  # type: ignore[no-any-return]


def test_thirty_printer_copies_keep_their_text() -> None:
    above, below = template("site")
    body = [prose(("body", i), 50) for i in range(4)]
    texts = [
        "\n".join(
            [*above, f"Printed on 2024-03-{i:02} by user {i}", *body, prose(("ad", i), 15), *below]
        )
        for i in range(30)
    ]
    table = table_of(texts)
    assert len(table) == 0
    assert removed(texts, table) == texts


def test_a_thousand_articles_lose_their_template_and_nothing_else() -> None:
    above, below = template("site")
    bodies = [[prose((n, "title"), 8), prose((n, "text"), 120)] for n in range(1000)]
    texts = ["\n".join([*above, *body, *below]) for body in bodies]
    table = table_of(texts)
    assert removed(texts, table) == ["\n".join(body) for body in bodies]
