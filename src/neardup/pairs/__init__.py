"""CANDIDATES -> SIGNALS -> VERDICTS: what two documents share, and what follows from it."""
