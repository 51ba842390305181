"""PAGES -> DOCUMENTS: visible text, title, language and links of pages; main content; templates."""

from neardup.extract.documents import Extract, Scan, extract, links, scan

__all__ = ["Extract", "Scan", "extract", "links", "scan"]
