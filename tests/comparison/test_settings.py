"""No setting is ignored in silence: outputs and functions use it, refuse it, or are listed as without it.

A setting that is added is tried as it is declared; `LEFT_OUT` names it where a function does not have it.
"""

from dataclasses import replace
from typing import get_args

import pytest

from sigjax import InputError, bootstrap_test, compare, permutation_test
from sigjax.comparison.options import BootstrapOptions, PermutationOptions
from sigjax.records import Settings
from sigjax.records.options import options_of, types_of
from sigjax.report.methods import _WORDED

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


@pytest.mark.parametrize("name", sorted(options_of(Settings).keys() - {"test"}))
def test_the_methods_paragraph_names_what_is_not_the_default(name):
    """By name where no sentence words it."""
    report = report_with("permutation", method="montecarlo", resamples=99)
    base = {field: option.default for field, option in options_of(Settings).items() if field != "test"}
    for value in other_values(name):
        settings = replace(report.settings, **base | {name: value})
        changed = replace(report, settings=settings).to_methods()
        assert (rf"\texttt{{{name}}}" in changed.replace(r"\_", "_")) == (name not in _WORDED)
