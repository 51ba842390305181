"""Reports: every value escaped, nothing loaded or run, and the numbers where they belong."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.views import Cluster, Mirror, Pane, Report, Site, Skip, comparison, report
from neardup.views.charts import bars, percent, stack
from neardup.views.escape import escape, link
from neardup.views.panes import shorten
from neardup.views.report import render
from neardup.views.terminal import clean, columns, markup

EVIL = "</title></style><script>alert(1)</script>\u202e\x1b[31m\x00\ud800\" onload='x' &amp;"


def example(text: str = "tide mill", url: str | None = "https://a.example/x") -> Report:
    """A report whose every string is `text`."""
    panes = (
        Pane(text, [(text, True), ("only here", False)], url, text),
        Pane(text, [(text, True)], url),
    )
    return Report(
        source=text,
        recipe=text,
        keep=text,
        threshold=0.8,
        pages=1_204_118,
        kept=861_340,
        exact=211_004,
        near=131_774,
        contained=0,
        short=40,
        empty=8,
        candidates=1_931_442,
        verified=1_900_000,
        pairs_cut=14,
        seconds=311.7,
        version=text,
        sizes={2: 81_233, 3: 20_311, 7: 12, 1000: 1},
        similarities=[(0.8, 0.9, 100_000), (0.9, 1.0, 31_774), (1.0, 1.0, 211_004)],
        clusters=[Cluster(text, 1000, 0.81, 1.0, url, text, panes)],
        sites=[Site(text, 100, 60, 31)],
        mirrors=[Mirror(text, text, 99, 0.99, text, text)],
        skips=[Skip(text, 33, [text, text])],
    )


class Reader(HTMLParser):
    """Collects tags and attributes, and checks that what is opened is closed."""

    void = frozenset({"meta", "link", "br", "rect"})

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(document)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def assert_harmless(document: str) -> Reader:
    read = Reader(document)
    assert not {"script", "iframe", "object", "embed", "img", "base", "form"} & set(read.tags)
    for name, value in read.attributes:
        assert not name.startswith("on")
        assert name != "src"
        if name == "href":
            assert value is not None
            assert re.match(r"https?://|data:,$", value)
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in document
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", document)
    document.encode("utf-8")
    return read


def test_the_report_says_what_happened(tmp_path: Path) -> None:
    report(example(), tmp_path / "report.html")
    read = assert_harmless((tmp_path / "report.html").read_text(encoding="utf-8"))
    for expected in (
        "342,778 of 1,204,118 pages are copies", "861,340", "28.5 %", "3,863", "211,004", "131,774",
        "1,931,442", "1,900,000", "311.7 s", "Pairs cut", "0.81–1.00", "Mirrored hosts",
        "40.0 %", "99.0 %", "Skipped records", "only here", "5–8", "513–1024", "0.80–0.90",
    ):  # fmt: skip
        assert expected in read.text, expected
    assert read.tags.count("caption") == read.tags.count("table") == 5
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_an_empty_run_has_a_report() -> None:
    empty = {
        f.name: 0
        for f in dataclasses.fields(Report)
        if f.type == "int" and f.default is dataclasses.MISSING
    }
    data = Report(source="x", recipe="web", keep="first", threshold=0.8, seconds=0.0, **empty)
    read = assert_harmless(render(data))
    assert "0 of 0 pages" in read.text
    assert "Largest clusters" not in read.text


@pytest.mark.parametrize("url", [None, "javascript:alert(1)", EVIL, "https://x.example/" + EVIL])
def test_hostile_values_do_nothing(url: str | None) -> None:
    read = assert_harmless(render(example(EVIL, url)))
    assert "alert(1)" in read.text  # shown, not run
    assert not any(name == "href" and value != "data:," for name, value in read.attributes)
    pane = Pane(EVIL, [(EVIL, True)], url, EVIL)
    signals = [{"signal": EVIL, "value": EVIL, "meaning": EVIL}]
    assert_harmless(comparison(EVIL, 0.5, signals, (pane, pane)))


@given(st.text(), st.text())
def test_any_text_is_harmless(text: str, url: str) -> None:
    assert_harmless(render(example(text, url)))


def test_only_web_links_are_live() -> None:
    assert link("https://a.example/?q=1&r=2") == (
        '<a href="https://a.example/?q=1&amp;r=2" rel="noreferrer noopener">'
        "<bdi>https://a.example/?q=1&amp;r=2</bdi></a>"
    )
    for dead in ("ftp://a.example", "java\nscript:x", " https://a", "data:text/html,x", "//a", ""):
        assert "<a" not in link(dead)
    assert link("HTTP://A.example", "b" * 999).count("b") < 200


def test_escape_marks_what_cannot_be_printed() -> None:
    assert escape("a\x00b\ud800c\x9bd\te\n") == "a\ufffdb\ufffdc\ufffdd\te\n"
    assert escape("<'\"&>") == "&lt;&#x27;&quot;&amp;&gt;"


def test_rows_and_clusters_are_bounded() -> None:
    data = dataclasses.replace(
        example(),
        clusters=example().clusters * 5000,
        sites=example().sites * 5000,
        mirrors=example().mirrors * 5000,
    )
    document = render(data)
    assert len(document) < 200_000
    assert "(the first 100 of 5,000)" in document


def test_charts() -> None:
    drawn = bars([("2", 1_000_000), ("3", 1), ("4", 0)], "sizes", log=True)
    assert re.findall(r'width="([\d.]+)" height="16"', drawn)[2] == "0.0"
    linear = re.findall(r'width="([\d.]+)" height="16"', bars([("2", 10**6), ("3", 1)], "sizes"))
    assert float(linear[1]) == 1.5  # still to be seen
    assert "50.0 %" in stack([("kept", 5), ("gone", 5)], "share")
    assert bars([], "nothing").startswith("<svg")
    assert [percent(0, 9), percent(1, 10**6), percent(10**6 - 1, 10**6), percent(9, 9)] == [
        "0.0 %", "< 0.1 %", "> 99.9 %", "100.0 %",
    ]  # fmt: skip


def test_long_texts_are_shortened_around_differences() -> None:
    segments = [("s" * 9000, True), ("the difference", False), ("t" * 9000, True)]
    short = shorten(segments, 2000)
    assert ("the difference", False) in short
    assert sum(len(text) for text, _ in short) <= 2000
    assert all("…" in text for text, shared in short if shared)
    assert shorten(segments, 10**6) == segments


@given(st.lists(st.tuples(st.text(max_size=400), st.booleans()), max_size=40))
def test_shortened_text_is_bounded(segments: list[tuple[str, bool]]) -> None:
    assert sum(len(text) for text, _ in shorten(segments, 300)) <= 302


def test_terminal_text_cannot_steer_the_terminal() -> None:
    assert clean("a\x1b[31mred\x1b[0m\x1b]0;title\x07 b\r\n\tc\u202e\x9b2Jd\x00") == "ared b cd"
    assert clean("x" * 50, 10) == "x" * 9 + "…"
    assert clean("茶园的春天", 6) == "茶园…"
    assert columns("茶a\u0301") == 3
    assert markup("[red]x[/red] [link=file:///etc]y") == r"\[red]x\[/red] \[link=file:///etc]y"


@given(st.text(), st.integers(1, 30))
def test_terminal_text_is_printable_and_fits(text: str, width: int) -> None:
    shown = clean(text, width)
    assert columns(shown) <= width
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", shown)


def _luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb` (WCAG 2.1)."""
    digits = colour.lstrip("#")
    digits = "".join(c * 2 for c in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_colours_can_be_read_in_light_and_dark() -> None:
    palettes = re.findall(r":root \{(.*?)\}", render(example()), re.DOTALL)
    assert len(palettes) == 2
    for palette in palettes:
        colours = dict(re.findall(r"--([\w-]+): (#\w+);", palette))
        pairs = [
            ("ink", "paper"), ("ink", "soft"), ("muted", "paper"), ("muted", "soft"),
            ("link", "paper"), ("ink", "shared"), ("only", "only-paper"),
        ]  # fmt: skip
        for text, ground, least in [
            *((text, ground, 4.5) for text, ground in pairs),
            *((f"part{i}", "paper", 3.0) for i in range(4)),
        ]:
            light, dark = sorted([_luminance(colours[text]), _luminance(colours[ground])])[::-1]
            assert (light + 0.05) / (dark + 0.05) >= least, (text, ground)
