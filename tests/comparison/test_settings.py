"""No setting is ignored in silence: outputs and functions use it, refuse it, or are listed as without it.

A setting that is added is tried as it is declared; `LEFT_OUT` names it where a function does not have it.
"""

from dataclasses import replace
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest

from sigjax import Evaluation, InputError, bootstrap_test, compare, permutation_test
from sigjax.comparison.analysis import bounds_of_others
from sigjax.comparison.options import BootstrapOptions, PermutationOptions
from sigjax.records import Column, Settings
from sigjax.records.options import options_of, types_of
from sigjax.report.methods import _WORDED
from sigjax.testing.problem import exact_columns

SCORES = {"A": [3, 1, 2, 2, 4, 0, 3, 3, 1, 2, 2, 3], "B": [2, 1, 1, 2, 3, 1, 1, 3, 0, 2, 3, 2]}
LEFT_OUT = {
    "permutation": {*"test baseline correction confidence_level interval variant family leaderboard design".split()},
    "bootstrap": {*"test baseline correction statistic mid_p budget memory family leaderboard design".split()},
}
"""Settings that `permutation_test` and `bootstrap_test` lack: of several pairs, of the other test, of repeated runs."""
FUNCTIONS = {"permutation": (permutation_test, PermutationOptions), "bootstrap": (bootstrap_test, BootstrapOptions)}
BASE = {"permutation": {"method": "exact"}, "bootstrap": {"method": "montecarlo", "resamples": 500}}


def other_values(name):
    """Values of a setting that are in its domain and not its default."""
    kind, default = types_of(Settings)[name], options_of(Settings)[name].default
    members = [kind, *(each for each in get_args(kind) if not isinstance(each, str))]
    words = [word for each in members for word in get_args(each) if isinstance(word, str)]
    numbers = {bool: [not default], int: [7, 300], float: [0.5, 0.25], str: ["A", "B"]}
    return [
        each for each in (*words, *(value for each in members for value in numbers.get(each, ()))) if each != default
    ]


def report_with(test, **options):
    return compare(SCORES, **{"test": test, **BASE[test], **options}, progress=False, device="numpy")


@pytest.mark.parametrize("test", FUNCTIONS)
def test_functions_of_two_systems_have_every_setting_but_those_left_out(test):
    """A new setting is a field of their options, or is named in `LEFT_OUT`."""
    assert options_of(Settings).keys() - options_of(FUNCTIONS[test][1]).keys() == LEFT_OUT[test]


@pytest.mark.parametrize("test", FUNCTIONS)
@pytest.mark.parametrize("name", sorted(options_of(Settings).keys() - {"test"}))
def test_p_is_that_of_functions_and_of_distributions(test, name):
    """Whatever a setting does to p, it does everywhere."""
    function, record = FUNCTIONS[test]
    plain = report_with(test)[0]
    for value in other_values(name):
        try:
            report = report_with(test, **{name: value})
        except InputError:
            continue  # said aloud
        one = report[0]
        if name in options_of(record):
            given = {"interval": "none"} if test == "bootstrap" else {}
            again = function(*SCORES.values(), **{**given, **BASE[test], name: value}, device="numpy")
            assert again.p_value == one.p_value, value
        else:
            assert one.p_value == plain.p_value, f"{name}={value!r} changes p, but {function.__name__} does not have it"
        found = report.distribution(one.a, one.b, test=test)
        extreme = sum(found.extreme)
        if found.resamples is not None and one.resamples == found.resamples:
            extreme = (round(extreme * found.resamples) + 1) / (found.resamples + 1)
        elif found.resamples is not None or one.resamples is not None:
            continue  # one of them is sampled, and the other exact
        assert extreme == pytest.approx(one.p_value, rel=1e-6), value


SAMPLED = {"method": "montecarlo", "resamples": 300}
PATHS = {
    "exact": ("mean", {"test": "permutation", "method": "exact", "interval": "none"}),
    "right or wrong": ("accuracy", {"test": "permutation", "method": "exact", "interval": "none"}),
    "sampled": ("ratio", {"test": "permutation", "interval": "none", **SAMPLED}),
    "maxt": ("ratio", {"test": "permutation", "interval": "none", "correction": "maxt", **SAMPLED}),
    "studentized": ("ratio", {"test": "permutation", "interval": "none", "statistic": "studentized", **SAMPLED}),
    "sample metric": ("median", {"test": "permutation", "interval": "none", **SAMPLED}),
    "bootstrap": ("ratio", {"test": "bootstrap", "interval": "percentile", **SAMPLED}),
    "one-sided bootstrap": (
        "ratio",
        {"test": "bootstrap", "interval": "percentile", "alternative": "greater", **SAMPLED},
    ),
    "exact bootstrap": ("mean", {"test": "bootstrap", "method": "exact", "interval": "percentile"}),
    "bootstrap of a sample metric": ("median", {"test": "bootstrap", "interval": "percentile", **SAMPLED}),
    "intervals": ("ratio", {"test": "permutation", **SAMPLED}),
}
"""Ways to a number: the metric, and options."""
_EXACT, _DRAWN = {"family", "variant", "resamples", "seed"}, {"family", "variant", "budget", "memory"}
NO_EFFECT = dict.fromkeys(PATHS, _DRAWN)
NO_EFFECT |= {
    "exact": {*_EXACT, "statistic"},
    "right or wrong": {*_EXACT, "memory", "statistic"},
    "exact bootstrap": _EXACT - {"resamples"},
    "one-sided bootstrap": _DRAWN - {"variant"},
}
"""Settings that change nothing: exact tests draw nothing, and what is drawn needs no budget; with one metric there is
one family; both variants of the two-sided bootstrap test are the same, as are both statistics for a mean. The
bootstrap test refuses `resamples="auto"`."""
LIMITS = {"budget": [1e-9], "memory": [1e-7]}


