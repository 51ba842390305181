"""The report and the comparison in a real browser: nothing runs, nothing is loaded from outside."""

from __future__ import annotations

import os
import shutil

import pyarrow as pa
import pytest

import neardup
from neardup.corpus import open_corpus
from neardup.recipe import Recipe
from neardup.runners.output import run
from tests.prose import article, edited

CHROMIUM = os.environ.get("NEARDUP_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: chromium)")

HOSTILE = '"><script>document.title="owned"</script><img src=http://127.0.0.1:9/x onerror=alert(1)>'


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    flags = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    if os.geteuid() == 0:
        flags.append("--no-sandbox")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A report and a comparison full of hostile ids, URLs and texts."""
    folder = tmp_path_factory.mktemp("pages")
    text = f"{article(1)} {HOSTILE}"
    table = pa.table(
        {
            "id": ["one", f"two {HOSTILE}", "three \x1b[31m\u202e"],
            "url": ["javascript:alert(1)", f"http://x.example/{HOSTILE}", "http://y.example/"],
            "text": [text, edited(text, 3), edited(text, 4)],
        }
    )
    run(open_corpus(table), folder / "out", Recipe.load("text"), source=HOSTILE)
    comparison = folder / "comparison.html"
    comparison.write_text(neardup.compare(text, edited(text, 5)).to_html(), "utf-8")
    return [folder / "out" / "report.html", comparison]


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_runs_nothing_loads_nothing_and_fits(browser, pages, width, scheme):
    for path in pages:
        view = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        requests, messages = [], []
        view.on("request", lambda request, seen=requests: seen.append(request.url))
        view.on("console", lambda message, seen=messages: seen.append(message.text))
        view.on("dialog", lambda dialog, seen=messages: seen.append(dialog.message))
        view.goto(path.as_uri())
        assert requests == [path.as_uri()]
        assert messages == []
        assert "owned" not in (view.title(), view.evaluate("document.title"))
        assert view.locator("script, img, iframe, object, link[rel=stylesheet]").count() == 0
        assert view.locator('a[href^="javascript"]').count() == 0
        assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert view.locator("mark").count() > 0
        view.close()
