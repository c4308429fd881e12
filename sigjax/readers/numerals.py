"""Numbers as files spell them, and what stands for a missing one."""

import math
import re
from collections.abc import Sequence

import numpy as np

from sigjax.metrics.arrays import LARGEST_WHOLE
from sigjax.readers.options import MISSING, hint_for_number, show
from sigjax.records import InputError

TRUTH = {"true": 1.0, "false": 0.0}
_WHOLE = re.compile(r"\s*[+-]?(\d+)(?:\.0*)?\s*")
_MOST_DIGITS = 309
"""Digits of the largest double before the point; Python makes no number of more than 4,300."""
_TINY = "." + "0" * 300
"""A fraction without an exponent starts like this before it is too small for a double."""


def parse_number(text: str, *, hint: str = "repair it", missing: str = "repair it") -> float:
    """A finite number, as the double that it stands for.

    Args:
        text: what the file says.
        hint: what to do about text, for messages.
        missing: what to do about NaN and infinity, for messages.

    Raises:
        InputError: not a number; a whole number beyond 2**53, which may not be exact; or not 0, but too small for a
            double. `files.opening.naming` adds the place to the message.

    Example:
        >>> parse_number(" -2.5e1")
        -25.0
        >>> parse_number("1_000")
        Traceback (most recent call last):
        ...
        sigjax.InputError: expected a number, got '1_000'; repair it
    """
    try:
        value = float(text)
    except ValueError:
        value = None
    if value is None or "_" in text:
        raise InputError(f"expected a number, got {show(text)}; {hint_for_number(text) or hint}")
    if 0 < abs(value) < LARGEST_WHOLE:
        return value
    if not math.isfinite(value):
        raise InputError(f"expected a finite number, got {show(text)}; {missing}")
    if value == 0 and _is_more_than_zero(text):
        raise InputError(f"the number {show(text)} is too small for a double; write 0, or rescale the numbers")
    whole = _WHOLE.fullmatch(text)
    if whole and int(whole[1][-_MOST_DIGITS:]) > LARGEST_WHOLE:
        raise InputError(
            f"whole numbers beyond 2**53 are not exact, got {show(text)}; rescale the numbers (divide by 1000, say)"
        )
    return value


def parse_numbers(cells: Sequence[str]) -> np.ndarray | None:
    """Numbers as `parse_number` reads them, `[cell]`, all at once; None if some cell needs `parse_number`."""
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return None
    if not np.all(np.abs(values) < LARGEST_WHOLE):
        return None
    joined = "".join(cells)
    if "_" in joined:
        return None
    if "e-" in joined or "E-" in joined or _TINY in joined:
        zeros = {cells[i] for i in np.flatnonzero(values == 0).tolist()}
        if any(map(_is_more_than_zero, zeros)):
            return None
    return values


def _is_more_than_zero(text: str) -> bool:
    """Whether a digit before the exponent is not 0."""
    return any(int(digit) for digit in re.split("[eE]", text)[0] if digit.isdecimal())


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no result: it is empty, or `NaN`, `NA`, `n/a`, `None`, `null`, `-`, `?`.

    Example:
        >>> [is_missing(cell) for cell in ("", " N/A ", "nan", "0", "no")]
        [True, True, True, False, False]
    """
    return cell.strip().lower() in MISSING


def is_text(cell: str) -> bool:
    """Whether a cell is neither a number of any kind, nor true or false, nor empty."""
    try:
        float(cell)
    except ValueError:
        return bool(cell.strip()) and cell.strip().lower() not in TRUTH
    return False


def as_float(cell: str) -> float:
    """A cell as a number, NaN where it is none."""
    try:
        return TRUTH[cell.strip().lower()] if cell.strip().lower() in TRUTH else float(cell)
    except ValueError:
        return math.nan
