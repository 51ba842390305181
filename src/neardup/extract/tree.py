"""The stack of open elements: enough of tree construction to know what is hidden where.

HTML standard, sections 13.2.4.2 and 13.2.6. Texts stay in source order (no foster parenting)
and formatting elements are not reopened. Depth is bounded as in browsers: deeper elements
become siblings, so each tag costs at most one walk of the stack.
"""

from __future__ import annotations

from neardup.extract import tags as t
from neardup.extract.markup import SPANS
from neardup.extract.tags import Int
from neardup.kernels import I64, kernel

DEPTH = 512  # the bound browsers use
TAG, PLACE, KEY = 0, 1, 2  # of each open element
# The rest of `state`: the place of the innermost open element, how many are open, whether a
# form is, how many of each element, then three numbers for each open element.
HERE = SPANS + 2 * len(t.ATTRIBUTES)
TOP = HERE + 1
FORM_OPEN = TOP + 1
COUNTS = FORM_OPEN + 1
STACK = COUNTS + len(t.NAMES)
STATE_ROWS = STACK + 3 * DEPTH

_NO_STOP, _NO_KEY = t.whole(0), t.whole(0)


@kernel
def pop_to(depth: Int, state: I64) -> None:
    """Close elements until `depth` are open."""
    while state[TOP] > depth:
        state[TOP] -= 1
        state[COUNTS + state[STACK + 3 * state[TOP] + TAG]] -= 1
    state[HERE] = state[STACK + 3 * (state[TOP] - 1) + PLACE] if state[TOP] else 0


@kernel
def _push(tag: Int, key: Int, place: Int, state: I64) -> None:
    """Open an element; at the bound it takes the place of its sibling."""
    if state[TOP] == DEPTH:
        pop_to(DEPTH - 1, state)
    inherited = state[HERE]
    if tag == t.INTEGRATION:
        inherited &= ~t.FOREIGN
    at = STACK + 3 * state[TOP]
    state[HERE] = inherited | place
    state[at + TAG], state[at + PLACE], state[at + KEY] = tag, state[HERE], key
    state[COUNTS + tag] += 1
    state[TOP] += 1


@kernel
def _find_open(tag: Int, key: Int, stops: Int, state: I64, tables: I64) -> Int:
    """Depth of the innermost open `tag`, not looking beyond an element of kind `stops`.

    The number of open elements where there is none. Any heading answers for a heading; a list
    item stops at its list, a paragraph at a button.
    """
    heading = tables[t.KINDS + tag] & t.HEADING
    if state[COUNTS + tag] == 0 and not heading:
        return state[TOP]
    for depth in range(state[TOP] - 1, -1, -1):
        here = state[STACK + 3 * depth + TAG]
        if here == tag and (tag != t.UNKNOWN or state[STACK + 3 * depth + KEY] == key):
            return depth
        kind = tables[t.KINDS + here]
        if heading and kind & t.HEADING:
            return depth
        listed = tag == t.LI and (here == t.OL or here == t.UL)
        if kind & stops or listed or (tag == t.P and here == t.BUTTON):
            return state[TOP]
    return state[TOP]


@kernel
def _close_formatting(tag: Int, state: I64, tables: I64) -> None:
    """The adoption agency, as far as it changes the stack: blocks opened inside stay open.

    A form ends the same way, with the items and paragraphs whose end tags may be left out.
    """
    depth = _find_open(tag, _NO_KEY, t.SCOPE, state, tables)
    block = depth + 1
    while block < state[TOP]:
        kind = tables[t.KINDS + state[STACK + 3 * block + TAG]]
        if kind & t.SPECIAL and not (tag == t.FORM and kind & t.IMPLIED):
            break
        block += 1
    if block >= state[TOP]:
        pop_to(depth, state)
        return
    for row in range(depth, block):
        state[COUNTS + state[STACK + 3 * row + TAG]] -= 1
        state[COUNTS + t.CLOSED] += 1
        state[STACK + 3 * row + TAG] = t.CLOSED
    if tag == t.A:
        for row in range(depth, state[TOP]):
            state[STACK + 3 * row + PLACE] &= ~t.LINK
        state[HERE] &= ~t.LINK


@kernel
def _close_item(tag: Int, state: I64, tables: I64) -> None:
    """An item's start tag closes the item before it (`li`; `dd` and `dt`)."""
    for depth in range(state[TOP] - 1, -1, -1):
        here = state[STACK + 3 * depth + TAG]
        if here == tag or (tag != t.LI and (here == t.DD or here == t.DT)):
            pop_to(depth, state)
            return
        kind = tables[t.KINDS + here]
        if kind & t.SPECIAL and here != t.ADDRESS and here != t.DIV and here != t.P:
            return


