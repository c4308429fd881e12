"""Names of systems, after their files: short and unique; and groups of systems, from a file of their own."""

import csv
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from sigjax.files.opening import read_text
from sigjax.readers.options import listing, show, suggest
from sigjax.records import InputError

ENDINGS = frozenset(
    f".{ending}"
    for ending in (
        "gz txt tsv csv json jsonl eval parquet npz conllu conll iob tags talp naacl pharaoh wa run trec out hyp res "
        "score scores pred predictions mbt mrg evalb ctm trn"
    ).split()
)
"""Endings of file names that tell a format; others, such as `.reverse`, are part of a system's name."""
_SAME_FOR_ALL = re.compile(r"samples_.*\.jsonl|details_.*\.parquet|(per_instance_(stats|details)|annotations)\.json")
"""Files that a program names alike for every system: the system is named after the folder."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d.:-]+")


def name_systems(files: Sequence[str]) -> tuple[dict[str, str], frozenset[str]]:
    """Name of each system -> its file, and the names that were given as `NAME=FILE`.

    Example:
        >>> name_systems(["out/big.txt.gz", "out/small.txt", "Best=out/c.txt"])
        ({'big': 'out/big.txt.gz', 'small': 'out/small.txt', 'Best': 'out/c.txt'}, frozenset({'Best'}))
        >>> name_systems(["a/hyp.txt", "b/hyp.txt"])[0]
        {'a/hyp': 'a/hyp.txt', 'b/hyp': 'b/hyp.txt'}
        >>> list(name_systems(["org__a/samples_gsm8k_2026.jsonl", "org__b/samples_gsm8k_2026.jsonl"])[0])
        ['org__a', 'org__b']
        >>> list(name_systems(["a.mrg", "b.evalb", "c.reverse"])[0])
        ['a', 'b', 'c.reverse']
    """
    given = [given_name(file) for file in files]
    paths = [PurePath(os.path.normpath(path)).parts for _, path in given]
    for i, (_, path) in enumerate(given):
        if path in [other for _, other in given[:i]]:
            raise InputError(f"{path}: is given twice; give each file once")
    telling = [_telling(own) for own in paths]
    names: list[str] = []
    for parts in (telling, paths) if len(set(telling)) == len(telling) else (paths,):
        for depth in range(1, max([1, *map(len, parts)]) + 1):
            names = [name or _stem(own[-depth:]) for (name, _), own in zip(given, parts, strict=True)]
            if len(set(names)) == len(names):
                named = frozenset(name for name, _ in given if name)
                return dict(zip(names, (path for _, path in given), strict=True)), named
    repeated = next(name for i, name in enumerate(names) if name in names[:i])
    raise InputError(f"two files are named {show(repeated)}; write NAME=FILE for one of them")


def given_name(file: str) -> tuple[str | None, str]:
    """The name and the path of `NAME=FILE`; no name if the whole is a path that exists."""
    name, equals, path = file.partition("=")
    if not equals or not name.strip() or not path or os.path.exists(file) or os.sep in name:
        return None, file
    return name, path


def _telling(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The parts of a path that can tell systems apart: without names and times that a program gives to all."""
    if len(parts) > 2 and parts[-2] == "results" and parts[-1].removesuffix(".gz") == "results.json":
        return parts[:-2]
    if len(parts) < 2 or not _SAME_FOR_ALL.fullmatch(parts[-1].removesuffix(".gz")):
        return parts
    folders = parts[:-1]
    while len(folders) > 1 and _TIME.fullmatch(folders[-1]):
        folders = folders[:-1]
    return parts if folders == (os.sep,) else folders


def _stem(parts: tuple[str, ...]) -> str:
    """The last parts of a path as a name, without the endings that tell a format."""
    path = PurePath(*parts)
    while path.suffix.lower() in ENDINGS and path.stem:
        path = path.with_suffix("")
    return path.as_posix()


def system_groups(file: str, systems: Sequence[str]) -> dict[str, str]:
    """The group of each system, from a file with one system and its group per line.

    They are separated by a tab, or by a comma in a file named .csv; a first line `system`, `group` is a header.

    Raises:
        InputError: not two fields on a line, a system twice, or systems of the data without a group.
    """
    name = file.lower().removesuffix(".gz")
    delimiter, between = (",", "a comma") if name.endswith(".csv") else ("\t", "a tab")
    groups: dict[str, str] = {}
    lines = read_text(file).removesuffix("\n").split("\n")
    for line, fields in enumerate(csv.reader(lines, delimiter=delimiter), start=1):
        cells = [field.strip() for field in fields]
        if line == 1 and [cell.lower() for cell in cells] == ["system", "group"]:
            continue
        if len(cells) != 2 or not all(cells):
            raise InputError(
                f"{file}, line {line}: expected a system, {between} and its group, got {show(lines[line - 1])}"
            )
        if cells[0] in groups:
            raise InputError(f"{file}, line {line}: system {show(cells[0])} is there twice; name it once")
        groups[cells[0]] = cells[1]
    check_groups(file, groups, systems)
    return groups


def check_groups(source: str, groups: Mapping[str, str], systems: Sequence[str]) -> None:
    """Refuse groups that lack some systems, and groups of systems that are not in the data.

    Raises:
        InputError: naming the systems.
    """
    unknown = [name for name in groups if name not in systems]
    if unknown:
        raise InputError(f"{source}: {listing(unknown)}: no such system; {suggest(unknown[0], systems, 'systems')}")
    if missing := [name for name in systems if name not in groups]:
        raise InputError(f"{source}: no group for {listing(missing)}; expected one for every system")
