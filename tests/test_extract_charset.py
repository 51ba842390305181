"""Bytes to UTF-8: marks, declarations, guesses, and never an exception."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.extract.charset import codec, declared, guess, to_utf8

CHINESE = "这是一个关于中国的网页，我们在这里说的是人和国家的事。他们来到了这个地方，为了看一看。"
TRADITIONAL = "這是一個關於中國的網頁，我們在這裡說的是人和國家的事。他們來到了這個地方。"
JAPANESE = "これは日本語のページです。東京へ行きましたが、とても楽しかったです。"
KOREAN = "이것은 한국어로 된 문서입니다. 우리는 서울에서 사람들을 만나고 이야기를 했다."
RUSSIAN = "Это страница на русском языке, и в ней говорится о том, как жили люди в городе."
FRENCH = "Une soirée très agréable à la façade du château, où l'été était déjà passé."


@pytest.mark.parametrize(
    ("text", "name"),
    [(CHINESE, "gb18030"), (TRADITIONAL, "big5hkscs"), (JAPANESE, "cp932"), (JAPANESE, "euc_jp"),
     (KOREAN, "cp949"), (RUSSIAN, "cp1251"), (RUSSIAN, "koi8-r"), (FRENCH, "cp1252")],
)  # fmt: skip
def test_undeclared_pages_are_guessed(text: str, name: str) -> None:
    page = f"<html><body><p>{text}</p></body></html>".encode(name)
    assert guess(page) == name
    assert to_utf8(page).decode() == page.decode(name)


def test_order_of_trust() -> None:
    meta = '<meta charset="windows-1251">'
    russian = (meta + RUSSIAN).encode("cp1251")
    assert RUSSIAN in to_utf8(russian).decode()
    assert RUSSIAN in to_utf8((meta + RUSSIAN).encode("koi8-r"), "KOI8-R").decode()
    assert to_utf8(codecs.BOM_UTF8 + russian[:28] + "é".encode(), "koi8-r").decode().endswith("é")
    assert to_utf8(codecs.BOM_UTF16_LE + "<p>é".encode("utf-16-le")).decode() == "<p>é"
    assert to_utf8(FRENCH.encode(), "iso-8859-1").decode() == FRENCH
    assert to_utf8(('<meta charset="gbk">' + CHINESE).encode()).decode().endswith(CHINESE)


def test_declarations() -> None:
    assert declared(b"<META http-equiv=x content='text/html; charset=GB2312'>") == "gb18030"
    assert declared(b"<!-- <meta charset=koi8-r> --><meta charset='utf-16'>") == "utf-8"
    assert declared(b"<?xml version='1.0' encoding='Shift_JIS'?>") == "cp932"
    assert declared(b" " * 1024 + b"<meta charset=koi8-r>") is None
    for label, name in (("latin1", "cp1252"), ("US-ASCII", "cp1252"), (" x-sjis ", "cp932"),
                        ("ISO-8859-9", "cp1254"), ("utf8", "utf-8"), ("ks_c_5601-1987", "cp949"),
                        ("rot13", None), ("base64", None), ("idna", None), ("nonsense", None),
                        ("zip", None), ("\x00", None), ("unicode_escape", None)):  # fmt: skip
        assert codec(label) == name, label


def test_valid_utf8_is_not_copied() -> None:
    page = b"<p>caf\xc3\xa9"
    assert to_utf8(page) is page
    assert to_utf8(page, "utf-8") is page


@given(st.binary(max_size=200), st.none() | st.text(max_size=12) | st.sampled_from(
    ["utf-8", "utf-16", "utf-7", "iso-2022-jp", "hz", "gb18030", "big5", "utf-32", "mbcs", "oem"]
))  # fmt: skip
def test_nothing_raises(page: bytes, label: str | None) -> None:
    to_utf8(page, label).decode("utf-8")
