"""FEATURES -> FINGERPRINTS: exact digests, simhash, minhash, and exact resemblance.

Every fingerprint is a spec that prints and parses; each lives in a file named after itself.
"""
