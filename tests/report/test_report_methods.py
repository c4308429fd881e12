"""The methods paragraph says what the settings say, and cites what it has entries for."""

import json
import pickle
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from sigjax import Evaluation, InputError, Report, compare, read
from sigjax.readers.saved import save_evaluations
from sigjax.records import CORRECTIONS
from sigjax.report.methods import to_methods

ROOT = Path(__file__).parents[2]


def report(metric="accuracy", values=2, **options):
    rng = np.random.default_rng(0)
    values = {name: rng.integers(0, values, 40) for name in "abc"}
    return compare(Evaluation.from_arrays(values, metric=metric), device="numpy", progress=False, **options)


def entries():
    return Report.to_bibtex().strip().split("\n\n")


def _cited(paragraph):
    return list(dict.fromkeys(key for keys in re.findall(r"cite{(.*?)}", paragraph) for key in keys.split(",")))


PAPERS = {  # as README names them: which tests cite each, and where it was published (ACL Anthology)
    "Yeh (2000)": ("permutation", "Yeh, Alexander", "947--953", "C00-2137"),
    "Berg-Kirkpatrick et al. (2012)": (
        "bootstrap",
        "Berg-Kirkpatrick, Taylor and Burkett, David and Klein, Dan",
        "995--1005",
        "D12-1091",
    ),
    "Zmigrod et al. (2022)": (
        "permutation",
        "Zmigrod, Ran and Vieira, Tim and Cotterell, Ryan",
        "4894--4902",
        "2022.naacl-main.360",
    ),
}


@pytest.mark.parametrize(("name", "paper"), PAPERS.items())
def test_the_papers_that_the_front_page_names_are_cited_where_their_test_is(name, paper):
    test, authors, pages, anthology = paper
    front = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert name in front.partition("and of the tests: ")[2]
    tests = ("permutation", "bootstrap")
    paragraphs = {each: to_methods(report("mean", values=10, test=each, resamples=200)) for each in tests}
    (entry,) = (entry for entry in entries() if f"author = {{{authors}}}" in entry)
    assert pages in entry
    assert anthology in entry
    for each, paragraph in paragraphs.items():
        assert (re.match(r"@\w+{(\w+),", entry)[1] in _cited(paragraph)) == (each == test)


def test_the_paragraph_as_a_whole():
    assert re.sub(r"sigjax \d+\.\d+\.\d+", "sigjax V", to_methods(report())) == (
        r"We compared all pairs of 3 systems by accuracy on 40 instances. The p-values of two-sided paired "
        r"permutation tests~\cite{noreen1989,yeh2000} were computed exactly, without sampling. Their null hypothesis "
        r"is that the outputs of two systems are exchangeable. For accuracy "
        r"this is McNemar's exact test~\cite{mcnemar1947}. The p-values were adjusted for "
        r"the 3 comparisons by the method of Holm~\cite{holm1979}. We call differences with adjusted $p < 0.05$ "
        r"significant. We give 95\% confidence intervals: Wilson's score interval~\cite{wilson1927} for scores and "
        r"Tango's score interval~\cite{tango1998} for differences. The intervals of differences of 3 comparisons are "
        r"simultaneous (Bonferroni~\cite{dunn1961}: each at 98.3333\%). We used sigjax V~\cite{sigjax}."
        "\n"
    )


def test_it_is_true_to_the_settings():
    text = to_methods(
        report(
            method="montecarlo", resamples=500, seed=7, correction="none", alternative="greater", confidence_level=0.99
        )
    )
    assert r"one-sided (greater) paired permutation tests~\cite{noreen1989,yeh2000} (first minus second system)" in text
    assert "were computed from 500 random permutations (seed 7). A sampled p-value is $(x+1)/(n+1)$, where" in text
    assert "The p-values were not adjusted for the 3 comparisons." in text
    assert "$p < 0.01$" in text
    assert r"We give 99\% confidence intervals: " in text
    assert "phipson2010" in text
    assert "zmigrod2022" not in text
    assert "We compared 2 systems with b by accuracy" in to_methods(report(baseline="b"))
    assert r"as mid-p-values~\cite{lancaster1961}" in to_methods(report(mid_p=True, method="exact"))
    assert r"null distribution of $\delta-\delta^*$" in to_methods(
        report(test="bootstrap", resamples=200, variant="flip")
    )


