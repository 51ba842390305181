"""A recipe: the specs of all rooms together <-> TOML; its digest is stamped on every artefact."""

from __future__ import annotations

import dataclasses
import hashlib
import tomllib
from pathlib import Path
from typing import Any

from neardup.extract import Extract
from neardup.extract.templates import Templates
from neardup.fingerprints.exact import Exact
from neardup.fingerprints.minhash import MinHash
from neardup.fingerprints.mod_p import ModP
from neardup.fingerprints.simhash import Simhash
from neardup.resolve.order import Keep
from neardup.specs import Spec, SpecError, parse

Fingerprint = MinHash | ModP | Exact


class RecipeError(ValueError):
    """A recipe that does not exist or cannot be read."""


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What makes two pages duplicates, and which one stays."""

    name: str
    about: str
    extract: Extract = Extract()  # noqa: RUF009  (frozen)
    templates: Templates | None = None
    fingerprint: Fingerprint = MinHash(permutations=128, features="words:5")  # noqa: RUF009
    threshold: float = 0.8
    by: str = "resemblance"
    error: float = 0.01  # share of the pairs at the threshold that candidates may miss
    bucket: int = 64  # documents of one bucket that others are compared with
    min_tokens: int = 10  # shorter documents match only when their words are equal
    clusters: str = "stars"
    keep: str = "first"

    def __post_init__(self) -> None:
        _check(self.by in ("resemblance", "containment"), f"by: {self.by!r}")
        _check(self.clusters in ("stars", "components"), f"clusters: {self.clusters!r}")
        _check(0 < self.threshold <= 1, f"threshold: {self.threshold!r} is not in (0, 1]")
        _check(0 < self.error < 1, f"error: {self.error!r} is not between 0 and 1")
        _check(self.bucket >= 1, f"bucket: {self.bucket!r} is not 1 or more")
        Keep.parse(self.keep)

    @property
    def features(self) -> str:
        """The features that fingerprint and verification share."""
        return self.fingerprint.features if not isinstance(self.fingerprint, Exact) else "words:5"

    @property
    def digest(self) -> str:
        """16 hex digits that name all that this recipe means."""
        specs = [self.extract, self.templates, self.fingerprint]
        parts = [self.to_toml(), *(spec.digest for spec in specs if spec)]
        return hashlib.blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()

    def replace(self, **changes: Any) -> Recipe:
        """This recipe with options changed; containment brings its own fingerprint and order."""
        changes = {name: value for name, value in changes.items() if value is not None}
        if isinstance(self.fingerprint, Exact) and {"by", "threshold"} & set(changes):
            raise RecipeError(f"recipe {self.name}: equal words have no threshold and no measure")
        by = changes.get("by", self.by)
        if by == "containment" and isinstance(self.fingerprint, MinHash):
            changes.setdefault("fingerprint", ModP(features=self.features))
            changes.setdefault("keep", "longest" if self.keep == "first" else self.keep)
        return dataclasses.replace(self, **changes)

    def to_toml(self) -> str:
        """The recipe as a file that `Recipe.load` reads back."""
        lines = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is None:
                value = "none"
            if isinstance(value, str | Spec):
                lines.append(f"{field.name} = {_toml_string(str(value))}")
            else:
                lines.append(f"{field.name} = {value!r}")
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str, where: str = "recipe") -> Recipe:
        """Read what `to_toml` wrote; an unknown name or a wrong value is named."""
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise RecipeError(f"{where}: {error}") from None
        fields = {field.name: field for field in dataclasses.fields(cls)}
        for name, value in values.items():
            if name not in fields:
                known = ", ".join(fields)
                raise RecipeError(f"{where}: unknown option {name!r}; known: {known}")
            values[name] = _read(name, value, where)
        values.setdefault("name", Path(where).stem)
        values.setdefault("about", "")
        try:
            return cls(**values)
        except ValueError as error:
            raise RecipeError(f"{where}: {error}") from None

    @classmethod
    def load(cls, name: str | Path | Recipe) -> Recipe:
        """A recipe by its name, or from a TOML file."""
        if isinstance(name, Recipe):
            return name
        if str(name) in RECIPES:
            return RECIPES[str(name)]
        path = Path(name)
        if path.suffix == ".toml":
            try:
                return cls.from_toml(path.read_text("utf-8"), str(path))
            except (OSError, UnicodeDecodeError) as error:
                raise RecipeError(f"cannot read the recipe {path}: {error}") from None
        known = ", ".join(RECIPES)
        raise RecipeError(f"unknown recipe {str(name)!r}; known: {known}, or a .toml file")


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise RecipeError(message)


def _toml_string(text: str) -> str:
    """A literal string where it can be, so that specs read as they print."""
    if "'" not in text and text.isprintable():
        return f"'{text}'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'


def _read(name: str, value: Any, where: str) -> Any:
    """A TOML value as the field's type; specs are parsed, numbers and words checked."""
    kinds: dict[str, type[Spec]] = {"extract": Extract, "templates": Templates, "fingerprint": Spec}
    try:
        if name == "templates" and value == "none":
            return None
        if name in kinds:
            spec = parse(value, kinds[name])
            if isinstance(spec, Simhash) or (
                name == "fingerprint" and not isinstance(spec, Fingerprint)
            ):
                raise SpecError(f"{spec} gives no candidates; use MinHash, ModP or Exact")
            return spec
    except (SpecError, AttributeError) as error:
        raise RecipeError(f"{where}: {name}: {error}") from None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    wanted = {"threshold": number, "error": number}
    whole = {name: isinstance(value, int) and number for name in ("bucket", "min_tokens")}
    if not {**wanted, **whole}.get(name, isinstance(value, str)):
        raise RecipeError(f"{where}: {name} cannot be {value!r}")
    return value


RECIPES = {
    recipe.name: recipe
    for recipe in [
        Recipe(
            "web",
            "web pages: visible text without the site's template, five-word shingles",
            templates=Templates(),
        ),
        Recipe("text", "plain texts as they are, five-word shingles"),
        Recipe(
            "exact",
            "only pages whose words are the same, in the same order",
            fingerprint=Exact(),
            threshold=1.0,
        ),
    ]
}
