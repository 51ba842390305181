"""The stack of open elements: enough of tree construction to know what is hidden where.

HTML standard, sections 13.2.4.2 and 13.2.6. Texts stay in source order (no foster parenting)
and formatting elements are not reopened. Depth is bounded as in browsers: deeper elements
become siblings, so each tag costs at most one walk of the stack.
"""

from __future__ import annotations

from neardup.extract import tags as t
from neardup.extract.markup import SPANS
from neardup.kernels import I64, kernel

DEPTH = 512  # the bound browsers use
TAG, PLACE, KEY = 0, 1, 2  # of each open element
# The rest of `state`: how many elements are open, whether a form is, how many of each element,
# then three numbers for each open element.
TOP = SPANS + 2 * len(t.ATTRIBUTES)
FORM_OPEN = TOP + 1
COUNTS = FORM_OPEN + 1
STACK = COUNTS + len(t.NAMES)
STATE_ROWS = STACK + 3 * DEPTH

_NO_STOP, _NO_KEY = t.whole(0), t.whole(0)


@kernel
def place_of_top(state: I64) -> int:
    """The place bits of the innermost open element."""
    return state[STACK + 3 * (state[TOP] - 1) + PLACE] if state[TOP] else 0


@kernel
def pop_to(depth: int, state: I64) -> None:
    """Close elements until `depth` are open."""
    while state[TOP] > depth:
        state[TOP] -= 1
        state[COUNTS + state[STACK + 3 * (state[TOP]) + TAG]] -= 1


@kernel
def push(tag: int, key: int, place: int, state: I64) -> None:
    """Open an element; at the bound it takes the place of its sibling."""
    if state[TOP] == DEPTH:
        pop_to(DEPTH - 1, state)
    top = state[TOP]
    inherited = state[STACK + 3 * (top - 1) + PLACE] if top else 0
    if tag == t.INTEGRATION:
        inherited &= ~t.FOREIGN
    state[STACK + 3 * top + TAG], state[STACK + 3 * top + PLACE], state[STACK + 3 * top + KEY] = (
        tag,
        inherited | place,
        key,
    )
    state[COUNTS + tag] += 1
    state[TOP] = top + 1


@kernel
def _find_open(tag: int, key: int, stops: int, state: I64, tables: I64) -> int:
    """Depth of the innermost open `tag`, not looking beyond an element of kind `stops`; or -1.

    Any heading answers for a heading. A list item stops at its list, a paragraph at a button.
    """
    heading = tables[t.KINDS + tag] & t.HEADING
    if state[COUNTS + tag] == 0 and not heading:
        return -1
    for depth in range(state[TOP] - 1, -1, -1):
        here = state[STACK + 3 * depth + TAG]
        if here == tag and (tag != t.UNKNOWN or state[STACK + 3 * depth + KEY] == key):
            return depth
        kind = tables[t.KINDS + here]
        if heading and kind & t.HEADING:
            return depth
        if kind & stops:
            return -1
        if (tag == t.P and here == t.BUTTON) or (tag == t.LI and (here == t.OL or here == t.UL)):
            return -1
    return -1


@kernel
def _close(tag: int, key: int, stops: int, state: I64, tables: I64) -> None:
    depth = _find_open(tag, key, stops, state, tables)
    if depth >= 0:
        pop_to(depth, state)


@kernel
def _close_formatting(tag: int, state: I64, tables: I64) -> None:
    """The adoption agency, as far as it changes the stack: blocks opened inside stay open."""
    depth = _find_open(tag, _NO_KEY, t.SCOPE, state, tables)
    if depth < 0:
        return
    block = depth + 1
    while block < state[TOP] and not tables[t.KINDS + state[STACK + 3 * block + TAG]] & t.SPECIAL:
        block += 1
    if block == state[TOP]:
        pop_to(depth, state)
        return
    for row in range(depth, block):
        state[COUNTS + state[STACK + 3 * row + TAG]] -= 1
        state[COUNTS + t.CLOSED] += 1
        state[STACK + 3 * row + TAG] = t.CLOSED
    for row in range(depth, state[TOP]):
        state[STACK + 3 * row + PLACE] &= ~t.LINK


@kernel
def _close_item(tag: int, state: I64, tables: I64) -> None:
    """An item's start tag closes the item before it (`li`; `dd` and `dt`)."""
    for depth in range(state[TOP] - 1, -1, -1):
        here = state[STACK + 3 * depth + TAG]
        if here == tag or (tag != t.LI and (here == t.DD or here == t.DT)):
            pop_to(depth, state)
            return
        if (
            here != t.ADDRESS
            and here != t.DIV
            and here != t.P
            and tables[t.KINDS + here] & t.SPECIAL
        ):
            return


@kernel
def _table_depth(state: I64) -> tuple[int, bool]:
    """Depth of the innermost table, or -1; whether a cell or caption of it is open."""
    inside = False
    if state[COUNTS + t.TABLE] == 0:
        return -1, inside
    for depth in range(state[TOP] - 1, -1, -1):
        here = state[STACK + 3 * depth + TAG]
        if here == t.TABLE:
            return depth, inside
        if here == t.TEMPLATE:
            return -1, inside
        inside |= here == t.TD or here == t.TH or here == t.CAPTION
    return -1, inside


