"""How a spec prints, parses and digests: `Simhash(bits=64, features="words:3")` reads back.

A spec is a frozen dataclass of plain values. Its repr is a Python call, the same string works
on the command line, in a recipe and in a report, and parsing never evaluates code.
"""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import json
from typing import Any, ClassVar, TypeVar

T = TypeVar("T", bound="Spec")


class SpecError(ValueError):
    """A spec that cannot be read; the message says which part and what it may be."""


@dataclasses.dataclass(frozen=True)
class Spec:
    """Base of every spec: subclasses are frozen dataclasses and register under their name."""

    registry: ClassVar[dict[str, type[Spec]]] = {}
    #: raised when the same fields come to mean another fingerprint
    version: ClassVar[int] = 1

    def __init_subclass__(cls) -> None:
        Spec.registry[cls.__name__] = cls

    def __str__(self) -> str:
        """The spec with every field, as a call: `MinHash(features="words:5")`."""
        fields = [(f.name, getattr(self, f.name)) for f in dataclasses.fields(self)]
        shown = ", ".join(
            f"{name}={json.dumps(value) if isinstance(value, str) else str(value)}"
            for name, value in fields
        )
        return f"{type(self).__name__}({shown})"

    @property
    def digest(self) -> str:
        """16 hex digits that name this spec and the version of its meaning."""
        text = f"{self!r} v{self.version}"
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def parse(text: str, kind: type[T]) -> T:
    """The spec of this kind written in `text`; bare names are allowed: `Simhash`."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise SpecError(f"cannot read the spec {text!r}: expected Name(field=value, ...)") from None
    spec = _build(node, text)
    if not isinstance(spec, kind):
        raise SpecError(f"{text!r} is not a {kind.__name__}")
    return spec


def _build(node: ast.expr, text: str) -> Spec:
    """One call of a registered spec name with literal arguments (or nested specs)."""
    if isinstance(node, ast.Name):
        node = ast.Call(func=node, args=[], keywords=[])
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        raise SpecError(f"cannot read the spec {text!r}: expected Name(field=value, ...)")
    name = node.func.id
    cls = Spec.registry.get(name)
    if cls is None:
        known = ", ".join(sorted(Spec.registry))
        raise SpecError(f"unknown spec {name!r} in {text!r}; known: {known}")
    args = [_value(arg, text) for arg in node.args]
    keywords = {str(k.arg): _value(k.value, text) for k in node.keywords}
    try:
        return cls(*args, **keywords)
    except TypeError as error:
        raise SpecError(f"{name}: {str(error).split(') ')[-1]}") from None


def _value(node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Call):
        return _build(node, text)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise SpecError(f"cannot read a value in the spec {text!r}") from None