def path_data(metric):
    rng = np.random.default_rng(1)
    counts = {
        name: np.stack([rng.binomial(9, rate, 14), rng.integers(9, 12, 14)], axis=1)
        for name, rate in {"A": 0.6, "B": 0.45, "C": 0.4}.items()
    }
    columns = counts if metric == "ratio" else {name: own[:, 0] for name, own in counts.items()}
    if metric == "accuracy":
        columns = {name: (own > 4).astype(int) for name, own in columns.items()}
    return Evaluation.from_arrays(columns, metric=metric)


def without_effect(path, run=compare):
    """The settings none of whose values changes a number or is refused."""
    metric, base = PATHS[path]
    data, same = path_data(metric), set()

    def said(**options):
        try:
            report = run(data, **{**base, **options}, progress=False, device="numpy")
        except InputError:
            return None
        return [replace(one, settings=Settings()) for one in report], report.systems

    plain = said()
    for name in options_of(Settings).keys() - {"test"}:
        values = [each for each in LIMITS.get(name) or other_values(name) if each != base.get(name)]
        if values and all(said(**{name: value}) == plain for value in values):
            same.add(name)
    return same


@pytest.mark.parametrize("path", PATHS)
def test_every_setting_changes_a_number_or_is_refused(path):
    """On every way; one that is added acts there, is refused there, or stands in `NO_EFFECT`."""
    assert without_effect(path) == NO_EFFECT[path]


@pytest.mark.parametrize("path", ["exact", "studentized", "sample metric"])
def test_a_setting_that_is_ignored_on_one_way_is_noticed(path):
    """Here `mid_p` is, in silence."""

    def ignores(data, **options):
        return compare(data, **{**options, "mid_p": False})

    assert without_effect(path, ignores) == {*NO_EFFECT[path], "mid_p"}


@pytest.mark.parametrize("path", sorted(PATHS.keys() - {"studentized"}))
def test_distributions_are_those_of_every_way(path):
    """The p-value is that of the numbers that `distribution` gives, with every value of every setting."""
    metric, base = PATHS[path]
    data, seen = path_data(metric), 0
    for name in sorted(options_of(Settings).keys() - {"test", "correction", "interval", "leaderboard", "family"}):
        for value in other_values(name):
            if value == "auto":
                continue  # p of a test that stops by itself is larger (`valid_p`)
            try:
                report = compare(data, **{**base, name: value}, progress=False, device="numpy")
                found = report.distribution(report[0].a, report[0].b, test=base["test"])
            except InputError:
                continue  # said aloud
            one = report[0]
            extreme = sum(found.extreme)
            if found.resamples is not None and one.resamples == found.resamples:
                extreme = (round(extreme * found.resamples) + 1) / (found.resamples + 1)
            elif found.resamples is not None or one.resamples is not None:
                continue  # one of them is sampled, and the other exact
            assert extreme == pytest.approx(one.p_value, rel=1e-6), (name, value)
            seen += 1
    assert seen > 3


@pytest.mark.parametrize("name", sorted(options_of(Settings).keys() - {"test"}))
def test_the_methods_paragraph_names_what_is_not_the_default(name):
    """By name where no sentence words it."""
    report = report_with("permutation", method="montecarlo", resamples=99)
    base = {field: option.default for field, option in options_of(Settings).items() if field != "test"}
    for value in other_values(name):
        settings = replace(report.settings, **base | {name: value})
        changed = replace(report, settings=settings).to_methods()
        assert (rf"\texttt{{{name}}}" in changed.replace(r"\_", "_")) == (name not in _WORDED)


def test_a_baseline_that_names_two_systems_is_refused():
    """1 is the first system; where another has that name, it may be meant. Names that are other numbers are theirs."""
    numbers = [1, 0, 1, 1]
    with pytest.raises(InputError, match="baseline '1' is the first system, 'x', and also the name of another"):
        compare({"x": numbers, "1": numbers}, baseline="1")
    for systems, name in ((("1", "x"), "1"), (("x", "0"), "0")):
        (one,) = compare(dict.fromkeys(systems, numbers), baseline=name)
        assert name in (one.a, one.b)


def test_the_bounds_of_a_family_are_of_all_its_other_pairs():
    """While subsets of 3, 1 and 2 pairs of one metric, and of 4 of another, are tested in turn."""
    sizes = ((3, 1, 2), (4,))
    subsets = [[SimpleNamespace(pairs=range(size)) for size in of_metric] for of_metric in sizes]
    tested = [[]]
    for number, size in enumerate((3, 1, 2, 4)):
        if number == 3:
            tested.append([])
        found = bounds_of_others(tested, subsets)
        assert len(found) == 10 - size
        assert (found == [0.0, 1.0]).all(axis=1).sum() == 10 - sum((3, 1, 2, 4)[: number + 1])
        columns = exact_columns([(0.25, np.log10(0.25), 0.0)] * size, Column.constant("", size))
        tested[-1].append(({"permutation": columns}, None))
