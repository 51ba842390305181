"""Sources -> PAGES: HTML trees, WARC, JSONL, Parquet, CSV and tables in memory; and back.

`open_corpus` lists the files and cuts them into independent parts; `part.read()` gives record
batches of `schemas.PAGES`, with the records left out; `writers.write_kept` writes what is kept.
"""

from neardup.corpus.errors import REASONS, CorpusError, Skipped
from neardup.corpus.limits import Limits
from neardup.corpus.opening import Corpus, open_corpus
from neardup.corpus.parts import Part

__all__ = ["REASONS", "Corpus", "CorpusError", "Limits", "Part", "Skipped", "open_corpus"]
