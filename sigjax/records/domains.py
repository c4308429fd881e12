"""What the numbers and words of records may be, beside their types: reports are written, and read back, within them."""

from typing import Annotated, NamedTuple

from sigjax.records.settings import Interval


class Domain(NamedTuple):
    """Bounds of a number, or of both ends of an interval; for text a regular expression that it matches as a whole."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    pattern: str | None = None


Probability = Annotated[float, Domain(least=0, most=1)]
Probabilities = Annotated[Interval, Domain(least=0, most=1)]
Log10 = Annotated[float, Domain(most=0)]
"""Of a probability."""
Size = Annotated[float, Domain(least=0)]
"""A number that is not negative."""
Count = Annotated[int, Domain(least=0)]
Number = Annotated[int, Domain(least=1)]
"""Of things that are there, or their place among others."""
Letters = Annotated[str, Domain(pattern="[a-zA-Z]+")]
Hash = Annotated[str, Domain(pattern="[0-9a-f]{16}")]
