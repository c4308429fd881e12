"""Which regular expressions take more than linear time: an analysis of their automata, without a clock.

A match that backtracks follows every path through the automaton of a pattern until it fails. The number of paths that
read n characters is bounded unless some text v can be read in a loop at p, in a loop at q, and from p to q, or in two
ways in one loop (Weber and Seidl 1991, on the degree of ambiguity): v repeated can be divided between the two loops in
n ways, each of which may fail after up to n characters. A search is a match behind a loop that takes anything, so that
one loop of the pattern is enough there. Where the pattern may end on each way around q, the first path succeeds, and
none is tried again.
"""

import ast
import importlib
import pathlib
import re
from collections import defaultdict
from itertools import product
from re import _compiler as compiler  # pyright: ignore[reportAttributeAccessIssue]
from re import _constants as sre  # pyright: ignore[reportAttributeAccessIssue]
from re import _parser as parser  # pyright: ignore[reportAttributeAccessIssue]

ALPHABET = [*map(chr, range(128)), *"\u00a0\u00e9\u0130\u0131\u0660\u2003\u2028\u3042\U0001f600"]
"""Characters that tell classes apart: all of ASCII, and some of each other kind (blanks, letters, digits, others)."""
ANY = [(sre.IN, [(sre.NEGATE, None)])]
SEARCHES = {"search", "findall", "finditer", "sub", "subn", "split"}
PACKAGE = pathlib.Path(importlib.import_module("sigjax").__file__ or "").parent
TAKERS = {"looks_like": "search", "lines_like": "fullmatch"}
"""Functions of the package that take the text of patterns, and what they do with it."""