@kernel
def _table_depth(state: I64) -> tuple[Int, Int]:
    """Depth of the innermost table, or -1; whether a cell or caption of it is open."""
    inside = 0
    if state[COUNTS + t.TABLE] == 0:
        return -1, inside
    for depth in range(state[TOP] - 1, -1, -1):
        here = state[STACK + 3 * depth + TAG]
        if here == t.TABLE:
            return depth, inside
        if here == t.TEMPLATE:
            return -1, inside
        if here == t.TD or here == t.TH or here == t.CAPTION:
            inside = 1
    return -1, inside


@kernel
def _open_in_table(tag: Int, state: I64) -> bool:
    """Close what a table part's (or form's) start tag ends; False if the tag is to be ignored.

    A part needs its table. A form inside a form does not exist, and one between table parts
    contains nothing.
    """
    table, inside = _table_depth(state)
    if tag == t.FORM:
        ignored = state[FORM_OPEN] != 0 or (table >= 0 and inside == 0)
        state[FORM_OPEN] = 1
        return not ignored
    if tag == t.TABLE:
        if table >= 0 and inside == 0:
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
def _open_foreign(tag: Int, key: Int, closing: Int, place: Int, state: I64, tables: I64) -> bool:
    """A start tag inside svg or math: False if it ends them and is to be read as HTML."""
    if tables[t.KINDS + tag] & t.BREAKOUT:
        while state[HERE] & t.FOREIGN:
            pop_to(state[TOP] - 1, state)
        return False
    if not closing:
        if tag == t.FOREIGNOBJECT or tag == t.DESC or tag == t.TITLE:
            tag = t.INTEGRATION
        else:
            tag, place = t.UNKNOWN, place | t.FOREIGN
        _push(tag, key, place, state)
    return True


@kernel
def open_element(tag: Int, key: Int, closing: Int, place: Int, state: I64, tables: I64) -> None:
    """A start tag: close what it implies, then put it on the stack."""
    kind = tables[t.KINDS + tag]
    if state[HERE] & t.FOREIGN and _open_foreign(tag, key, closing, place, state, tables):
        return
    here = state[STACK + 3 * (state[TOP] - 1) + TAG] if state[TOP] else 0
    if here == t.SELECT:
        if tag != t.INPUT and tag != t.TEXTAREA and tag != t.SELECT:
            return
        pop_to(state[TOP] - 1, state)
        if tag == t.SELECT:
            return
    if tag == t.LI or tag == t.DD or tag == t.DT:
        _close_item(tag, state, tables)
    if kind & t.CLOSES_P:
        pop_to(_find_open(t.P, _NO_KEY, t.SCOPE, state, tables), state)
        here = state[STACK + 3 * (state[TOP] - 1) + TAG] if state[TOP] else 0
    ruby = (tag == t.RT or tag == t.RP) and (here == t.RT or here == t.RP)
    if ruby or kind & tables[t.KINDS + here] & t.HEADING:
        pop_to(state[TOP] - 1, state)
    elif tag == t.BUTTON:
        pop_to(_find_open(tag, _NO_KEY, t.SCOPE, state, tables), state)
    elif tag == t.A or tag == t.NOBR:
        _close_formatting(tag, state, tables)
    elif (kind & t.TABLE_PART or tag == t.FORM) and not _open_in_table(tag, state):
        return
    if tag == t.SVG or tag == t.MATH:
        if closing:
            return
        place |= t.FOREIGN
    if not kind & (t.VOID | t.DROPPED):
        _push(tag, key, place, state)


@kernel
def close_element(tag: Int, key: Int, state: I64, tables: I64) -> None:
    """An end tag: close the element it names, if it may."""
    depth = state[TOP] - 1
    while depth >= 0 and state[STACK + 3 * depth + PLACE] & t.FOREIGN:
        if state[STACK + 3 * depth + KEY] == key:
            pop_to(depth, state)
            return
        depth -= 1
    kind = tables[t.KINDS + tag]
    if kind & t.FORMAT or tag == t.FORM:
        state[FORM_OPEN] *= tag != t.FORM
        _close_formatting(tag, state, tables)
        return
    if tag == t.FOREIGNOBJECT or tag == t.DESC or tag == t.TITLE:
        tag = t.INTEGRATION
    stops = t.SPECIAL
    if kind & t.SCOPED:
        stops = t.SCOPE
    elif kind & t.TABLE_PART or tag == t.TEMPLATE or tag == t.SELECT or tag == t.INTEGRATION:
        stops = _NO_STOP
    depth = _find_open(tag, key, stops, state, tables)
    if kind & t.TABLE_PART and depth < _table_depth(state)[0]:
        return
    pop_to(depth, state)
