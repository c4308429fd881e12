"""What could have been meant by an unknown name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

MOST_MEANT = 10_000
"""Names among which the one that was meant is looked for."""
OTHER_NAMES = {
    "acc": ("accuracy", "exact_match"),
    "accnorm": ("acc_norm", "accuracy"),
    "em": ("exact_match", "accuracy"),
    "exactmatch": ("exact_match", "accuracy"),
    "passat1": ("accuracy",),
    "average": ("mean",),
    "avg": ("mean",),
    "f": ("fscore",),
    "f1": ("fscore",),
    "f1score": ("fscore",),
    "microf1": ("fscore",),
    "p": ("precision",),
    "r": ("recall",),
    "chrfpp": ("chrf++",),
    "pearson": ("correlation",),
    "pearsonr": ("correlation",),
    "spearmanr": ("spearman",),
    "kendalltau": ("kendall",),
    "rocauc": ("auc",),
}
"""What other tools call metrics, without case and signs."""


def meant(name: str, known: Iterable[str]) -> list[str]:
    """The known names that an unknown one is likely to mean, the likeliest first: by other names, then by spelling.

    Example:
        >>> [meant(name, ["accuracy", "bleu", "chrf", "chrf++"]) for name in ("acc", "BLEU", "chrF2", "acuracy", "x")]
        [['accuracy'], ['bleu'], ['chrf'], ['accuracy'], []]
    """
    known = list(known)[:MOST_MEANT]
    plain = _plain(name)
    others = [other for other in OTHER_NAMES.get(plain, ()) if other in known]
    same = [other for other in known if _plain(other) == plain]
    if others or same:
        return others or same
    by_lower = {other.lower(): other for other in known}
    close, closer = (get_close_matches(name.lower(), by_lower, cutoff=cutoff) for cutoff in (0.6, 0.8))
    return [by_lower[match] for match in closer or close]


def _plain(name: str) -> str:
    """The name without case and signs, and without the usual numbers of chrF2 and BLEU-4."""
    plain = re.sub(r"[\s_.-]+", "", name.lower())
    return {"chrf2": "chrf", "chrf2++": "chrf++", "bleu4": "bleu", "sacrebleu": "bleu"}.get(plain, plain)
