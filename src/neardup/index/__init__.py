"""FINGERPRINTS -> CANDIDATES: which documents share a bucket and are worth comparing."""
