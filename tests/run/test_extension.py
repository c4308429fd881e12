"""A report gets more resamples as a fresh run would have them; a system more leaves the counts of others alone."""

import json
import math

import pytest
from runs import COUNTS, FSCORE, OTHERS, RUNS, TWO

from sigjax import Evaluation, InputError, compare
from sigjax.run.shards import DEFAULTS
from sigjax.testing import permutation as permutation

MORE = {
    "both tests of two metrics": (TWO, {"test": ["permutation", "bootstrap"], "method": "montecarlo"}),
    "exact and not": (FSCORE, {"budget": 1e-3}),
    "simultaneous intervals": (FSCORE, {"interval": "simultaneous"}),
    "exact": (Evaluation.from_arrays(COUNTS, metric="precision"), {}),
    "against a baseline": (
        FSCORE,
        {"baseline": "s2", "alternative": "greater", "method": "montecarlo", "interval": "none"},
    ),
    "a function of samples": (RUNS["a function of samples"][0], {"interval": "none", "method": "montecarlo"}),
}


@pytest.mark.parametrize(("name", "device"), [(name, "numpy") for name in MORE] + [("against a baseline", "cpu")])
def test_more_resamples_give_the_report_of_a_fresh_run(name, device, tmp_path):
    evaluation, options = MORE[name]
    fresh = compare(evaluation, resamples=7001, **options)
    old = compare(evaluation, resamples=2500, **options)
    file = tmp_path / "old.json"
    file.write_text(old.to_json())
    assert old.extend(7001, device=device).to_json() == fresh.to_json()
    assert old.extend(resamples=4000).extend(resamples=7001).to_json() == fresh.to_json()
    assert compare(evaluation, resamples=7001, extend=file, **options).to_json() == fresh.to_json()
    assert compare(evaluation, resamples=7001, extend=old, checkpoint=tmp_path / "c", **options) == fresh


@pytest.mark.parametrize("message", [each for each in OTHERS if not each.startswith("resamples")])
def test_a_report_of_other_data_and_settings_is_not_extended(message, tmp_path):
    old = tmp_path / "old.json"
    old.write_text(compare(FSCORE, resamples=500).to_json())
    evaluation, options = OTHERS[message]
    with pytest.raises(InputError) as caught:
        compare(evaluation, resamples=1000, **options, extend=old)
    assert str(old) in str(caught.value)
    assert message in str(caught.value)


def test_another_version_is_refused(tmp_path, monkeypatch):
    path, old = tmp_path / "run.ckpt", tmp_path / "old.json"
    old.write_text(compare(FSCORE, resamples=500, checkpoint=path).to_json())
    monkeypatch.setattr("sigjax.run.shards.__version__", "0.0.7")
    with pytest.raises(InputError, match=r"sigjax is .* there and 0\.0\.7 here"):
        compare(FSCORE, resamples=500, checkpoint=path)
    with pytest.raises(InputError, match=r"sigjax is .* there and 0\.0\.7 here"):
        compare(FSCORE, resamples=1000, extend=old)


def test_another_function_of_the_same_name_is_refused(tmp_path):
    def metric_over(stat):
        def metric(sums):
            return sums[..., 0] / sums[..., stat]

        return metric

    path, metric = tmp_path / "run.ckpt", metric_over(2)
    old = compare(Evaluation.from_arrays(COUNTS, metric=metric_over(1)), resamples=500, checkpoint=path)

    for again in ({"resamples": 500, "checkpoint": path}, {"resamples": 600, "extend": old}):
        with pytest.raises(InputError, match="'metric' gives other scores"):
            compare(Evaluation.from_arrays(COUNTS, metric=metric), **again)


def test_there_must_be_something_to_add(tmp_path):
    old = compare(FSCORE, resamples=500)
    for resamples in (500, 499):
        with pytest.raises(InputError, match=f"has 500 resamples; .* must be larger, got {resamples}"):
            old.extend(resamples)
    with pytest.raises(InputError, match="with resamples auto there is nothing to add"):
        old.extend(resamples="auto")
    for text, message in (
        ("id\tA", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "has no schema, expected 'sigjax/1'"),
        ('{"schema": 1}', "has the schema 1, expected 'sigjax/1'"),
    ):
        path = tmp_path / "old.json"
        path.write_text(text)
        with pytest.raises(InputError, match=rf"old\.json: {message}"):
            compare(FSCORE, extend=path)
    with pytest.raises(InputError, match=r"none\.json: no such file"):
        compare(FSCORE, extend=tmp_path / "none.json")


def _of_first_pair(**changes):
    return lambda report: report["pairs"][0].update(changes)


