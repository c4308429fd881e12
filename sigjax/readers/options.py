"""What a person chose when reading, checked once, and the words that error messages share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import get_args

from sigjax.metrics import known_metric, resolve_metric
from sigjax.records import Array, InputError, Metric, Missing, SampleMetric, Unit

LONGEST_TEXT = 40
MOST_NAMES = 12
MOST_MEANT = 10_000
"""Names among which the one that was meant is looked for."""


@dataclass(frozen=True)
class Options:
    """The options of `read`, in its spelling."""

    metric: str | Metric | SampleMetric | Callable[[Array], Array] = "mean"
    counts: Mapping[str, str] | None = None
    id: str | None = None
    systems: Sequence[str] | None = None
    ignore: Sequence[str] = ()
    runs: str | None = None
    cluster: str | None = None
    strata: str | None = None
    unit: Unit = "instance"
    missing: Missing = "error"
    lower_is_better: bool = False
    filter: str | None = None
    swap: Sequence[str] = ()
    one_based: bool = False
    tokenize: str | None = None
    lowercase: bool = False
    cache: bool = True
    progress: bool = False


def check_options(options: Options) -> None:
    """Refuse what is wrong whatever the file holds."""
    if options.missing not in get_args(Missing):
        raise InputError(f"missing: expected one of {', '.join(get_args(Missing))}, got {options.missing!r}")
    if options.unit not in get_args(Unit):
        raise InputError(f"unit: expected one of {', '.join(get_args(Unit))}, got {options.unit!r}")
    for option in ("cluster", "strata"):
        if options.unit == "response" and getattr(options, option) is not None:
            raise InputError(
                f"--{option} is for instances such as sentences, but --unit response takes each response by itself; "
                "leave one of them out"
            )
    for option, names in (("systems", options.systems), ("ignore", options.ignore), ("swap", options.swap)):
        if isinstance(names, str):
            raise InputError(f"{option}: expected a list of names, got the text {names!r}; write [{names!r}]")
    metric = options.metric
    if not (isinstance(metric, str | Metric | SampleMetric) or callable(metric)):
        kind = type(metric).__name__
        raise InputError(f"metric must be a name, a Metric, a SampleMetric or a function of sums, got {kind}")
    if options.counts is not None and not isinstance(options.counts, Mapping):
        raise InputError(f"counts: expected input -> column, such as {{'tp': 'correct'}}, got {options.counts!r}")


def chosen_metric(options: Options) -> Metric | SampleMetric:
    """The metric as a record; the inputs of a user's function are the names in `counts`, or one `value`."""
    metric = options.metric
    if isinstance(metric, Metric | SampleMetric):
        return metric
    if isinstance(metric, str) and (known := known_metric(metric)):
        return known
    names = tuple(options.counts or ("value",))
    return replace(resolve_metric(metric, num_inputs=len(names)), stat_names=names, inputs=names)


def select_systems(file: str, names: Sequence[str], systems: Sequence[str] | None) -> tuple[str, ...]:
    """The systems to compare, at least two, in the order asked for."""
    if not all(name.strip() for name in names):
        raise InputError(f"{file}: a system has no name; name it")
    for k, name in enumerate(systems or ()):
        if name not in names:
            raise InputError(f"{file}: no system {show(name)}; {suggest(name, names, 'systems')}")
        if systems and name in systems[:k]:
            raise InputError(f"{file}: system {show(name)} is asked for twice; name it once")
    chosen = tuple(names if systems is None else systems)
    if len(chosen) < 2:
        raise InputError(
            f"{file}: a comparison needs at least two systems, got {len(chosen)}; give one file per system, or one "
            "table of all"
        )
    return chosen


def show(text: str) -> str:
    """Text of a person in a message: quoted, on one line, cut where it is long.

    Example:
        >>> show("a" * 50)
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'"
    """
    return repr(text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 3] + "...")


def listing(names: Iterable[str]) -> str:
    """The first names of a list, for a message."""
    names = list(names)
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(show(name) for name in names[:MOST_NAMES]) + more


def suggest(name: str, known: Iterable[str], what: str) -> str:
    """What could have been meant by an unknown name."""
    known = list(known)
    if not known:
        return f"there are no {what} here"
    by_lower = {other.lower(): other for other in known[:MOST_MEANT]}
    close = [by_lower[match] for match in get_close_matches(name.lower(), by_lower)]
    return f"did you mean {' or '.join(show(match) for match in close)}?" if close else f"{what}: {listing(known)}"
