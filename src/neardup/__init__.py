"""Find near-duplicate web documents: which pages are copies, which one to keep, and why.

The path of a page, room by room; every arrow is an Arrow table (`neardup.schemas`):

    sources -> corpus -> PAGES -> extract -> DOCUMENTS -> features, fingerprints -> FINGERPRINTS
            -> index -> CANDIDATES -> pairs -> VERDICTS -> resolve -> CLUSTERS

>>> corpus = neardup.open_corpus("crawl/*.warc.gz")
>>> result = neardup.deduplicate(corpus, recipe="web", threads=2)
>>> result.kept, result.clusters, result.skipped, result.summary

Names are imported when first used, so `import neardup` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.corpus import Corpus as Corpus
    from neardup.corpus import CorpusError as CorpusError
    from neardup.corpus import open_corpus as open_corpus
    from neardup.extract import Extract as Extract
    from neardup.extract.templates import Templates as Templates
    from neardup.features.statistics import Statistics as Statistics
    from neardup.fingerprints.exact import Exact as Exact
    from neardup.fingerprints.minhash import MinHash as MinHash
    from neardup.fingerprints.mod_p import ModP as ModP
    from neardup.fingerprints.resemblance import containment as containment
    from neardup.fingerprints.resemblance import resemblance as resemblance
    from neardup.fingerprints.simhash import Simhash as Simhash
    from neardup.pairs.compare import Comparison as Comparison
    from neardup.recipe import Recipe as Recipe
    from neardup.recipe import RecipeError as RecipeError
    from neardup.runners.compare import CompareError as CompareError
    from neardup.runners.compare import compare as compare
    from neardup.runners.deduplicate import deduplicate as deduplicate
    from neardup.runners.result import Result as Result
    from neardup.specs import SpecError as SpecError

__version__ = "0.1.0"

_HOMES = {
    "CompareError": "runners.compare",
    "Comparison": "pairs.compare",
    "Corpus": "corpus",
    "CorpusError": "corpus",
    "Exact": "fingerprints.exact",
    "Extract": "extract",
    "MinHash": "fingerprints.minhash",
    "ModP": "fingerprints.mod_p",
    "Recipe": "recipe",
    "RecipeError": "recipe",
    "Result": "runners.result",
    "Simhash": "fingerprints.simhash",
    "SpecError": "specs",
    "Statistics": "features.statistics",
    "Templates": "extract.templates",
    "compare": "runners.compare",
    "containment": "fingerprints.resemblance",
    "deduplicate": "runners.deduplicate",
    "open_corpus": "corpus",
    "resemblance": "fingerprints.resemblance",
}
__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'neardup' has no attribute {name!r}")
    value = getattr(import_module(f"neardup.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
