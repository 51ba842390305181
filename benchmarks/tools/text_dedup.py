"""text-dedup: its own functions and its own command, run in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

PACKAGE = "text-dedup"
NOTES = {"simhash": "character 3-grams: it has no other"}


def simhash(texts: pa.Array, threads: int) -> Callable[[], Any]:
    """64 bits of character 3-grams, signature only."""
    from text_dedup.simhash import embed_func
    from text_dedup.utils import xxh3_64_digest

    strings = [text if len(text) >= 3 else "empty" for text in texts.to_pylist()]

    def one(text: str) -> Any:
        return embed_func(text, 0, ngram=3, permutations=[], hash_func=xxh3_64_digest)

    return lambda: [one(text) for text in strings]


def job(path: Path, threads: int, work: Path) -> dict[str, Any]:
    """`python -m text_dedup.minhash` with 128 permutations and xxh3."""
    from datasets import load_from_disk
    from text_dedup.minhash import main

    work.mkdir(parents=True, exist_ok=True)
    words = (
        f"--path parquet --data_files {path} --split train --cache_dir {work / 'cache'} "
        f"--output {work / 'kept'} --column text --ngram 5 --num_perm 128 --threshold 0.8 "
        f"--hash_func xxh3 --hash_bits 64 --min_length 5 --num_proc {threads} --no-clean_cache"
    )
    sys.argv = ["text_dedup.minhash", *words.split()]
    main(standalone_mode=False)
    return {"kept": len(load_from_disk(str(work / "kept")))}
