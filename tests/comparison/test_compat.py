"""What sacrebleu says on the same resamples: its own functions, run on our masks and draws, are the oracle."""

import json
import re

import jsonschema
import numpy as np
import pytest
import sacrebleu.significance
from sacrebleu.metrics.bleu import BLEU

from sigjax import Evaluation, InputError, Report, SampleMetric, compare, equivalence
from sigjax.cli import main
from sigjax.resample.draws import draws_from_strata, rows_of, seed_key, swap

K = 999
RNG = np.random.default_rng(4)
WORDS = np.array("the a cat dog sat ran on under mat rug".split())
GOLD = [" ".join(RNG.choice(WORDS, 9)) for _ in range(60)]


def worse(changes):
    """The gold segments with some words replaced."""
    texts = [text.split() for text in GOLD]
    for words in texts:
        for place in RNG.choice(9, RNG.integers(0, changes + 1), replace=False):
            words[place] = str(RNG.choice(WORDS))
    return [" ".join(words) for words in texts]


TEXTS = {"base": worse(6), "near": worse(6), "better": worse(5), "same": None}
TEXTS["same"] = list(TEXTS["base"])


class OurDraws:
    """Stands for a generator of NumPy, and draws what sigjax draws."""

    rows = rows_of(seed_key(12345), np.arange(K))
    draws = draws_from_strata(np.zeros(len(GOLD), int))

    def choice(self, count, *, size, replace):
        assert (count, size, replace) == (len(GOLD), (K, len(GOLD)), True)
        return self.draws.drawn(self.rows)

    def integers(self, high, *, size, dtype):
        assert (high, size, dtype) == (2, (K, len(GOLD)), bool)
        return swap(self.rows, self.draws, np.int8)[:, : len(GOLD)] == 0


@pytest.mark.parametrize(("test", "theirs"), [("permutation", "ar"), ("bootstrap", "bs")])
def test_sacrebleu_itself_gives_these_p_values_on_our_resamples(monkeypatch, test, theirs):
    monkeypatch.setattr(np.random, "default_rng", lambda seed: OurDraws())
    paired = sacrebleu.significance.PairedTest(
        list(TEXTS.items()), {"BLEU": BLEU(references=[GOLD])}, None, test_type=theirs, n_samples=K
    )
    _, results = paired()
    expected = [result.p_value for result in results["BLEU"][1:]]
    evaluation = Evaluation.from_texts(TEXTS, [GOLD], metric="bleu", cache=False)
    report = compare(evaluation, test=test, baseline="1", resamples=K, device="numpy", compat="sacrebleu")
    (peer,) = report.compat
    assert (peer.name, peer.test, peer.metric) == (f"sacrebleu --paired-{theirs}", test, "bleu")
    assert list(peer.p_values) == expected
    assert peer.p_values[-1] == 1 / (K + 1)
    assert report[-1].p_value == 1
    plain = compare(evaluation, test=test, baseline="base", resamples=K, device="numpy")
    assert report.comparisons == plain.comparisons
    assert plain.compat == ()


