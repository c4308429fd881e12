"""Synthetic systems against the moments that they are made to have, and back from the files they are written to."""

import numpy as np
import pytest
from scipy import stats

from sigjax import Evaluation, InputError
from sigjax.studies import synthetic
from sigjax.studies.synthetic import classifier_runs, mixing_proportion, tagged_words


def taggers(size=40_000, **labels):
    """Counts of three taggers on the same sentences, and a correlation of what they add to F1 of about 0.4."""
    rng = np.random.default_rng(3)
    gold, ease = rng.poisson(8.0, size) + 1, rng.beta(8.0, 4.0, size)
    counts = {}
    for name, skill in (("A", 0.0), ("B", -0.02), ("C", 0.01)):
        tp = rng.binomial(gold, np.clip(ease + skill, 0.0, 1.0))
        counts[name] = np.stack([tp, tp + rng.poisson(1.0, size), gold], axis=-1)
    return Evaluation.from_arrays(counts, metric="fscore", **labels)


def test_the_share_solves_the_quadratic():
    rng = np.random.default_rng(0)
    for _ in range(50):
        x, y = rng.normal(size=(2, 30)) + rng.normal(size=30)
        share = mixing_proportion(x, y, 0.95, ("A", "B"))
        v = np.var(share * x + (1 - share) * y)
        assert v / (v + share * (1 - share) * np.mean((x - y) ** 2)) == pytest.approx(0.95)
        assert 0.5 <= share <= 1.0
        assert mixing_proportion(x, x, 0.5, ("A", "B")) == 1.0


def test_words_have_the_moments_of_the_paper():
    words = tagged_words(200_000, 3, 0.01, 4)
    length = stats.norm(12.08, 10.60)
    rounded = np.maximum(1.0, np.rint(length.ppf((np.arange(10**6) + 0.5) / 10**6)))
    assert words[0, :, 1].mean() == pytest.approx(rounded.mean(), abs=5 * rounded.std() / 200_000**0.5)
    assert words[0, :, 1].std() == pytest.approx(rounded.std(), rel=0.01)
    for k, mean in enumerate((0.9543, 0.9443, 0.9343)):
        shares = np.clip(stats.norm(mean, 0.1116).ppf((np.arange(10**6) + 0.5) / 10**6), 0.0, 1.0)
        long = words[k, :, 1] >= 10  # rounding to words averages out
        rates = words[k, long, 0] / words[k, long, 1]
        assert rates.mean() == pytest.approx(shares.mean(), abs=5 * shares.std() / long.sum() ** 0.5 + 1e-3)
    assert np.all((words[..., 0] >= 0) & (words[..., 0] <= words[..., 1]))


def test_runs_have_the_moments_of_the_slides_and_are_not_normal():
    tp, predicted, gold = classifier_runs(30_000, 2, 0.0, 5)[0].T
    clipped = np.clip(np.rint(stats.norm(400, 80).ppf((np.arange(10**6) + 0.5) / 10**6)), 0, 500)
    assert tp.mean() == pytest.approx(clipped.mean(), abs=5 * 80 / 30_000**0.5)
    assert tp.std() == pytest.approx(clipped.std(), rel=0.02)
    assert (predicted - tp).mean() == pytest.approx(60.0, abs=5 * 15 / 30_000**0.5)
    assert (predicted - tp).std() == pytest.approx(15.0, rel=0.02)
    assert np.mean(tp == 500) == pytest.approx(stats.norm.sf(99.5 / 80), abs=0.01)
    recall, precision, f = tp / gold, tp / predicted, 2 * tp / (predicted + gold)
    assert stats.skew(precision) < stats.skew(recall) - 0.2
    assert stats.skew(f) < stats.skew(recall) - 0.3
    assert stats.normaltest(f).pvalue < 1e-100


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: synthetic(None), "mixtures need systems to mix"),
        (lambda: synthetic(taggers(50), generator="words"), "the generator words takes no data"),
        (lambda: synthetic(taggers(5000), correlation=0.1), r"have a correlation of 0\.\d+ or more, got 0.1"),
        (
            lambda: synthetic(taggers(50), correlation=1.5),
            "correlation must be a number between 0 and 1, such as 0.9, got 1.5",
        ),
        (
            lambda: synthetic(Evaluation.from_arrays({"A": [1.0, 2.0], "B": [2.0, 4.0]}, metric="median")),
            "mixtures need a metric of sums, but 'median'",
        ),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