def _last_digit(row):
    row["p_value"] = math.nextafter(row["p_value"], 1.0)


@pytest.mark.parametrize("name", sorted(DEFAULTS.keys() - {"tests", "resamples", "method", "interval"}))
def test_a_report_older_than_a_setting_had_its_default(name, tmp_path):
    settings = {"method": "montecarlo", "interval": "none"}
    report = json.loads(compare(FSCORE, **settings, resamples=500).to_json())
    del report["settings"][name], report["checksum"]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(report))
    assert compare(FSCORE, **settings, resamples=800, extend=path) == compare(FSCORE, **settings, resamples=800)


CHANGED = {
    "more than there are": (_of_first_pair(exceed=501), "'s0' and 's1' are not those of 500 resamples"),
    "less than none": (_of_first_pair(exceed=-1), "'s0' and 's1' are not those of"),
    "another count": (_of_first_pair(exceed=499), "'s0' and 's1' are not those of"),
    "text": (_of_first_pair(exceed="3"), "'s0' and 's1' are not those of"),
    "no whole number": (_of_first_pair(exceed=3.0), "'s0' and 's1' are not those of"),
    "no count": (_of_first_pair(exceed=None), "'s0' and 's1' are not those of"),
    "a digit of p": (lambda report: _last_digit(report["pairs"][0]), "'s0' and 's1' are not those of"),
    "another p": (_of_first_pair(p_value=0.5), "'s0' and 's1' are not those of"),
    "other resamples": (_of_first_pair(resamples=400), "'s0' and 's1' are not those of"),
    "exact": (_of_first_pair(method="exact"), "'s0' and 's1' are not those of"),
    "another system": (_of_first_pair(a="other"), "the pairs are not those of the run"),
    "another test": (_of_first_pair(test="bootstrap"), "the pairs are not those of the run"),
    "a pair less": (lambda report: report["pairs"].pop(), "the pairs are not those of the run"),
    "a pair twice": (lambda report: report["pairs"].append(report["pairs"][0]), "the pairs are not those of the run"),
    "another order": (lambda report: report["pairs"].reverse(), "the pairs are not those of the run"),
    "another schema": (lambda report: report.update(schema="sigjax/0"), "has the schema 'sigjax/0'"),
    "another delta": (_of_first_pair(delta=0.5), "has changed since the report was written"),
    "another note": (lambda report: report.update(notes=["all is well"]), "has changed since the report was written"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_report_that_was_changed_by_hand_is_refused(name, tmp_path):
    """Counts would be taken for those of another pair, or of resamples that were never drawn."""
    change, message = CHANGED[name]
    report = json.loads(compare(FSCORE, resamples=500, method="montecarlo", interval="none").to_json())
    change(report)
    path = tmp_path / "old.json"
    path.write_text(json.dumps(report))
    with pytest.raises(InputError, match=rf"old\.json: .*{message}"):
        compare(FSCORE, resamples=1000, method="montecarlo", interval="none", extend=path)


@pytest.mark.parametrize(
    "options",
    [
        {"test": ["permutation", "bootstrap"], "resamples": 3000},
        {"test": "bootstrap", "resamples": 35_000, "memory": 1e-4},
        {"test": "permutation", "resamples": 3000, "device": "cpu", "interval": "none"},
    ],
    ids=["kept", "counted", "compiled"],
)
@pytest.mark.slow
def test_a_system_that_is_added_leaves_the_counts_of_others_alone(options):
    arrays = {name: rows[:, :2] for name, rows in COUNTS.items()}
    found = []
    for names in (("s0", "s1"), ("s0", "s1", "s2"), ("s3", "s0", "s1")):
        evaluation = Evaluation.from_arrays(
            {name: arrays[name] for name in names}, metric=lambda s: s[..., 0] / s[..., 1]
        )
        every = compare(evaluation, method="montecarlo", **options)
        found.append([(c.test, c.exceed) for c in every if (c.a, c.b) == ("s0", "s1")])
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == len(every) // 3


@pytest.mark.parametrize(("factor", "refused"), [(1 + 1e-7, True), (1 + 1e-12, False)])
def test_scores_of_the_run_that_goes_on_may_differ_by_rounding_only(factor, refused):
    def metric(sums):
        return scale * sums[..., 0] / sums[..., 1]

    scale = 1.0
    data = Evaluation.from_arrays(COUNTS, metric=metric)
    old = compare(data, resamples=500)
    scale = factor
    if refused:
        with pytest.raises(InputError, match="'metric' gives other scores"):
            compare(data, resamples=600, extend=old)
    else:
        assert compare(data, resamples=600, extend=old).settings.resamples == 600