def apart(errors):
    """Systems of which the first two are so many standard errors apart, and the third is like the second."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.20, 1, 120), rng.normal(0, 1, 120)
    a += errors * (a - b).std() / np.sqrt(120) - (a - b).mean()
    return {"A": a, "B": b, "C": b + rng.normal(0, 0.1, 120)}


def of(values, **options):
    defaults = {"resamples": 5000, "method": "montecarlo", "device": "numpy"}
    return compare(Evaluation.from_arrays(values), **(defaults | options))


def test_the_report_says_where_the_decision_differs_and_why():
    values = apart(1.75)
    del values["C"]
    report = of(values, test="bootstrap", compat="sacrebleu")
    (one,), ((p_value,),) = report, [peer.p_values for peer in report.compat]
    assert one.p_value > 0.05 > p_value > 0.4 * one.p_value  # D2: about half of it
    text = " ".join(report.to_text().split())
    assert f"p (sacrebleu --paired-bs) {p_value:.4f}" in text
    assert (
        f"sacrebleu --paired-bs: p = {p_value:.4f} on 5,000 resamples, another decision at 0.05. It takes absolute "
        "values before it centres them, so that one tail counts" in text
    )
    for written in (report.to_markdown(), report.to_html(), report.to_latex(appendix=True)):
        assert "another decision at 0.05" in " ".join(written.split())


def test_the_correction_may_explain_another_decision():
    report = of(apart(2.1), compat="sacrebleu", correction="bonferroni")
    first, second, last = report
    assert first.p_value < 0.05 < first.p_adjusted
    assert second.p_value < 0.05 < second.p_adjusted
    text = " ".join(str(report).split())
    assert "sacrebleu --paired-ar: another decision at 0.05 for 2 of 3 pairs on 5,000 resamples: A - B (p 0.0" in text
    assert re.search(rf"A - B \(p 0\.0\d+, here 0\.0\d+, adjusted {first.p_adjusted:.2g}", text)
    assert "It does not adjust p for the number of pairs, and we do by Bonferroni. It leaves out ties" in text


def test_clusters_which_other_programs_do_not_know_are_named():
    values = apart(2.0)
    documents = np.repeat(np.arange(30), 4)
    clustered = compare(Evaluation.from_arrays(values, clusters=documents), device="numpy", compat="sacrebleu")
    plain = compare(Evaluation.from_arrays(values), device="numpy", compat="sacrebleu")
    assert [peer.p_values for peer in clustered.compat] != [peer.p_values for peer in plain.compat]
    assert "it knows no clusters, so that this is its formula on ours" in clustered.compat[0].about
    assert "no clusters" not in plain.compat[0].about


def test_json_has_it_and_reads_it_back():
    report = of(apart(2.0), test=["permutation", "bootstrap"], resamples=500, compat="sacrebleu")
    written = json.loads(report.to_json())
    jsonschema.Draft202012Validator(Report.json_schema()).validate(written)
    rows = [pair for peer in written["compat"] for pair in peer["pairs"]]
    ours = {(one.a, one.b, one.test): one.p_adjusted < 0.05 for one in report}
    for peer in written["compat"]:
        for pair in peer["pairs"]:
            decided = pair["p_value"] < 0.05
            assert pair["significant"] == decided
            assert pair["same_decision"] == (ours[pair["a"], pair["b"], peer["test"]] == decided)
    assert len(rows) == 2 * 3
    again = Report.from_json(report.to_json())
    assert again == report
    assert str(again) == str(report)
    assert again.to_json() == report.to_json()


def test_what_has_no_counterpart_is_refused():
    near = Evaluation.from_arrays(apart(1.0))
    median = SampleMetric("median", np.median, ("value",))
    values = {"A": [1.0, 2.0, 4.0], "B": [0.0, 1.0, 5.0]}
    with pytest.raises(InputError, match="compat needs a metric of sums"):
        compare(Evaluation.from_arrays(values, metric=median), resamples=99, compat="sacrebleu")
    with pytest.raises(InputError, match="compat must be sacrebleu, got 'moses'"):
        compare(near, compat="moses")
    with pytest.raises(InputError, match="compat keeps 3 numbers per resample; give memory=0.05"):
        compare(near, test="bootstrap", resamples=10**6, interval="none", memory=0.01, compat="sacrebleu")


def test_baseline_1_is_the_first_system(tmp_path, capsys):
    for name, value in (("x", "a b c d"), ("y", "a b c e"), ("1", "a b d e"), ("gold", "a b c d")):
        (tmp_path / f"{name}.txt").write_text(f"{value}\n" * 3 + f"{name} b c d\n")
    command = ["compare", str(tmp_path / "gold.txt"), "-m", "bleu", "--baseline", "1", "--device", "numpy", "-i"]
    with pytest.raises(SystemExit) as done:
        main([*command, str(tmp_path / "x.txt"), str(tmp_path / "y.txt"), "--format", "json"])
    written = json.loads(capsys.readouterr().out)
    assert (done.value.code, written["settings"]["baseline"]) == (0, "x")
    assert [(pair["a"], pair["b"]) for pair in written["pairs"]] == [("y", "x")]
    with pytest.raises(SystemExit) as done:
        main([*command, str(tmp_path / "x.txt"), str(tmp_path / "1.txt")])
    assert done.value.code == 2
    assert "baseline '1' is the first system, 'x', and also the name of another; rename that one" in (
        capsys.readouterr().err
    )
    numbered = Evaluation.from_arrays({"1": [1, 2, 3, 5], "2": [2, 2, 2, 2]})
    assert compare(numbered, baseline="1").settings.baseline == "1"
    (one,) = equivalence(Evaluation.from_arrays({"A": [1, 2, 3], "B": [2, 2, 2]}), margin=9.0, baseline="1")
    assert (one.a, one.b) == ("B", "A")
