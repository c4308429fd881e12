"""Studies answer other questions than `compare`: experiments with many comparisons, classical tests, single systems.

A study is made from `compare` and from the packages that `compare` itself uses. Each file contains one or two studies
with their results, text and figure. The module `study` contains what all studies share, `trials` the simulated
experiments, and `formulas` the formulas.

`STUDIES` contains one record (`StudySpec`) per study. The commands, their help and the public names are made from these
records. A study is imported when it is first used. No file has the name of a public function, because the module would
then hide the function.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from sigjax.studies.agents import rl as rl
    from sigjax.studies.association import association_test as association_test
    from sigjax.studies.boards import board as board
    from sigjax.studies.bradley_terry import battles as battles
    from sigjax.studies.changes import diff as diff
    from sigjax.studies.changes import verify as verify
    from sigjax.studies.classical import classical_tests as classical_tests
    from sigjax.studies.error_rates import audit as audit
    from sigjax.studies.independent_samples import unpaired as unpaired
    from sigjax.studies.item_analysis import items as items
    from sigjax.studies.power_analysis import planned_power as planned_power
    from sigjax.studies.power_analysis import power as power
    from sigjax.studies.ranking import rank as rank
    from sigjax.studies.replays import stopping as stopping
    from sigjax.studies.sequential import monitor as monitor
    from sigjax.studies.significant_gains import gains as gains
    from sigjax.studies.single_samples import one_sample as one_sample
    from sigjax.studies.subsets import flips as flips
    from sigjax.studies.subsets import slices as slices
    from sigjax.studies.tost import equivalence as equivalence
    from sigjax.studies.tost import equivalence_test as equivalence_test


@dataclass(frozen=True, slots=True)
class StudySpec:
    """The description of a study, from which its command and its public names are made.

    Attributes:
        name: the name of the command.
        title: the first line of the command's help.
        more: the rest of the command's help.
        module: the name of the study's module in this package.
        functions: the names of the public functions; the command calls the first function.
        result: the name of the result's class.
        options: the name of the options' class.
        takes: what the command reads. "evaluations": files as for `compare`, one evaluation per metric. "systems": the
            same, but one system is enough. "samples": systems whose instances may differ. "growing": all results so
            far. "labels": two files of labels. "reports": reports. "battles": a table of battles.
            "config": the TOML file of a board.
        files: the help text for the files that the command reads; if empty, the help shows the usual text.
        alone: whether `sigjax` itself exports the functions, in addition to `sigjax.studies`.
        constructed: whether users construct the result class themselves; then `sigjax` exports that class, too.
        research: whether the command is `sigjax research NAME`.
    """

    name: str
    title: str
    more: str
    module: str
    functions: tuple[str, ...]
    result: str
    options: str
    takes: Literal["evaluations", "systems", "samples", "growing", "labels", "reports", "battles", "config"] = (
        "evaluations"
    )
    files: str = ""
    alone: bool = True
    constructed: bool = False
    research: bool = False

    @property
    def public(self) -> tuple[str, ...]:
        """The names of this study that `sigjax` itself exports."""
        return (*self.functions, *[self.result] * self.constructed) if self.alone else ()

    @property
    def path(self) -> str:
        """The full name of the study's module, such as "sigjax.studies.boards"."""
        return f"{__name__}.{self.module}"

    @property
    def figure(self) -> bool:
        """Whether the result can be plotted."""
        return hasattr(self.load(self.result), "plot")

    def load(self, name: str) -> Any:
        """Import a function or class of the study's module."""
        return getattr(import_module(self.path), name)


def _study(name: str, title: str, more: str = "", **others: Any) -> StudySpec:
    """Make a `StudySpec`. By default, its function, result and options are named after the command `name`.

    `others` replaces these names, and gives the other fields.
    """
    function = name.replace("-", "_")
    result = function.title().replace("_", "")
    usual = {"functions": (function,), "result": result, "options": f"{result}Options"}
    return StudySpec(name, title, more, **usual | others)


