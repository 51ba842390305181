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
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

F = TypeVar("F", bound=Callable[..., Any])
U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
Int = int | np.int64

_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_FNV_BASIS = np.uint64(0xCBF29CE484222325)
_FNV_PRIME = np.uint64(0x100000001B3)
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
        if b"@kernel" in source or b"@part" in source:
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


def cache_is_writable() -> bool:
    """Whether compiled kernels are kept for the next process."""
    return _writable_cache() is not None


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


def part(function: F) -> F:
    """A piece of a kernel, written apart to be read apart: Numba puts it where it is called.

    A call between kernels counts references to every array, which two threads then fight over.
    """
    return numba.njit(nogil=True, inline="always")(function)  # type: ignore[no-any-return]


@kernel
def mix64(x: np.uint64) -> np.uint64:
    """Stafford's variant 13 of the 64-bit finaliser: a bijection that mixes every bit."""
    x = (x ^ (x >> _S30)) * _MIX_1
    x = (x ^ (x >> _S27)) * _MIX_2
    return x ^ (x >> _S31)


@kernel
def hash_strings(data: U8, offsets: I64) -> U64:
    """A 64-bit hash of each string's bytes (FNV-1a, then mixed)."""
    hashes = np.empty(offsets.size - 1, np.uint64)
    for row in range(hashes.size):
        h = _FNV_BASIS
        for at in range(offsets[row], offsets[row + 1]):
            h = (h ^ np.uint64(data[at])) * _FNV_PRIME
        hashes[row] = mix64(h)
    return hashes


def strings(texts: Any) -> pa.Array:
    """A list of str, a pandas series or any Arrow string array, as one valid `large_string`."""
    if isinstance(texts, str | bytes):
        raise TypeError("texts is a list of str, an Arrow array or a series, not one text")
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    if not isinstance(texts, pa.Array):
        try:
            texts = pa.array(texts, type=pa.large_string(), from_pandas=True)
        except UnicodeEncodeError:  # lone surrogates
            texts = [None if t is None else t.encode("utf-8", "replace").decode() for t in texts]
            texts = pa.array(texts, type=pa.large_string())
    if isinstance(texts, pa.ChunkedArray):  # pa.array splits very long input
        texts = pa.concat_arrays(texts.chunks)
    if not pa.types.is_large_string(texts.type):
        texts = texts.cast(pa.large_string())
    return texts


def view(texts: pa.Array) -> tuple[U8, I64]:
    """The bytes of a `large_string` array and its n + 1 offsets into them, without a copy.

    Nulls read as empty. There are at least 64 bytes, so that a kernel can always load a block.
    This is the only way into a kernel, so that each has one signature.
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
    if len(data) < 64:
        data = np.concatenate([data, np.zeros(64 - len(data), np.uint8)])
    data.flags.writeable = offsets.flags.writeable = False
    return data, offsets


# Intrinsics: LLVM instructions that Numba has no name for. They use LLVM's portable vectors and
# integers, so they become AVX2 on x86 and NEON on ARM; all of them read little-endian.


#: where a byte or an item lies in memory: passed between kernels instead of an array, it costs
#: no count of references (which threads would fight over) and no test for negative indices
Address = int | np.int64
_I8, _I32, _I64, _I128 = (ir.IntType(bits) for bits in (8, 32, 64, 128))
_V64 = ir.VectorType(_I8, 64)


def _bytes64(value: int) -> ir.Constant:
    """The same byte in all 64 lanes."""
    return ir.Constant(_V64, [value] * 64)


def _read(builder: Any, address: Any, kind: Any) -> Any:
    """Load from an address of any alignment, unchecked: the caller has checked the bounds."""
    return builder.load(builder.inttoptr(address, kind.as_pointer()), align=1)


@intrinsic
def address(typing: Any, array: Any) -> Any:
    """Where the first item of an array lies; the array must outlive every use of it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = arrayobj.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, _I64)

    return types.int64(array), generate


@intrinsic
def word_mask(typing: Any, at: Any) -> Any:
    """Bit i is set when byte i of the 64 at this address is [A-Za-z0-9_] or not ASCII at all."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = _read(builder, args[0], _V64)
        lower = builder.or_(block, _bytes64(0x20))
        from_a = builder.sub(lower, _bytes64(ord("a")))
        from_0 = builder.sub(block, _bytes64(ord("0")))
        word = builder.icmp_unsigned("<", from_a, _bytes64(26))
        word = builder.or_(word, builder.icmp_unsigned("<", from_0, _bytes64(10)))
        word = builder.or_(word, builder.icmp_unsigned("==", block, _bytes64(ord("_"))))
        word = builder.or_(word, builder.icmp_signed("<", block, _bytes64(0)))
        return builder.bitcast(word, _I64)

    return types.uint64(types.int64), generate


@intrinsic
def load8(typing: Any, at: Any) -> Any:
    """The byte at this address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(_read(builder, args[0], _I8), _I64)

    return types.int64(types.int64), generate


@intrinsic
def load32(typing: Any, at: Any) -> Any:
    """The int32 at this address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sext(_read(builder, args[0], _I32), _I64)

    return types.int64(types.int64), generate


@intrinsic
def load64(typing: Any, at: Any) -> Any:
    """The eight bytes at this address as one number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _read(builder, args[0], _I64)

    return types.uint64(types.int64), generate


@intrinsic
def store64(typing: Any, at: Any, value: Any) -> Any:
    """Write eight bytes and return the address after them."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], _I64.as_pointer()), align=1)
        return builder.add(args[0], ir.Constant(_I64, 8))

    return types.int64(types.int64, types.uint64), generate


@intrinsic
def trailing_zeros(typing: Any, x: Any) -> Any:
    """The position of the lowest set bit; 64 when there is none."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def count_ones(typing: Any, x: Any) -> Any:
    """How many bits are set."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate


@intrinsic
def fold_multiply(typing: Any, a: Any, b: Any) -> Any:
    """The two halves of the 128-bit product a * b, xored: the mixing step of wyhash."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        product = builder.mul(*(builder.zext(arg, _I128) for arg in args))
        high = builder.lshr(product, ir.Constant(_I128, 64))
        return builder.trunc(builder.xor(product, high), _I64)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def tally_bits(typing: Any, values: Any, end: Any, counters: Any) -> Any:
    """Count at the address `counters` (64 bytes), for each bit, how many of the 64-bit values in
    [values, end) have it set; at most 255 of them."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total = cgutils.alloca_once(builder, _V64)  # LLVM keeps it in registers
        builder.store(ir.Constant(_V64, None), total)
        eighth = ir.Constant(_I64, 3)
        count = builder.lshr(builder.sub(args[1], args[0]), eighth)
        with cgutils.for_range(builder, count) as loop:
            at = builder.add(args[0], builder.shl(loop.index, eighth))
            bits = builder.bitcast(_read(builder, at, _I64), ir.VectorType(ir.IntType(1), 64))
            builder.store(builder.sub(builder.load(total), builder.sext(bits, _V64)), total)
        target = builder.inttoptr(args[2], _V64.as_pointer())
        builder.store(builder.load(total), target, align=1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate
