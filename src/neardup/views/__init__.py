"""Plain values -> pages a person looks at. Knows no room: it is handed strings and numbers.

Whatever is shown came from the web and is hostile: every value goes through `escape`, pages hold
no script, load nothing from outside and say so in their content security policy.
"""

from __future__ import annotations

from neardup.views.compare import comparison
from neardup.views.panes import Pane, Segment
from neardup.views.report import Cluster, Mirror, Report, Site, Skip, report

__all__ = [
    "Cluster",
    "Mirror",
    "Pane",
    "Report",
    "Segment",
    "Site",
    "Skip",
    "comparison",
    "report",
]
