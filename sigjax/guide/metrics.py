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
rougeL, rougeLsum     stemming, its default; rougeLsum has <n>, <q> or a line
                      break between sentences
rouge1(stem=true),    the same of stems (Porter's), as in most published figures
rouge2(stem=true),    of summaries: -m 'rouge1(stem=true)', quoted; there are
...                   rougeL(stem=true) and rougeLsum(stem=true), too
sari                  texts with --source FILE (extra mt): as by EASSE, 0 to 100
sari(as=evaluate),    means of sentence scores: as by the library evaluate, or
sari(as=authors)      by the SARI.py of Xu et al., which splits at blanks
wer, cer              texts, transcripts: word or character errors divided by
                      the length of the reference; lower is better. All words
                      count, also (optional), <unk> and [noise] of sclite, and
                      case, without --lowercase
wer-sclite            that of sclite -D: alternatives { um / uh / @ } (@ is
                      nothing), (optional) words, no case, other alignments
exact_match, f1       answers to questions: the means of SQuAD's scores, 0 to 1
las, uas, upos,       treebanks: F1 of words with the right head and relation,
xpos, ufeats,         head, tag (universal, own), features, tags and features,
alltags, lemmas       or lemma, as in the CoNLL 2018 shared task
clas, mlas, blex      content words: head and relation; and morphology and
                      function words (mlas), or lemma (blex)
fscore, precision,    tagged tokens: spans with type and tokens of a gold span;
recall                --match exact: any type; partial: and half for a common
                      token; type: type and a common token, by nervaluate's
                      rule; fuzzy: by that of HIPE's scorer
aer, alignment-       word alignments: alignment error rate (lower is better),
precision, -recall    precision, recall
ap, ndcg@10, p@5,     judgments and runs (extra ir): the mean of trec_eval's;
rr, recall@100,       topics that a run lacks count 0. Documents judged from 2
ap(rel=2), ...        on are relevant (trec_eval -l 2): -m 'ap(rel=2)' and
                      'recall@1000(rel=2)' or 'recall(rel=2)@1000', quoted

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
"""
