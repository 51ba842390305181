"""neardup and its peers side by side on one machine: `python -m benchmarks --size small ROW...`.

`corpus` builds the documents, a file in `rows` is one line of the table, a file in `tools` is
one competitor (run in a fresh process and in an environment of its own), `report` writes
docs/benchmarks. Nothing here is imported by the package, and `tools` must not import neardup
except in `tools/ours.py`.
"""
