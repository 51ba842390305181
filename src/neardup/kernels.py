"""Shared Numba primitives: the `@kernel` decorator, hashing, and views of Arrow strings.

Numba's own cache does not notice an edited kernel in another file, so the cache folder is ours
and named by a digest of all sources that hold kernels, and of the numba version.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

F = TypeVar("F", bound=Callable[..., Any])
U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)


def cache_folder() -> Path:
    """Where compiled kernels are kept for this version of the sources."""
    home = os.environ.get("NEARDUP_CACHE") or os.environ.get("XDG_CACHE_HOME")
    root = Path(home) if home else Path.home() / ".cache"
    return root / "neardup" / f"kernels-{_sources_digest()}"


@cache
def _sources_digest() -> str:
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        source = path.read_bytes()
        if b"@kernel" in source:
            digest.update(path.name.encode() + source)
    return digest.hexdigest()


@cache
def _writable_cache() -> str | None:
    """The cache folder, or None (with one warning) where it cannot be written."""
    folder = cache_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, RuntimeError) as error:
        warnings.warn(
            f"kernels are compiled anew in every process: {error} (set NEARDUP_CACHE to a "
            "folder that can be written)",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return str(folder)


def kernel(function: F) -> F:
    """Compile with Numba: no GIL, cached in our own folder, never `parallel=True`."""
    folder = _writable_cache()
    if folder is None:
        return numba.njit(nogil=True)(function)  # type: ignore[no-any-return]
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = folder  # read while decorating; other packages keep their own
    try:
        return numba.njit(nogil=True, cache=True)(function)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = before


@kernel
def mix64(x: np.uint64) -> np.uint64:
    """Stafford's variant 13 of the 64-bit finaliser: a bijection that mixes every bit."""
    x = (x ^ (x >> _S30)) * _MIX_1
    x = (x ^ (x >> _S27)) * _MIX_2
    return x ^ (x >> _S31)


def strings(texts: Any) -> pa.Array:
    """A list of str, a pandas series or any Arrow string array, as one valid `large_string`."""
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    if not isinstance(texts, pa.Array):
        texts = pa.array(texts, type=pa.large_string(), from_pandas=True)
    if isinstance(texts, pa.ChunkedArray):  # pa.array splits very long input
        texts = pa.concat_arrays(texts.chunks)
    if not pa.types.is_large_string(texts.type):
        texts = texts.cast(pa.large_string())
    return texts


def view(texts: pa.Array) -> tuple[U8, I64]:
    """The bytes of a `large_string` array and its n + 1 offsets into them, without a copy.

    Nulls read as empty. This is the only way into a kernel, so that each has one signature.
    """
    if texts.null_count:
        texts = texts.fill_null("")
    _, offsets_buffer, data_buffer = texts.buffers()
    n = len(texts)
    data, offsets = np.empty(0, np.uint8), np.zeros(n + 1, np.int64)
    if offsets_buffer is not None and n:
        offsets = np.frombuffer(offsets_buffer, np.int64, n + 1, texts.offset * 8)
    if data_buffer is not None:
        data = np.frombuffer(data_buffer, np.uint8)
    data.flags.writeable = offsets.flags.writeable = False
    return data, offsets