def test_exact_and_sampled_p_values_have_a_sentence_each():
    """One comparison is exact, of identical systems, and the others are sampled."""
    rng = np.random.default_rng(3)
    scores = {"A": rng.normal(0.4, 1.0, 300), "B": rng.normal(0.0, 1.0, 300), "D": rng.normal(2.0, 1.0, 300)}
    made = compare({**scores, "C": scores["A"]}, resamples=999, progress=False, read={"metric": "median"})
    text = " ".join(to_methods(made).split())
    exact = sum(one.resamples is None for one in made)
    assert 0 < exact < len(made)
    assert f"exactly, without sampling for {exact} of 6 comparisons and from 999 random permutations" in text
    assert "(seed 12345) for the others. A sampled p-value is $(x+1)/(n+1)$, where $x$ of $n$ are at least" in text
    assert max(len(sentence.split()) for sentence in text.split(". ")) < 60


def test_signatures_of_sacrebleu_and_missing_instances_are_named(tmp_path):
    texts = {"A": ["the cat sat on the mat", "a dog ran"], "B": ["the cat sat on a rug", "a dog sat"]}
    evaluation = Evaluation.from_texts(texts, [["the cat sat on the mat", "a dog ran on"]], metric="bleu", cache=False)
    compared = compare(evaluation, device="numpy")
    paragraph = to_methods(compared)
    assert (
        r"Sacrebleu~\cite{post2018} has the signature \texttt{BLEU\textbar\hfil\allowbreak\hfilneg{}nrefs:1"
        in paragraph
    )
    assert "|sacrebleu:BLEU,nrefs:1,case:mixed,eff:no,tok:13a," in compared.signature
    path = tmp_path / "scores.tsv"
    path.write_text("id\tA\tB\n" + "".join(f"{k}\t{k % 2}\t{k % 3}\n" for k in range(9)) + "9\t1\t\n")
    for missing, sentence in (
        ("drop", "Of 10 instances, 1 that some system lacks were left out."),
        ("zero", "We counted 1 missing result as 0."),
    ):
        found = read(path, missing=missing)
        save_evaluations(str(tmp_path / "saved.npz"), [found])
        for each in (found, read(tmp_path / "saved.npz"), pickle.loads(pickle.dumps(found))):
            report = compare(each, device="numpy")
            assert sentence in report.to_methods()
            assert Report.from_json(report.to_json()).to_methods() == report.to_methods()


@pytest.mark.parametrize("change", [{"note": 99}, {"note": "next"}, {"about": "bleu"}, {"values": {"dropped": "many"}}])
def test_facts_that_are_of_no_note_are_refused(change):
    scores = {"A": {"x": 1, "y": 0, "z": 1}, "B": {"x": 0, "y": 1}}
    written = json.loads(compare(scores, read={"missing": "drop"}, device="numpy").to_json())
    written["facts"][0] |= {key: len(written["notes"]) if value == "next" else value for key, value in change.items()}
    with pytest.raises(InputError, match="facts"):
        Report.from_json(json.dumps(written))


@pytest.mark.parametrize(
    ("correction", "interval"), [*product([name for name in CORRECTIONS if name != "none"], ["bca", "none"])]
)
def test_every_citation_has_its_entry(correction, interval):
    paragraph = to_methods(report("mean", correction=correction, interval=interval, resamples=200))
    assert set(_cited(paragraph)) <= {re.match(r"@\w+{(\w+),", entry)[1] for entry in entries()}
    assert ("intervals" in paragraph) == (interval != "none")


COMPLETE = {"article": {"journal", "volume", "pages"}, "inproceedings": {"booktitle", "pages"}, "book": {"publisher"}}


def test_entries_are_complete_with_balanced_braces_and_unique_keys():
    assert all(entry.count("{") == entry.count("}") for entry in entries())
    assert len({entry.split(",")[0] for entry in entries()}) == len(entries())
    for entry in entries():
        needed = COMPLETE.get(re.match(r"@(\w+){", entry)[1], set()) | {"author", "title", "year"}
        assert needed <= set(re.findall(r", (\w+) = {", entry)), entry
    (entry,) = (entry for entry in entries() if "{phipson2010," in entry)
    assert "pages = {Article 39}" in entry