class Automaton:
    """States joined by steps that read nothing, of which some read one character first.

    Attributes:
        steps: state -> [(next state, characters after which it is possible, those before which it is, may fail)]
        reads: state -> the characters that it reads; the next state has the next number
        atoms: state -> the groups around it that never give back what they took
    """

    def __init__(self, pattern, *, search):
        self.pattern, self.size, self.inside = pattern, 0, ()
        self.steps, self.reads, self.atoms = defaultdict(list), {}, {}
        text = isinstance(pattern.pattern, str)
        self.alphabet = ALPHABET if text else ALPHABET[:128]
        tree = parser.parse(pattern.pattern, pattern.flags)
        start = self.state()
        if search and not self.anchored(tree):
            start = self.repeat(0, sre.MAXREPEAT, ANY, start)
        self.end = self.sequence(tree, start)

    def anchored(self, tree):
        """Whether a match can start at the first character only."""
        kind, value = tree[0] if len(tree) else (None, None)
        within_lines = self.pattern.flags & re.MULTILINE
        return kind is sre.AT and value in ({sre.AT_BEGINNING_STRING} | (set() if within_lines else {sre.AT_BEGINNING}))

    def state(self):
        self.size += 1
        self.atoms[self.size] = frozenset(self.inside)
        return self.size

    def next(self, start, after=None, before=None, *, may_fail=False):
        new = self.state()
        every = frozenset(self.alphabet)
        self.steps[start].append(
            (new, every if after is None else after, every if before is None else before, may_fail)
        )
        return new

    def join(self, one, other):
        every = frozenset(self.alphabet)
        self.steps[one].append((other, every, every, False))

    def sequence(self, nodes, start):
        for kind, value in nodes:
            start = self.node(kind, value, start)
        return start

    def node(self, kind, value, start):
        """The state after an element of the parsed pattern."""
        if kind in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            here = self.next(start)
            self.reads[here] = self.characters([(kind, value)])
            return self.state()
        if kind is sre.AT:
            begins_line = value is sre.AT_BEGINNING and self.pattern.flags & re.MULTILINE
            return self.next(start, {"\n"} if begins_line else None, may_fail=True)
        if kind is sre.SUBPATTERN:
            return self.sequence(value[-1], start)
        if kind is sre.BRANCH:
            end = self.state()
            for way in value[1]:
                self.join(self.sequence(way, self.next(start)), end)
            return end
        if kind is sre.ATOMIC_GROUP:
            return self.atomic(value, start)
        if kind is sre.POSSESSIVE_REPEAT:
            return self.atomic([(sre.MAX_REPEAT, value)], start)
        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            return self.repeat(*value, start)
        if kind in (sre.ASSERT, sre.ASSERT_NOT):
            return self.look(*value, start, negative=kind is sre.ASSERT_NOT)
        raise NotImplementedError(f"{kind} in {self.pattern.pattern!r}")

    def look(self, direction, body, start, *, negative):
        """What lies ahead is read, and then the text again from here; what lies behind was the last character."""
        every = frozenset(self.alphabet)
        if direction < 0:
            found = self.characters(body[-1:])
            return self.next(start, every - found if negative else found, may_fail=True)
        begin = self.next(start)
        end = self.sequence(body, begin)
        first, may_be_empty = self.onward(begin, end)
        before = frozenset().union(*(self.reads[state] for state, *_ in first))
        if negative:
            one_character = end == begin + 2 and len(body) == 1
            return self.next(start, before=every - before if one_character else None, may_fail=True)
        return self.next(start, before=None if may_be_empty else before, may_fail=True)

    def atomic(self, body, start):
        outside, self.inside = self.inside, (*self.inside, self.size)
        end = self.sequence(body, self.next(start))
        self.inside = outside
        return self.next(end)

    def repeat(self, low, high, body, start):
        """Bounded repeats are at most two and two optional ones: they are a factor of the time, not a power."""
        if high is sre.MAXREPEAT:
            begin = self.next(start)
            end = self.sequence(body, begin)
            self.join(end, begin)
            return self.next(end if low else begin)
        for _ in range(min(low, 2)):
            start = self.sequence(body, start)
        out = self.state()
        for _ in range(min(high - low, 2)):
            self.join(start, out)
            start = self.sequence(body, self.next(start))
        self.join(start, out)
        return out

    def characters(self, nodes):
        """The characters of the alphabet that one element of the pattern takes."""
        state = parser.State()
        state.flags, state.str = self.pattern.flags, self.pattern.pattern
        one = compiler.compile(parser.SubPattern(state, nodes), self.pattern.flags)
        text = isinstance(self.pattern.pattern, str)
        return frozenset(char for char in self.alphabet if one.fullmatch(char if text else char.encode()))

    def onward(self, start, end):
        """[(state that reads next, characters after which, and before which)] by every way, and whether it may end."""
        found, ends, every = [], False, frozenset(self.alphabet)

        def walk(state, passed, after, before, sure):
            nonlocal ends
            ends |= state == end and sure
            if state in self.reads:
                found.append((state, after, before))
            for other, own_after, own_before, may_fail in self.steps[state]:
                if (state, other) not in passed:
                    walk(
                        other, passed | {(state, other)}, after & own_after, before & own_before, sure and not may_fail
                    )

        walk(start, frozenset(), every, every, True)
        return found, ends


