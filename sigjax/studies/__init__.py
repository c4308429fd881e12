"""Other questions than `compare`: experiments made of many comparisons, classical tests, and systems one by one.

A study calls `compare` and the rooms below it; it adds no resampling of its own. Each file has a study or two with
their records, text and figure; what these share is in `study`, experiments made of data in `trials`, formulas in
`formulas`. `STUDIES` has a record of each study: commands, their help and the public names are made of it. Naming a
study imports no file of this room.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from sigjax.studies.association import association_test as association_test
    from sigjax.studies.audit import audit as audit
    from sigjax.studies.battles import battles as battles
    from sigjax.studies.classical import classical_tests as classical_tests
    from sigjax.studies.diff import diff as diff
    from sigjax.studies.diff import verify as verify
    from sigjax.studies.equivalence import equivalence as equivalence
    from sigjax.studies.equivalence import equivalence_test as equivalence_test
    from sigjax.studies.flips import flips as flips
    from sigjax.studies.flips import slices as slices
    from sigjax.studies.gains import gains as gains
    from sigjax.studies.monitor import monitor as monitor
    from sigjax.studies.power import planned_power as planned_power
    from sigjax.studies.power import power as power
    from sigjax.studies.rank import rank as rank
    from sigjax.studies.rl import rl as rl
    from sigjax.studies.samples import one_sample as one_sample
    from sigjax.studies.samples import unpaired as unpaired
    from sigjax.studies.stopping import stopping as stopping


@dataclass(frozen=True, slots=True)
class StudySpec:
    """A study: the name of its command, the first line (`title`) and the rest (`more`) of its help, and where it is.

    Attributes:
        module: the file of this room.
        functions: the public functions; the first one is the command's.
        takes: what the command reads: the evaluations of the files, one per metric; systems one by one, of which one is
            enough or which have instances of their own; two files of labels; reports; or a table of battles.
        files: the help of its files; the usual one when left out.
        alone: whether it is a name of sigjax, beside `sigjax.studies.NAME`.
        research: whether its command is `sigjax research NAME`.
    """

    name: str
    title: str
    more: str
    module: str
    functions: tuple[str, ...]
    result: str
    options: str
    takes: Literal["evaluations", "systems", "samples", "growing", "labels", "reports", "battles"] = "evaluations"
    files: str = ""
    alone: bool = True
    research: bool = False

    @property
    def path(self) -> str:
        """The name of the module."""
        return f"{__name__}.{self.module}"

    @property
    def figure(self) -> bool:
        """Whether it has a figure."""
        return hasattr(self.load(self.result), "plot")

    def load(self, name: str) -> Any:
        """A function or record of its file."""
        return getattr(import_module(self.path), name)


def _study(name: str, title: str, more: str = "", **others: Any) -> StudySpec:
    """A study whose module, function, result and options are called as its command, unless others say otherwise."""
    function = name.replace("-", "_")
    result = function.title().replace("_", "")
    usual = {"module": function, "functions": (function,), "result": result, "options": f"{result}Options"}
    return StudySpec(name, title, more, **usual | others)


_ALL = (
    _study(
        "classical",
        "Show the classical tests of two systems beside the permutation test and the bootstrap, and what each assumes.",
        "For more systems on data sets: Friedman, Nemenyi and Wilcoxon tests, and the critical-difference diagram "
        "(--figure). --design folds: the corrected t test of cross-validation. For -m auc, DeLong's test.",
        functions=("classical_tests",),
        result="ClassicalTests",
    ),
    _study(
        "power",
        "Which difference would a test of these two systems detect with more or fewer instances, and with what power?",
        "Each repetition draws instances from the data with replacement and tests them. Without files: which "
        "difference of accuracies, given the share of instances on which one system alone is right (--disagree)?",
        functions=("power", "planned_power"),
    ),
    _study(
        "monitor",
        "Which pairs are settled by the results so far, and may the evaluation stop? Look as often as you like.",
        "By a test that stays valid however often one looks. Exit code 0: stop; 3: go on. With "
        "--checkpoint FILE, each call reads only what is new in the logs.",
        takes="growing",
        files="As for `sigjax compare`: all results so far.",
    ),
    _study(
        "equivalence",
        "Are systems alike up to a margin, or one not worse than the other by it? Two one-sided tests (TOST).",
        functions=("equivalence", "equivalence_test"),
        options="EquivalencePairsOptions",
    ),
    _study(
        "audit",
        "Do the tests keep their level on these data, if their units are independent? On pairs that are made equal.",
        "Each repetition swaps the outputs of random units of two systems (`--only A B`) and tests the mixtures.",
        research=True,
    ),
    _study(
        "one-sample",
        "Test each system against a number: is its accuracy above 0.5, its mean rating not 3, its win rate not 1/2?",
        "One system is enough. Exact binomial test of answers right or wrong, sign flips of other means, else t.",
        module="samples",
        takes="systems",
    ),
    _study(
        "unpaired",
        "Compare systems that were tested on different instances: unpaired permutation and rank-sum tests.",
        "Where systems have the same instances, `sigjax compare` has more power.",
        module="samples",
        takes="samples",
        files="One file per system, or one table of all; their instances may differ.",
    ),
    _study(
        "flips",
        "Which instances decide between two systems (`--only A B`), and what is left of the difference without them?",
        "p-values without chosen instances are no tests: they say how much rests on few instances.",
        alone=False,
    ),
    _study(
        "slices",
        "The same comparison in every slice (`--by FIELD`), and does the difference change from slice to slice?",
        module="flips",
        alone=False,
    ),
    _study(
        "rank",
        "Rank very many systems by right or wrong answers: tests all pairs exactly, reports only the ranking.",
        "20,000 systems on 10,000 instances take minutes. Up to some thousand systems, `sigjax compare` says more.",
        result="Ranking",
        options="RankOptions",
        alone=False,
    ),
    _study(
        "battles",
        "Rank systems by battles of two, as Chatbot Arena: Bradley-Terry scores, ties, and possible ranks.",
        "--cluster USER takes into account that battles of a user depend on each other. One pair alone: `sigjax "
        "compare`, with the same file.",
        takes="battles",
        files="A table with the columns model_a, model_b and winner; or model_a, model_b, wins, losses and ties.",
        alone=False,
    ),
    _study(
        "rl",
        "Runs of agents on fixed games (--strata GAME --runs RUN), as rliable: aggregates, P(a > b), profiles.",
        "p-values: `sigjax compare -m iqm` with the same options.",
        result="RL",
        options="RLOptions",
        alone=False,
    ),
    _study(
        "association",
        "Do labels agree with gold labels more than chance, given how often each label was used?",
        "p is over all orders of the labels, each equally likely.",
        functions=("association_test",),
        takes="labels",
        files="LABELS GOLD: two files with one label per line, in the same order.",
        research=True,
    ),
    _study(
        "diff",
        "What changed between two reports, and with --margin: is any system worse by more than that?",
        takes="reports",
    ),
    _study(
        "verify",
        "Check that a report was made from these files: compare again, and compare the numbers.",
        module="diff",
        result="Verification",
        takes="reports",
    ),
    _study(
        "gains",
        "How large is a gain that is significant on these files? Gain against 1 - p, for all pairs of systems.",
        "--sizes: how it falls with the size of the test set; and do winners win on other instances, or on --other?",
        alone=False,
        research=True,
    ),
    _study(
        "stopping",
        "How much of this evaluation would `sigjax monitor` have saved? Replays it in random orders.",
        "And on outputs swapped at random, where each stop is a false one.",
        alone=False,
        research=True,
    ),
)
STUDIES = {study.name: study for study in _ALL}
"""Each study by the name of its command; some are those of `sigjax research`."""
_MODULES = {function: study for study in STUDIES.values() for function in study.functions}


def elsewhere(name: str) -> str:
    """Where the study of this name is, for messages: by its command, module, function or result; else nothing.

    >>> elsewhere("rl"), elsewhere("classical"), elsewhere("unknown")
    ('; see sigjax.studies.rl', '; see sigjax.studies.classical_tests', '')
    """
    for study in STUDIES.values():
        if name in study.functions:
            return f"; see sigjax.studies.{name}"
        if name in (study.name, study.module, study.result):
            return f"; see sigjax.studies.{study.functions[0]}"
    return ""


class _Room(ModuleType):
    """This package: a function, and not the file of its name that is imported with it, is an attribute of it."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in _MODULES):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> object:
        """Import a study when it is first used."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{elsewhere(name)}", name=name, obj=self)
        value = _MODULES[name].load(name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        """The studies: the modules of this room are no part of the interface."""
        return [*_MODULES]


sys.modules[__name__].__class__ = _Room
