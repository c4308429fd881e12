"""Metrics that are not sums and their permutation p-values in rational arithmetic, with roots to 200 bits."""

import itertools
from fractions import Fraction
from math import isqrt

_BITS = 200
_TIE = Fraction(1, 2**150)
"""Roots that differ by less are equal: far above 2**-200, far below any difference of such small tables."""


def root(square):
    """The square root of a fraction, rounded down to 200 bits."""
    return Fraction(isqrt((square.numerator << 2 * _BITS) // square.denominator), 2**_BITS)


def quotient(top, square):
    """top / sqrt(square); None where that is undefined."""
    return None if square == 0 else root(top * top / square) * (1 if top > 0 else -1)


def centred(column):
    mean = sum(column) / len(column)
    return [value - mean for value in column]


def zscores(column):
    apart = centred(column)
    square = sum(value * value for value in apart) / len(apart)
    return [quotient(value, square) or Fraction(0) for value in apart]


def midranks(column):
    return [Fraction(sum((other < value) + (other <= value) for other in column) + 1, 2) for value in column]


def median(value):
    ordered, half = sorted(value), len(value) // 2
    return ordered[half] if len(value) % 2 else (ordered[half - 1] + ordered[half]) / 2


def variance(value):
    return None if len(value) == 1 else sum(each * each for each in centred(value)) / (len(value) - 1)


def pearson(prediction, gold):
    p, g = centred(prediction), centred(gold)
    squares = sum(each * each for each in p) * sum(each * each for each in g)
    return quotient(sum(left * right for left, right in zip(p, g, strict=True)), squares)


def spearman(prediction, gold):
    return pearson(midranks(prediction), midranks(gold))


def kendall(prediction, gold):
    def order(i, j, column):
        return (column[i] > column[j]) - (column[i] < column[j])

    pairs = [
        [order(*pair, column) for column in (prediction, gold)] for pair in itertools.combinations(range(len(gold)), 2)
    ]
    untied = [sum(abs(of_column) for of_column in each) for each in zip(*pairs, strict=True)] or [0, 0]
    return quotient(Fraction(sum(p * g for p, g in pairs)), Fraction(untied[0] * untied[1]))


def auc(score, label):
    positive, negative = ([s for s, kind in zip(score, label, strict=True) if kind == each] for each in (1, 0))
    if not positive or not negative:
        return None
    return Fraction(sum((n < p) + (n <= p) for p in positive for n in negative), 2 * len(positive) * len(negative))


# name -> (score of columns, what is exchanged of the first column)
SCORES = {
    "median": (median, list),
    "variance": (variance, centred),
    "correlation": (pearson, zscores),
    "spearman": (spearman, midranks),
    "kendall": (kendall, midranks),
    "auc": (auc, midranks),
}


def permutation_p(name, a, b, alternative, *, mid_p=False):
    """The p-value over all swaps of columns `[input][instance]` of fractions; None where a score is undefined."""
    score, exchanged = SCORES[name]
    a, b = ([exchanged(columns[0]), *columns[1:]] for columns in (a, b))
    if a == b:
        return None if score(*a) is None else 1.0
    deltas = []
    for mask in itertools.product((False, True), repeat=len(a[0])):
        sides = [[[(x, y)[m != other] for m, x, y in zip(mask, *pair, strict=True)] for pair in zip(a, b, strict=True)]
                 for other in (False, True)]  # fmt: skip
        scores = [score(*side) for side in sides]
        if None in scores:
            return None
        deltas.append(scores[0] - scores[1])
    observed = deltas[0]
    sign = {"greater": 1, "less": -1}.get(alternative)
    beyond = [abs(delta) - abs(observed) if sign is None else sign * (delta - observed) for delta in deltas]
    ties = sum(abs(each) < _TIE for each in beyond)
    return (sum(each >= _TIE for each in beyond) + ties * (0.5 if mid_p else 1)) / len(deltas)