def superlinear(pattern, *, method):
    """Why a compiled pattern may take more than linear time on some text; "" where it does not.

    Args:
        pattern: compiled.
        method: the name of its method that is called.
    """
    made = Automaton(pattern, search=method in SEARCHES)
    ways = {state: made.onward(state + 1, made.end) for state in made.reads}
    ending = {state for state, (_, ends) in ways.items() if ends and method != "fullmatch"}
    classes = {}  # characters that no state tells apart are one letter
    sets = [*made.reads.values(), *(each for found, _ in ways.values() for _, *both in found for each in both)]
    for char in made.alphabet:
        classes.setdefault(tuple(char in each for each in sets), char)
    letters = set(classes.values())
    follow = {
        (state, letter): [
            (other, read)
            for other, after, before in ways[state][0]
            if letter in after
            for read in made.reads[other] & before & letters
        ]
        for state in made.reads
        for letter in made.reads[state] & letters
    }
    reach = {node: reachable(node, follow.get) for node in follow}
    loops = {node for node in follow if node in reach[node]}

    def apart(start, *within):
        """The tuples of nodes that paths within sets of nodes reach together, all of which read the same."""

        def together(nodes):
            by_letter = [defaultdict(set) for _ in nodes]
            for node, allowed, nexts in zip(nodes, within, by_letter, strict=True):
                for each in follow[node]:
                    if each in allowed:
                        nexts[each[1]].add(each)
            return (each for letter in letters for each in product(*(nexts[letter] for nexts in by_letter)))

        return reachable(start, together)

    around = {one: frozenset(node for node in reach[one] if one in reach[node]) for one in loops}
    for one in {min(group): group for group in around.values()}:
        here = around[one]
        twice = any(follow[node].count(other) > 1 for node in here for other in here)
        pairs = {pair for pair in apart((one, one), here, here) if pair[0] != pair[1]}
        if twice or any((one, one) in apart(pair, here, here) for pair in pairs):
            return f"there are two ways around the loop of {one[1]!r}"
    for one, other in product(loops, loops):
        kept = made.atoms[one[0]] - made.atoms[other[0]]
        unsure = {node for node in around[other] if node[0] not in ending}
        if one[1] != other[1] or other in around[one] or other not in reach[one] or other not in unsure or kept:
            continue
        between = {node for node in reach[one] if other in reach[node]}
        if (one, other, other) in apart((one, one, other), around[one], between, unsure):
            return f"two loops take what ends with {one[1]!r}"
    return ""


def reachable(start, after):
    """All that is reached by one step or more."""
    found, waiting = set(), [start]
    while waiting:
        new = set(after(waiting.pop())) - found
        found |= new
        waiting += new
    return found


def patterns_of_package():
    """{(file, pattern, method): None} of all regular expressions, and the calls whose patterns only a run knows."""
    found, unknown = {}, []
    paths = [path for path in sorted(PACKAGE.rglob("*.py")) if path.stem != "__main__"]
    modules = {path: importlib.import_module(name_of(path)) for path in paths}
    for path, module in modules.items():
        place = str(path.relative_to(PACKAGE))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                pattern = vars(module).get(node.value.id)
                if isinstance(pattern, re.Pattern):
                    found[place, pattern, node.attr] = None
            for argument, method in pattern_arguments(node):
                try:
                    for pattern in compiled(argument, node, module):
                        found[place, pattern, method] = None
                except NameError:
                    unknown.append((place, ast.unparse(node)))
    used = {pattern for _, pattern, _ in found}
    for path, module in modules.items():
        for value in vars(module).values():
            for pattern in value if isinstance(value, list | tuple) else [value]:
                if isinstance(pattern, re.Pattern) and pattern not in used:
                    found[str(path.relative_to(PACKAGE)), pattern, "search"] = None
    return found, unknown


def pattern_arguments(node):
    """[(argument that is a pattern, method)] of a call of `re` or of a function that takes patterns."""
    if not isinstance(node, ast.Call):
        return []
    if isinstance(node.func, ast.Name) and node.func.id in TAKERS:
        given = (each.value if isinstance(each, ast.Starred) else each for each in node.args)
        return [(each, TAKERS[node.func.id]) for each in given]
    if isinstance(node.func, ast.Attribute) and is_name(node.func.value, "re"):
        method = node.func.attr  # what is compiled is a constant of its module, met where it is used
        return [] if method in ("compile", "escape") else [(node.args[0], method)]
    return []


def is_name(node, name=None):
    return isinstance(node, ast.Name) and name in (None, node.id)


def compiled(argument, call, module):
    """The patterns that an argument of a call stands for, with the call's flags."""
    flags = [each.value for each in call.keywords if each.arg == "flags"]
    flags += [each for each in call.args if isinstance(each, ast.Attribute) and is_name(each.value, "re")]
    value, *given = (eval(compile(ast.Expression(each), "", "eval"), vars(module)) for each in (argument, *flags))
    values = value if isinstance(value, tuple) else [value]
    return [each if isinstance(each, re.Pattern) else re.compile(each, sum(given)) for each in values]


def name_of(path):
    return ".".join(("sigjax", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