_ALL = (
    _study(
        "classical",
        "Show the classical tests of two systems beside the permutation test and the bootstrap, and what each assumes.",
        "For more systems on data sets: Friedman, Nemenyi and Wilcoxon tests, and the critical-difference diagram "
        "(--figure). --design folds: the corrected t test of cross-validation. For -m auc, DeLong's test.",
        functions=("classical_tests",),
        result="ClassicalTests",
        module="classical",
    ),
    _study(
        "power",
        "Which difference would a test of these two systems detect with more or fewer instances, and with what power?",
        "Each repetition draws instances from the data with replacement and tests them. Without files: which "
        "difference of accuracies, given the share of instances on which one system alone is right (--disagree)?",
        functions=("power", "planned_power"),
        module="power_analysis",
    ),
    _study(
        "monitor",
        "Which pairs are settled by the results so far, and may the evaluation stop? Look as often as you like.",
        "By a test that stays valid however often one looks. Exit code 0: stop; 3: go on. With "
        "--checkpoint FILE, each call reads only what is new in the logs.",
        takes="growing",
        files="As for `sigjax compare`: all results so far.",
        module="sequential",
        constructed=True,
    ),
    _study(
        "equivalence",
        "Are systems alike up to a margin, or one not worse than the other by it? Two one-sided tests (TOST).",
        functions=("equivalence", "equivalence_test"),
        options="EquivalencePairsOptions",
        module="tost",
    ),
    _study(
        "audit",
        "Do the tests keep their level on these data, if their units are independent? On pairs that are made equal.",
        "Each repetition swaps the outputs of random units of two systems (`--only A B`) and tests the mixtures.",
        research=True,
        module="error_rates",
    ),
    _study(
        "one-sample",
        "Test each system against a number: is its accuracy above 0.5, its mean rating not 3, its win rate not 1/2?",
        "One system is enough. Exact binomial test of answers right or wrong, sign flips of other means, else t.",
        module="single_samples",
        takes="systems",
    ),
    _study(
        "unpaired",
        "Compare systems that were tested on different instances: unpaired permutation and rank-sum tests.",
        "Where systems have the same instances, `sigjax compare` has more power.",
        module="independent_samples",
        takes="samples",
        files="One file per system, or one table of all; their instances may differ.",
    ),
    _study(
        "flips",
        "Which instances decide between two systems (`--only A B`), and what is left of the difference without them?",
        "p-values without chosen instances are no tests: they say how much rests on few instances.",
        alone=False,
        module="subsets",
    ),
    _study(
        "slices",
        "The same comparison in every slice (`--by FIELD`), and does the difference change from slice to slice?",
        module="subsets",
        alone=False,
    ),
    _study(
        "items",
        "Are the questions any good: which look mis-keyed, which separate no systems, what do they resolve?",
        "By the results of three systems or more: item-rest correlations, reliability (KR-20), neighbours by rank.",
        module="item_analysis",
        alone=False,
    ),
    _study(
        "rank",
        "Rank very many systems by right or wrong answers: tests all pairs exactly, reports only the ranking.",
        "20,000 systems on 10,000 instances take minutes. Up to some thousand systems, `sigjax compare` says more.",
        result="Ranking",
        options="RankOptions",
        alone=False,
        module="ranking",
    ),
    _study(
        "battles",
        "Rank systems by battles of two, as Chatbot Arena: Bradley-Terry scores, ties, and possible ranks.",
        "--cluster USER takes into account that battles of a user depend on each other. One pair alone: `sigjax "
        "compare`, with the same file.",
        takes="battles",
        files="A table with the columns model_a, model_b and winner; or model_a, model_b, wins, losses and ties.",
        alone=False,
        module="bradley_terry",
    ),
    _study(
        "rl",
        "Runs of agents on fixed games (--strata GAME --runs RUN), as rliable: aggregates, P(a > b), profiles.",
        "p-values: `sigjax compare -m iqm` with the same options.",
        result="RL",
        options="RLOptions",
        alone=False,
        module="agents",
    ),
    _study(
        "association",
        "Do labels agree with gold labels more than chance, given how often each label was used?",
        "p is over all orders of the labels, each equally likely.",
        functions=("association_test",),
        takes="labels",
        files="LABELS GOLD: two files with one label per line, in the same order.",
        research=True,
        module="association",
    ),
    _study(
        "diff",
        "What changed between two reports, and with --margin: is any system worse by more than that?",
        takes="reports",
        module="changes",
    ),
    _study(
        "verify",
        "Check that a report was made from these files: compare again, and compare the numbers.",
        module="changes",
        result="Verification",
        options="StudyOptions",
        takes="reports",
    ),
    _study(
        "gains",
        "How large is a gain that is significant on these files? Gain against 1 - p, for all pairs of systems.",
        "--sizes: how it falls with the size of the test set; and do winners win on other instances, or on --other?",
        alone=False,
        research=True,
        module="significant_gains",
    ),
    _study(
        "stopping",
        "How much of this evaluation would `sigjax monitor` have saved? Replays it in random orders.",
        "And on outputs swapped at random, where each stop is a false one.",
        alone=False,
        research=True,
        module="replays",
    ),
    _study(
        "board",
        "Make a board of record from a TOML file: its page, tables and figures, with source and licence.",
        "The comparison, the differences that are real at least, what the test set resolves, and its audit. "
        "-o board.json is read by `show`, `diff` and `verify`.",
        result="BoardOfRecord",
        options="RunOptions",
        takes="config",
        files="BOARD.toml: title, source, licence, files, and options of `compare`; see `sigjax help boards`.",
        alone=False,
        research=True,
        module="boards",
    ),
)
STUDIES: dict[str, StudySpec] = {study.name: study for study in _ALL}
"""Dict from the name of a command to its study. A study with `research` has the command `sigjax research NAME`."""
_FUNCTIONS = {function: study for study in STUDIES.values() for function in study.functions}
"""Dict from the name of a public function to its study."""


def elsewhere(name: str) -> str:
    """Return the end of an error message, which says where the study is that `name` belongs to; "" if there is none.

    `name` may be the name of a command, module, function or result.

    >>> elsewhere("rl"), elsewhere("classical"), elsewhere("unknown")
    ('; see sigjax.studies.rl', '; see sigjax.studies.classical_tests', '')
    """
    for study in STUDIES.values():
        if name in study.functions:
            return f"; see sigjax.studies.{name}"
        if name in (study.name, study.module, study.result):
            return f"; see sigjax.studies.{study.functions[0]}"
    return ""


if not TYPE_CHECKING:  # type checkers would take any name for a study

    def __getattr__(name: str) -> object:
        """Import a study when it is first used (PEP 562)."""
        if name not in _FUNCTIONS:
            raise AttributeError(
                f"module {__name__!r} has no attribute {name!r}{elsewhere(name)}", name=name, obj=sys.modules[__name__]
            )
        globals()[name] = function = _FUNCTIONS[name].load(name)
        return function


def __dir__() -> list[str]:
    """List only the studies, because the modules are private."""
    return [*_FUNCTIONS]
