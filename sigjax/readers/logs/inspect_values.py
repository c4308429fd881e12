"""What a score of Inspect is as a number, by the rules of Inspect itself."""

import math

from sigjax.readers.json_files import Object, as_object, number, text
from sigjax.readers.logs.scores import Unusable
from sigjax.readers.numerals import parse_number
from sigjax.readers.options import show
from sigjax.readers.table import is_text
from sigjax.records import InputError

_WORDS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def sample_scores(sample: Object, where: str) -> dict[str, float | Unusable]:
    """Name of each scorer, or SCORER/KEY where its value has parts -> the value; without those left unscored.

    Example:
        >>> sample_scores({"scores": {"a": {"value": "C"}, "b": {"value": {"tone": 3, "fact": None}}}}, "log")
        {'a': 1.0, 'b/tone': 3.0}
    """
    found: dict[str, float | Unusable] = {}
    for scorer, score in as_object(sample.get("scores") or {}, f"{where}, field 'scores'").items():
        place = f"{where}, score {show(text(scorer, where))}"
        value = as_object(score, place).get("value")
        parts = {f"{scorer}/{key}": part for key, part in value.items()} if isinstance(value, dict) else {scorer: value}
        for name, part in parts.items():
            as_number = _value(part, place)
            if as_number is not None:
                found[name] = as_number
    return found


def _value(value: object, place: str) -> float | Unusable | None:
    """A value as a number; None where the sample was left unscored."""
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _WORDS:
            return _WORDS[word]
        return _numeral(word, place)
    if isinstance(value, list | dict):
        return Unusable(f"{place}: expected one value, got several in one; name another score with --metric NAME")
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return number(value, place)


def _numeral(word: str, place: str) -> float | Unusable | None:
    """A text as a number; None where it is NaN."""
    if word.strip("+-") == "nan":
        return None
    remedy = "name another score with --metric NAME"
    if is_text(word):
        what = f"expected C, I, P, N, yes, no or a number, got the text {show(word)}"
        return Unusable(f"{place}: {what}; {remedy}")
    try:
        return parse_number(word, hint=remedy, missing=remedy)
    except InputError as error:
        return Unusable(f"{place}: {error}")
