"""Metrics: names, the columns they need, what they compute.

Several may be given; they share the resamples. Without -m, the format's first.

FROM TABLES AND LOGS

mean                  one number; so is -m NAME for a score of that name
accuracy              0 or 1: the share of 1
ratio                 numerator, denominator: ratio of the sums
precision, recall,    tp, predicted, gold: from the sums of the counts (micro
fscore, f2, f0.5      average); f2 and others are F-beta
fscore-ratios         recall and precision as ratios: F1 of the sums
fscore-errors         tp, incorrect: F1 of the sums
macro-fscore,         gold and predicted labels: the mean over classes, as in
macro-precision,      scikit-learn
macro-recall
mcc, kappa            gold and predicted labels: Matthews correlation, Cohen's
                      kappa

FROM OUTPUTS AND REFERENCES

mqm                   errors marked by raters, by Google's weights (lower is
                      better)
bleu, chrf, chrf++,   texts (extra mt): sacrebleu's counts, 0 to 100; its
ter                   signature is among the notes; for ter lower is better
rouge1, rouge2,       texts (extra rouge): the mean of rouge-score's F1, without
rougeL                stemming
wer, cer              texts, transcripts: word or character errors divided by
                      the length of the reference; lower is better. All words
                      count, also (optional), <unk> and [noise] of sclite, and
                      case, without --lowercase
wer-sclite            the same as sclite -D: alternatives { um / uh / @ }, where
                      @ is nothing, (optional) words, no case; its alignment
                      may have more errors than the fewest
exact_match, f1       answers to questions: the means of SQuAD's scores, 0 to 1
las, uas, upos        treebanks: F1 of words with the right head and relation,
                      head, or tag
aer, alignment-       word alignments: alignment error rate (lower is better),
precision, -recall    precision, recall
ap, ndcg@10, p@5,     judgments and runs (extra ir): the mean of trec_eval's;
rr, recall@100, ...   topics that a run lacks count 0

OF WHOLE COLUMNS

median, variance      one number: numpy.median; numpy.var(ddof=1), lower is
                      better
correlation           prediction, gold: Pearson's
spearman, kendall     prediction, gold: Spearman's; Kendall's tau-b
auc                   score, label (0 or 1): area under the ROC curve, ties half

Permutation tests of these are exact where at most 20 units differ.

--lower-is-better turns the direction of any of them. Metrics of your own:
sigjax help python.

SYSTEMS ON DIFFERENT SCALES

A correlation ignores the scale of a system, but exchanging raw numbers between
systems on different scales does not. So the permutation test of `correlation`
exchanges z-scores, and that of `spearman`, `kendall` and `auc` ranks, within
the column of each system (PERM-BOTH of Deutsch, Dror and Roth 2021; for areas
Bandos, Rockette and Gur 2005); that of `variance` exchanges deviations from the
mean. `reason` says what was exchanged. The test is exact where standardized
numbers are exchangeable, and close to its level otherwise (measured in
benchmarks/README.md).

TEXTS IN PYTHON

    >>> import sigjax
    >>> outputs = {"A": ["The cat sat.", "It rained."], "B": ["Cat.", "Rain."]}
    >>> references = ["The cat sat.", "It has rained."]
    >>> texts = sigjax.Evaluation.from_texts(outputs, references, metric="chrf")
    >>> texts.metric.score(texts.stats.sum(axis=1)).round(1)
    array([74.4, 14.4])

References are one list of texts, or one list per reference.
"""
