"""What a program that XLA has compiled does: bytes moved, operations and calls, counted from its optimised HLO.

A fusion reads what its operands are used for (a slice or a gather of an operand reads no more than its result) and
writes its result; what it computes stays in registers. Loops count as often as XLA says that they run.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

SIZES = {"pred": 1, "s8": 1, "u8": 1, "s16": 2, "bf16": 2, "f16": 2, "s32": 4, "u32": 4, "f32": 4}
"""Bytes of each type; all others have eight."""
_COMPUTATION = re.compile(r"^(?:ENTRY )?%(\S+) \(")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%(\S+) = (\(.*?\)|\S+) ([a-z][\w-]*)\((.*?)\)(, .*|$)")
_SHAPE = re.compile(r"(\w+)\[([\d,]*)\]")
_COMMENT = re.compile(r"/\*.*?\*/")
_NO_WORK = {"bitcast", "constant", "get-tuple-element", "iota", "parameter", "tuple"}
_MOVES = {*_NO_WORK, "broadcast", "concatenate", "copy", "dynamic-slice", "dynamic-update-slice", "gather", "pad"}
_MOVES |= {"reshape", "reverse", "slice", "transpose"}
_PARTS = {"dynamic-slice", "gather", "slice"}


@dataclass(frozen=True)
class Instruction:
    """One line of HLO."""

    name: str
    shape: str
    opcode: str
    operands: tuple[str, ...]
    inside: str
    """Between its parentheses: of a parameter, its number."""
    more: str

    def called(self, key: str) -> str | None:
        """The computation that it calls as `key`."""
        found = re.search(rf"{key}=%([\w.-]+)", self.more)
        return found and found[1]


@dataclass
class Work:
    """Of one call of a program."""

    bytes: float = 0.0
    """Read from and written to memory."""
    operations: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """int, f32, f64, and the products of each type of operand: `s8 product`, ..."""
    fusions: int = 0
    loops: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    """Library calls, by name and type."""
    scatters: Counter[str] = field(default_factory=Counter)
    """By the type of what is written."""

    def add(self, other: Work, times: float) -> None:
        """Add what a loop does; counts of instructions are those of the text."""
        self.bytes += times * other.bytes
        for name, count in other.operations.items():
            self.operations[name] += times * count
        self.fusions, self.loops = self.fusions + other.fusions, self.loops + other.loops
        self.calls += other.calls
        self.scatters += other.scatters


def arrays(shape: str) -> list[tuple[str, int]]:
    """Type and number of elements of each array of a shape.

    Example:
        >>> arrays("(f32[2,3]{1,0}, s8[])")
        [('f32', 6), ('s8', 1)]
    """
    return [
        (kind, math.prod(map(int, filter(None, dimensions.split(","))))) for kind, dimensions in _SHAPE.findall(shape)
    ]


def size(shape: str) -> int:
    """Bytes of a shape."""
    return sum(count * SIZES.get(kind, 8) for kind, count in arrays(shape))


def size_of_first(shape: str) -> int:
    """Bytes of the first array: the second one of a library call is its scratch space."""
    kind, count = arrays(shape)[0]
    return count * SIZES.get(kind, 8)


def parse(text: str) -> tuple[dict[str, list[Instruction]], str]:
    """Computations by name, and the name of the entry."""
    computations: dict[str, list[Instruction]] = {}
    entry = here = ""
    for line in map(lambda line: _COMMENT.sub("", line), text.splitlines()):
        if begin := _COMPUTATION.match(line):
            here = begin[1]
            computations[here] = []
            entry = here if line.startswith("ENTRY") else entry
        elif found := _INSTRUCTION.match(line):
            name, shape, opcode, operands, more = found.groups()
            names = tuple(re.findall(r"%([\w.-]+)", operands))
            computations[here].append(Instruction(name, shape, opcode, names, operands, more))
    return computations, entry


def work_of(text: str, trips: int = 1) -> Work:
    """The work of a program; `trips` is how often loops run whose number of steps is an argument of the program."""
    computations, entry = parse(text)
    return _work(computations[entry], computations, trips)


def _work(instructions: list[Instruction], computations: Mapping[str, list[Instruction]], trips: int) -> Work:
    work = Work()
    shapes = {each.name: each.shape for each in instructions}
    for each in instructions:
        if each.opcode in _NO_WORK:
            continue
        if each.opcode == "while":
            work.loops += 1
            work.add(_work(computations[each.called("body") or ""], computations, trips), _trips(each) or trips)
        elif each.opcode == "call":
            work.add(_work(computations[each.called("to_apply") or ""], computations, trips), 1)
        elif each.opcode == "conditional":
            raise ValueError(f"{each.name}: branches are not counted")
        else:
            written = size(each.shape) if each.opcode != "custom-call" else size_of_first(each.shape)
            work.bytes += written + sum(_read(each, index, shapes, computations) for index in range(len(each.operands)))
            _count(each, shapes, computations, work)
    return work


def _trips(loop: Instruction) -> int | None:
    found = re.search(r'"known_trip_count":\{"n":"(\d+)"\}', loop.more)
    return int(found[1]) if found else None


def _read(
    each: Instruction, index: int, shapes: Mapping[str, str], computations: Mapping[str, list[Instruction]]
) -> int:
    """Bytes read of an operand."""
    whole = size(shapes[each.operands[index]])
    if each.opcode in _PARTS:
        return min(whole, size(each.shape)) if index == 0 else whole
    if each.opcode != "fusion":
        return whole
    inside = computations[each.called("calls") or ""]
    parameter = next(i.name for i in inside if i.opcode == "parameter" and i.inside == str(index))
    uses = [i for i in inside if parameter in i.operands]
    if uses and all(i.opcode in {*_PARTS, "dynamic-update-slice"} and i.operands[0] == parameter for i in uses):
        return min(whole, sum(size(i.shape) if i.opcode in _PARTS else 0 for i in uses))
    return whole


def _count(
    each: Instruction, shapes: Mapping[str, str], computations: Mapping[str, list[Instruction]], work: Work
) -> None:
    if each.opcode == "fusion":
        work.fusions += 1
        inside = computations[each.called("calls") or ""]
        within = {i.name: i.shape for i in inside}
        for one in inside:
            _count_operation(one, within, work)
    elif each.opcode == "custom-call":
        kind = arrays(shapes[each.operands[0]])[0][0]
        target = re.search(r'custom_call_target="([^"]*)"', each.more)
        work.calls[f"{target[1] if target else '?'} {kind}"] += 1
        if target and "matmul" in target[1] or target and "gemm" in target[1]:
            work.operations[f"{kind} product"] += _product(each, shapes)
    else:
        _count_operation(each, shapes, work)


def _product(each: Instruction, shapes: Mapping[str, str]) -> float:
    """Operations of a matrix product: twice its result times the length that is summed over."""
    left, right = (arrays(shapes[name])[0][1] for name in each.operands[:2])
    result = arrays(each.shape)[0][1]
    return 2.0 * result * math.sqrt(left * right / result)


def _count_operation(each: Instruction, shapes: Mapping[str, str], work: Work) -> None:
    if each.opcode in _MOVES:
        return
    kind, count = arrays(each.shape)[0]
    if each.opcode == "scatter":
        work.scatters[kind] += 1
        kind, count = arrays(shapes[each.operands[2]])[0]
    elif each.opcode in {"compare", "reduce"}:
        kind, count = arrays(shapes[each.operands[0]])[0]
    work.operations[kind if kind in {"f32", "f64"} else "int"] += count