def test_citations_fit_the_design_and_strata_and_pairs_are_named():
    rng = np.random.default_rng(0)
    values, runs = {name: rng.integers(0, 9, 24) for name in "abc"}, [k % 4 for k in range(24)]
    of_models = Evaluation.from_arrays(values, metric="mean", ids=[k // 4 for k in range(24)], runs=runs)
    text = to_methods(compare(of_models, design="models", device="numpy", progress=False))
    assert r"two-sided permutation tests~\cite{pitman1937,noreen1989} were computed exactly, without sampling" in text
    assert "yeh2000" not in text
    assert "We compared all pairs of 3 systems by mean on 6 instances with 4 runs" in text
    text = to_methods(compare(of_models, test=["permutation", "bootstrap"], device="numpy", progress=False))
    assert "All runs of an instance were exchanged and drawn together." in text
    assert r"bootstrap tests~\cite{davison1997,efron1993,bergkirkpatrick2012}" in text
    documents = Evaluation.from_arrays(values, metric="mean", clusters=[k // 4 for k in range(24)])
    text = to_methods(compare(documents, interval="simultaneous", device="numpy", progress=False))
    assert "Instances form 6 clusters, which were exchanged whole." in text
    assert r"which are simultaneous~\cite{hothorn2008}" in text
    strata = Evaluation.from_arrays(values, metric="mean", strata=[k // 12 for k in range(24)])
    text = to_methods(compare(strata, device="numpy", progress=False))
    assert "Standard errors and intervals are stratified by 2 strata. The permutation test exchanges outputs" in text
    text = to_methods(compare(strata, test="bootstrap", resamples=200, device="numpy", progress=False))
    assert "2 strata, and bootstrap resamples were drawn within them." in text
    assert "permutation" not in text
    some = {"A": {"x": 1, "y": 0, "z": 1}, "B": {"x": 0, "y": 1, "z": 1}, "C": {"x": 0, "z": 0}}
    text = to_methods(compare(some, read={"missing": "pairwise"}, device="numpy", progress=False))
    assert "Each pair was compared on the instances that both systems have." in text


def test_labels_of_people_and_their_number_are_named():
    rng = np.random.default_rng(3)
    tables = {}
    for name in "ab":
        human, judge = rng.integers(0, 2, 60) * 1.0, rng.random(60)
        human[30:] = np.nan
        tables[name] = np.stack([human, judge], axis=1)
    text = to_methods(compare(Evaluation.from_arrays(tables, metric="ppi"), device="numpy", progress=False))
    cited = (
        r"estimated from 60 human labels of all systems and a judge's scores of all outputs~\cite{angelopoulos2023}."
    )
    assert cited in text


def test_runs_of_fixed_tasks_are_the_sample():
    scores = {name: np.random.default_rng(k).random(40) for k, name in enumerate("ab")}
    games = [f"game{k % 8}" for k in range(40)]
    data = Evaluation.from_arrays(scores, metric="iqm", ids=games, runs=[k // 8 for k in range(40)], strata=games)
    text = to_methods(compare(data, resamples=99, device="numpy", progress=False))
    assert r"These are runs on 8 fixed tasks (strata), whose runs are the sample~\cite{agarwal2021}." in text


def test_the_direction_of_one_pair_is_named():
    two = {"amber": [1, 1, 1, 0, 1, 1], "fjord": [0, 0, 1, 0, 0, 0]}
    text = to_methods(compare(two, read={"metric": "accuracy"}, alternative="greater", device="numpy", progress=False))
    assert "(amber minus fjord)" in text
    assert "null hypothesis is that the outputs of two systems are exchangeable" in text


def test_bounds_of_real_numbers_are_named_as_bounds():
    rng = np.random.default_rng(5)
    reals = {"A": rng.normal(0.3, 1.0, 300), "B": rng.normal(0.0, 1.0, 300)}
    found = compare(reals, device="numpy", progress=False)
    assert found[0].method == "exact"
    assert found[0].p_interval is not None
    assert r"For 1 comparison p is the upper of two bounds that are at most 1\% apart." in to_methods(found)


def test_the_exact_algorithm_is_cited_where_it_was_used():
    """Not for few clusters, whose swaps are enumerated, nor for McNemar's test, a binomial one."""
    rng = np.random.default_rng(6)
    counts = {name: np.stack([tp := rng.integers(0, 4, 60), tp + rng.integers(0, 3, 60), tp + 1], 1) for name in "ab"}
    for clusters, cited in ((None, True), ([k // 10 for k in range(60)], False)):
        data = Evaluation.from_arrays(counts, metric="fscore", clusters=clusters)
        text = to_methods(compare(data, device="numpy", progress=False))
        assert ("zmigrod2022" in text) == cited
