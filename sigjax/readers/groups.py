"""Groups of systems, from a file of their own."""

import csv
from collections.abc import Mapping, Sequence

from sigjax.files.opening import read_text
from sigjax.readers.options import listing, show, suggest
from sigjax.records import InputError


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