@kernel
def _open_in_table(tag: int, state: I64) -> bool:
    """Close what a table part's start tag ends; False if the tag is to be ignored."""
    table, inside = _table_depth(state)
    if tag == t.TABLE:
        if table >= 0 and not inside:
            pop_to(table, state)
        return True
    if table < 0:
        return False
    keep = table + 1
    if tag == t.TR or tag == t.TD or tag == t.TH:
        for depth in range(table + 1, state[TOP]):
            here = state[STACK + 3 * depth + TAG]
            body = here == t.TBODY or here == t.THEAD or here == t.TFOOT
            if body or (here == t.TR and tag != t.TR):
                keep = depth + 1
    pop_to(keep, state)
    return True


@kernel
def open_element(tag: int, key: int, closing: bool, place: int, state: I64, tables: I64) -> None:
    """A start tag: close what it implies, then put it on the stack."""
    kind = tables[t.KINDS + tag]
    top = place_of_top(state)
    if top & t.FOREIGN:
        if not kind & t.BREAKOUT:
            point = tag == t.FOREIGNOBJECT or tag == t.DESC or tag == t.TITLE
            if not closing:
                push(t.INTEGRATION if point else t.UNKNOWN, key, place | t.FOREIGN * (not point),
                     state)  # fmt: skip
            return
        while place_of_top(state) & t.FOREIGN:
            pop_to(state[TOP] - 1, state)
    if state[TOP] and state[STACK + 3 * (state[TOP] - 1) + TAG] == t.SELECT:
        if tag != t.INPUT and tag != t.TEXTAREA and tag != t.SELECT:
            return
        pop_to(state[TOP] - 1, state)
        if tag == t.SELECT:
            return
    if kind & t.CLOSES_P:
        _close(t.P, _NO_KEY, t.SCOPE, state, tables)
    here = state[STACK + 3 * (state[TOP] - 1) + TAG] if state[TOP] else 0
    if kind & t.HEADING and tables[t.KINDS + here] & t.HEADING:
        pop_to(state[TOP] - 1, state)
    elif tag == t.LI or tag == t.DD or tag == t.DT:
        _close_item(tag, state, tables)
        _close(t.P, _NO_KEY, t.SCOPE, state, tables)
    elif (tag == t.RT or tag == t.RP) and (here == t.RT or here == t.RP):
        pop_to(state[TOP] - 1, state)
    elif tag == t.BUTTON:
        _close(tag, _NO_KEY, t.SCOPE, state, tables)
    elif tag == t.A or tag == t.NOBR:
        _close_formatting(tag, state, tables)
    elif tag == t.FORM and _form_ignored(state):
        return
    if kind & t.TABLE_PART and not _open_in_table(tag, state):
        return
    if kind & (t.VOID | t.DROPPED):
        return
    if tag == t.SVG or tag == t.MATH:
        if closing:
            return
        place |= t.FOREIGN
    push(tag, key, place, state)


@kernel
def _form_ignored(state: I64) -> bool:
    """A form inside a form does not exist; one between table parts contains nothing."""
    if state[FORM_OPEN]:
        return True
    state[FORM_OPEN] = 1
    table, inside = _table_depth(state)
    return table >= 0 and not inside


@kernel
def _close_form(state: I64, tables: I64) -> None:
    """A form ends for itself: what was opened inside and not closed stays open."""
    state[FORM_OPEN] = 0
    depth = _find_open(t.FORM, _NO_KEY, t.SCOPE, state, tables)
    if depth < 0:
        return
    last = state[TOP] - 1
    while last > depth and tables[t.KINDS + state[STACK + 3 * last + TAG]] & t.IMPLIED:
        last -= 1
    pop_to(last + 1, state)
    if last == depth:
        pop_to(depth, state)
        return
    state[STACK + 3 * depth + TAG] = t.CLOSED
    state[COUNTS + t.FORM] -= 1
    state[COUNTS + t.CLOSED] += 1


@kernel
def close_element(tag: int, key: int, state: I64, tables: I64) -> None:
    """An end tag: close the element it names, if it may."""
    for depth in range(state[TOP] - 1, -1, -1):
        if not state[STACK + 3 * depth + PLACE] & t.FOREIGN:
            break
        if state[STACK + 3 * depth + KEY] == key:
            pop_to(depth, state)
            return
    kind = tables[t.KINDS + tag]
    if tag == t.FORM:
        _close_form(state, tables)
    elif kind & t.FORMAT:
        _close_formatting(tag, state, tables)
    elif kind & t.TABLE_PART:
        table, _ = _table_depth(state)
        depth = _find_open(tag, key, _NO_STOP, state, tables)
        if depth >= table >= 0:
            pop_to(depth, state)
    elif kind & t.SCOPED or tag == t.P or tag == t.LI:
        _close(tag, key, t.SCOPE, state, tables)
    elif tag == t.FOREIGNOBJECT or tag == t.DESC or tag == t.TITLE:
        _close(t.INTEGRATION, _NO_KEY, _NO_STOP, state, tables)
    elif tag == t.TEMPLATE or tag == t.SELECT:
        _close(tag, key, _NO_STOP, state, tables)
    else:
        _close(tag, key, t.SPECIAL, state, tables)
