"""Stop words: the commonest function words of a few languages, or the user's own.

The lists are short on purpose: a stop list is part of what a fingerprint means, so they change
only with a new name.
"""

from __future__ import annotations

from neardup.specs import SpecError

_LISTS = {
    "en": "a an and are as at be been but by can could did do does for from had has have he her "
    "his how i if in into is it its may me more my no not of on one or our out she should "
    "so some such than that the their them then there these they this those to up us was "
    "we were what when which who will with would you your",
    "de": "aber als am an auch auf aus bei bin bis da das dass dem den der des die doch du ein "
    "eine einem einen einer eines er es für hat hatte ich ihr im in ist ja kann man mich "
    "mir mit nach nicht noch nur oder sein seine sich sie sind so über um und uns unter "
    "vom von vor war was wenn werden wie wir wird zu zum zur",
    "fr": "a au aux avec ce ces cette dans de des du elle elles en est et être eu il ils je la "
    "le les leur leurs lui mais me même ne nous on ou où par pas plus pour qu que qui sa "
    "sans se ses si son sont sur tu un une vos votre vous",
    "es": "a al ante como con de del desde donde el ella ellas ellos en entre era es esta este "
    "esto fue ha han hay la las le les lo los más me mi muy no nos o para pero por que "
    "quien se ser si sin sobre son su sus también un una unas uno unos y ya yo",
    "it": "a ad ai al alla alle anche che chi ci come con da dal dalla dei del della delle di e "
    "è ed era essere gli ha hanno i il in io la le lo loro ma mi ne nel nella non o per "
    "più quale quando questa questo se si sono su sua sue sui sul suo tra un una uno",
    "pt": "a ao aos as até com como da das de do dos e ela elas ele eles em entre era essa esse "
    "esta este eu foi há isso já lhe mais mas me na nas no nos não o os ou para pela pelo "
    "por qual que quem se sem ser seu seus só sua suas são também um uma você",
    "nl": "aan al als bij dan dat de der des deze die dit door een en er geen had heb hebben "
    "heeft het hij hoe hun ik in is je kan maar me men met mij mijn naar niet nog nu of "
    "om onder ook op over te tot uit van veel voor was wat we wel werd wie wij wordt zal "
    "ze zich zij zijn zo zou",
}  # fmt: skip


def stop_words(names: str) -> frozenset[str]:
    """The stop words named by `stop=` in a features string: a language, or `+foo+bar`."""
    if names.startswith("+"):
        return frozenset(names.lower().split("+")[1:])
    if names not in _LISTS:
        raise SpecError(f"no stop words for {names!r}; known: {', '.join(sorted(_LISTS))}")
    return frozenset(_LISTS[names].split())
