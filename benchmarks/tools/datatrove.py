"""datatrove: its four minhash stages on local executors, as its example runs them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

PACKAGE = "datatrove"
NOTES = {"job": "112 hashes (14 x 8, its default) and a task a thread"}


def job(path: Path, threads: int, work: Path) -> dict[str, Any]:
    """Signatures, buckets, clusters, filter."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import (
        MinhashDedupBuckets,
        MinhashDedupCluster,
        MinhashDedupFilter,
        MinhashDedupSignature,
    )
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import ParquetReader
    from datatrove.pipeline.writers import ParquetWriter

    source = work / "input"
    source.mkdir(parents=True, exist_ok=True)
    table = pq.read_table(path)
    half = len(table) // 2
    for number, part in enumerate((table.slice(0, half), table.slice(half))):
        pq.write_table(part, source / f"{number}.parquet")  # its tasks share files, not rows
    config = MinhashConfig(n_grams=5)

    def reader() -> Any:
        return ParquetReader(str(source), glob_pattern="*.parquet")

    stages = [
        ([reader(), MinhashDedupSignature(str(work / "signatures"), config)], threads),
        (
            [MinhashDedupBuckets(str(work / "signatures"), str(work / "buckets"), config=config)],
            config.num_buckets,
        ),
        (
            [MinhashDedupCluster(str(work / "buckets"), str(work / "remove"), config=config)],
            1,
        ),
        (
            [reader(), MinhashDedupFilter(str(work / "remove")), ParquetWriter(str(work / "kept"))],
            threads,
        ),
    ]
    for number, (pipeline, tasks) in enumerate(stages):
        LocalPipelineExecutor(
            pipeline, tasks=tasks, workers=threads, logging_dir=str(work / f"log{number}")
        ).run()
    return {}
