"""Python: compare, reports, metrics of your own.

    >>> import sigjax
    >>> answers = {"A": [1, 1, 1, 1, 1, 1, 0, 1], "B": [0, 1, 0, 0, 0, 0, 0, 0]}
    >>> report = sigjax.compare(answers, metric="accuracy")
    >>> report[0].delta, report[0].p_value, report[0].method
    (0.75, 0.03125, 'exact')

compare      takes a dict of arrays, a data frame, a path, or an `Evaluation`.
             Options are those of the command line. A long table with other
             column names: compare(frame, system="model", id="question",
             score="correct", metric="accuracy").
read         Files or data frames (pandas, polars, pyarrow) -> Evaluation.
Evaluation   .from_arrays({"A": [...]}), or by id {"A": {"q1": 0.5}}, or columns
             [instance, stat]; .from_texts(outputs, references, metric="bleu").
permutation_test, bootstrap_test   Two arrays -> Comparison, as in SciPy.

REPORTS

print(report) gives the tables of the command line; notebooks show HTML.
report["C", "A"] is the comparison of C minus A; of several metrics or tests
name one, too: report["C", "A", "bleu"]. report.systems has a record per system,
report.comparisons one per pair, and its fields as columns:
report.comparisons.column("p_value"). to_dataframe, to_json, to_csv, to_latex,
to_markdown, to_html, to_methods, to_sentences, plot: sigjax help output.
`help(sigjax.Report)` and `help(sigjax.Comparison)` explain every field.

TEXTS IN PYTHON

    >>> outputs = {"A": ["The cat sat.", "It rained."], "B": ["Cat.", "Rain."]}
    >>> references = ["The cat sat.", "It has rained."]
    >>> texts = sigjax.Evaluation.from_texts(outputs, references, metric="chrf")
    >>> texts.metric.score(texts.stats.sum(axis=1)).round(1)
    array([74.4, 14.4])

References are one list of texts, or one list per reference.

A METRIC OF YOUR OWN

is a function of sums, written with array operators. It gets the sums of your
columns on the last axis, for one system or for millions of resamples at once:

    >>> import numpy as np
    >>> def f_half(sums):  # F, beta = 0.5, from the columns tp, predicted, gold
    ...     return 1.25 * sums[..., 0] / (sums[..., 1] + 0.25 * sums[..., 2])
    >>> a = np.array([[3, 4, 5], [2, 2, 4], [0, 1, 2], [4, 4, 4]])
    >>> b = np.array([[1, 3, 5], [2, 3, 4], [0, 0, 2], [1, 2, 4]])
    >>> result = sigjax.permutation_test(a, b, metric=f_half)
    >>> round(result.delta, 3), result.p_value, result.method
    (0.337, 0.375, 'exact')

What is no function of sums (a median, a correlation) is a `SampleMetric`: a
function of whole columns [instance], called for every resample. It may take
weights, how often each instance is drawn, which is faster where it sorts:

    >>> def spread(x, weights):  # the range of the instances that are drawn
    ...     xp = x.__array_namespace__()
    ...     high = xp.where(weights > 0, x, -xp.inf).max()
    ...     return high - xp.where(weights > 0, x, xp.inf).min()
    >>> metric = sigjax.SampleMetric(
    ...     "spread", spread, ("value",), weighted=True, higher_is_better=False
    ... )
    >>> a, b = [3.1, 2.7, 3.0, 2.9, 3.2, 2.8], [3.5, 1.2, 3.9, 2.2, 4.8, 2.1]
    >>> result = sigjax.permutation_test(a, b, metric=metric)
    >>> round(result.delta, 3), result.p_value, result.better
    (-3.1, 0.03125, 'a')

What JAX can trace is compiled, for the CPU on every device, so that numbers are
the same; other functions are called in a loop. `standardize` says how systems
on different scales are made exchangeable ("center", "zscore", "rank" for each
column). Deltas closer than rounding are ties: how far rounding moves the score
is measured, unless you give `rounding(*columns)`, a bound. With vectorized=True
the function takes the weights [..., instance] of many resamples at once. A
resample on which the metric is undefined stops with a message that says what
to do. `notebooks/09_a_metric_of_your_own.ipynb` has examples.
"""
