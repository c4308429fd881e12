"""What TiMBL and other classifiers write: features, the gold label and the predicted one; a line an instance."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from sigjax.files.opening import decode_text, read_bytes
from sigjax.readers.formats import Format, Reading, Sources
from sigjax.readers.options import Options, listing
from sigjax.readers.tagging.classes import LABEL_METRICS, evaluate_labels
from sigjax.readers.tagging.columns import head_columns, split_blanks
from sigjax.records import InputError

_BLANK, _NUMBER = re.compile(r"[ \t]"), re.compile(r"[-+.\d]*")


@dataclass(frozen=True, eq=False)
class Instances:
    """The instances of one file."""

    file: str
    features: Sequence[str]
    """[instance] what stands before the predicted label, the gold label included."""
    gold: Sequence[str]
    predicted: Sequence[str]


def read_instances(file: str) -> Instances:
    """The instances of a file, whose fields are between commas where the first line has no blanks, else blanks."""
    return parse_instances(file, decode_text(file, read_bytes(file)))


def parse_instances(file: str, text: str) -> Instances:
    r"""As `read_instances`, of text.

    Example:
        >>> found = parse_instances("t", "+,a,P,Q\n-,a,P,P\n")
        >>> found.features, found.gold, found.predicted
        (['+ a P', '- a P'], ['P', 'P'], ['Q', 'P'])
    """
    lines = text.strip("\n").split("\n")
    commas = "," in lines[0] and not _BLANK.search(lines[0].strip())
    split = _split_commas if commas else split_blanks
    width = len(split(lines[0]))
    if width < 2:
        raise InputError(f"{file}, line 1: expected features, the gold label and the predicted one, got one field")
    features: list[str] = []
    gold: list[str] = []
    predicted: list[str] = []
    for line, content in enumerate(lines, start=1):
        row = split(content)
        if len(row) != width:
            raise InputError(f"{file}, line {line}: expected {width} fields as on line 1, got {len(row)}")
        if not (row[-1] and row[-2]):
            raise InputError(f"{file}, line {line}: expected a gold label and a predicted one as the last two fields")
        predicted.append(row.pop())
        gold.append(row[-1])
        features.append(" ".join(row))
    return Instances(file, features, gold, predicted)


def _split_commas(line: str) -> list[str]:
    return [field.strip() for field in line.split(",")] if " " in line else line.split(",")


def _read(sources: Sources, options: Options) -> Reading:
    found = {name: read_instances(file) for name, file in sources.systems.items()}
    first, *others = found.values()
    for each in others:
        _check_same(each, first)
    _check_header(list(found.values()))
    return partial(evaluate_labels, first.gold, {name: (own.file, own.predicted) for name, own in found.items()})


def _check_header(files: Sequence[Instances]) -> None:
    """Refuse names of columns, which would count as an instance: two labels that no other line has."""
    first = files[0]
    names = {first.gold[0], *(each.predicted[0] for each in files)}
    others = {label for each in files for label in (*each.gold[1:], *each.predicted[1:])}
    if others and len(names) == 2 and first.gold[0] not in {each.predicted[0] for each in files} and not names & others:
        raise InputError(
            f"{first.file}, line 1: seems to hold names of columns, since no other line has the labels "
            f"{listing(sorted(names))}; leave it out"
        )


def _check_same(found: Instances, first: Instances) -> None:
    """Refuse instances or gold labels that are not those of the first file."""
    if len(found.gold) != len(first.gold):
        raise InputError(
            f"{found.file}: has {len(found.gold)} instances, but {first.file} has {len(first.gold)}; expected the same"
        )
    if found.features == first.features:
        return
    pairs = zip(found.features, first.features, strict=True)
    line = next(i for i, (own, expected) in enumerate(pairs, start=1) if own != expected)
    raise InputError(
        f"{found.file}, line {line}: differs from {first.file} before the last field; expected the same features and "
        "gold labels in the same order"
    )


def _looks(name: str, head: bytes) -> bool:
    """Whether all lines have as many fields, three or more; the last two are words, and the same on some line."""
    columns = head_columns(head.replace(b",", b" ") if b" " not in head.partition(b"\n")[0] else head)
    if columns is None or len(columns.sentences) > 1 or columns.width < 3:
        return False
    if any(map(_NUMBER.fullmatch, (*columns.gold, *columns.tags))) or len(columns.gold) < 2:
        return False
    return any(map(str.__eq__, columns.gold, columns.tags))


TIMBL = Format("timbl", "features, gold label and predicted label a line", "systems", _read, _looks, LABEL_METRICS)
