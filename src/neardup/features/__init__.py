"""DOCUMENTS -> FEATURES: tokens, phrases (word n-grams) and document frequencies.

`specs` reads "words:3,stop=en"; `tokens` turns UTF-8 into token hashes and `phrases` these into
feature hashes; `statistics` counts in how many documents a feature occurs.
"""
