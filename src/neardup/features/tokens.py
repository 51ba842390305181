"""Tokens: how many a text has, to set apart those with none or too few to mean anything."""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.features.reading import read
from neardup.features.specs import Features
from neardup.kernels import I64, strings


def token_counts(texts: Any, features: str | Features = "words:1") -> I64:
    """The number of tokens of every text (of characters for `chars:n`), before stop words."""
    texts = strings(texts)
    tokens = np.empty(len(texts), np.uint32)
    for _ in read(texts, Features(Features.of(features).unit, 0), tokens):
        pass
    return tokens.astype(np.int64)
