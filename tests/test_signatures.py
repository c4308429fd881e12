"""What Python refuses, type checkers refuse, too: pyright reads this file, and finds no needless ignore in it."""
# pyright: reportCallIssue=error, reportUnnecessaryTypeIgnoreComment=error

from collections.abc import Callable

import pytest

import sigjax

DATA = {"A": [1, 0, 1], "B": [0, 0, 1]}
REFUSED: dict[str, Callable[[], object]] = {
    "no data": lambda: sigjax.compare(),  # pyright: ignore[reportCallIssue]
    "one of two samples": lambda: sigjax.permutation_test([1, 2]),  # pyright: ignore[reportCallIssue]
    "options by position": lambda: sigjax.compare(DATA, "bootstrap"),  # pyright: ignore[reportCallIssue]
    "SciPy's seed": lambda: sigjax.compare(DATA, random_state=0),  # pyright: ignore[reportCallIssue]
    "SciPy's resamples": lambda: sigjax.bootstrap_test([1], [2], n_resamples=9),  # pyright: ignore[reportCallIssue]
    "a level": lambda: sigjax.studies.gains(DATA, alpha=0.05),  # pyright: ignore[reportCallIssue]
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_type_checkers_and_python_refuse_the_same_calls(call):
    with pytest.raises(TypeError, match=r"missing a required|positional|unexpected keyword"):
        call()


@pytest.mark.parametrize("function", [sigjax.compare, sigjax.bootstrap_test, sigjax.equivalence, sigjax.one_sample])
@pytest.mark.parametrize(
    ("theirs", "value", "ours"),
    [
        ("random_state", 0, "seed"),
        ("n_resamples", 99, "resamples"),
        ("alpha", 0.05, "confidence_level=0.95"),
        ("level", 0.9, "confidence_level"),
    ],
)
def test_names_of_other_programs_lead_to_ours(function, theirs, value, ours):
    data = ([1, 2], [2, 4]) if function is sigjax.bootstrap_test else (DATA,)
    more = {"margin": 1} if function is sigjax.equivalence else {"against": 1} if function is sigjax.one_sample else {}
    with pytest.raises(TypeError, match=rf"unexpected keyword argument '{theirs}'; use {ours}$"):
        function(*data, **more, **{theirs: value})
