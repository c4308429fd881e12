"""What names of columns and rows say: ids, properties, gold labels, predictions, metrics, systems, folds, totals.

A name is one kind of evidence; what the cells hold is another. `roles`, `long` and `refused` decide by both.
"""

import re
from collections.abc import Iterable

from sigjax.metrics import METRICS

_IDS = frozenset(
    """
    case doc docno document example instance item key line lineno name problem prompt query question row sample seg
    segment sent sentence task topic utt utterance word
    """.split()
)
_PROPERTIES = frozenset(
    """
    category cluster difficulty epoch group label len length n_chars n_tokens n_words num_chars num_tokens
    num_words seed split stratum timestamp weight year
    """.split()
)
"""Names of what instances have, in lower case; like those of ids above, systems may have them, too."""
_SURE_IDS = re.compile(r"(.*[ _.-]|doc|seg|sent|topic|task|item|case|user|query|row|line|utt|gu|uu|[cipqrstu])?id|idx")
_CAMEL_IDS = re.compile(r".*[a-z]I[dD]")
_NUMBERING = re.compile(r"|#|index|ix|no|nr|num|number|unnamed: \d+|level_\d+|__index_level_\d+__")
"""Names of row numbers, which are the ids where no other column is."""

# Gold labels and predictions. Names are compared in lower case without blanks, dots, hyphens and underscores, whole: a
# system may well be called gold-standard-model, predictor or output-v2.
_WHAT = r"(label|class|value|answer|choice|category|output|response|target|index|idx|tag|y)"
_TRUTH = rf"(true|truth|groundtruth|gt|gold|golden|actual|correct|expected|reference|target|real){_WHAT}s?"
_ONLY_GOLD = re.compile(
    rf"(?!correct\w+s$)({_TRUTH})|y(true|test|actual|gold|real)|actuals?|(answer|label)(index|idx|key)"
)
"""Names of gold labels that no system has."""
_RATED_GOLD = frozenset("groundtruth groundtruths gt truth".split())
"""Gold labels, or the texts and recordings of people, which are rated beside those of systems."""
_PAIRED_GOLD = frozenset("answer observed ref reference references y".split())
"""Gold labels, where predictions stand beside them."""
_GOLD = frozenset("class expected gold golden label labels target targets".split()) | _RATED_GOLD | _PAIRED_GOLD
_MODEL = r"(pred|preds|predicted|prediction|forecast|estimated|model|system|generated)"
_PREDICTED = re.compile(
    rf"{_MODEL}({_WHAT}|prob|proba|probability)s?|preds?|y(preds?|hat|prob|proba|score)|predicted|predictions?"
    r"|outputs?|guess|guesses|hypothesis|hypotheses|hyp|responses?|forecasts?|forecasted|estimates?|estimated|fitted"
    r"|calculated|computed|generated|prob(s|a|as|ability|abilities)?|logits?|confidence"
)
"""Names of predictions, where gold labels stand beside them."""
_ONLY_PREDICTED = re.compile(rf"(y?preds?|yhat|predicted|predictions?|forecast)({_WHAT}|prob|proba|probability)?s?")
"""Names of predictions in any table."""
_PREFIXED = re.compile(r"(pred|preds|predicted|ypred|yhat)[ _.-].+|.+[ _.-](pred|preds|predicted|ypred|yhat)", re.I)
"""Predictions of a system, such as pred_bert."""
_TARGETS = frozenset("survived transported exited churn churned outcome species sentiment diagnosis saleprice".split())
"""What people often predict for a submission."""

_MEASURES = frozenset(re.sub(r"[\W_]+", "", name.lower()) for name in METRICS) | frozenset(
    """
    acc aer auc auroc rocauc bertscore bertfscore bleurt chrf2 comet comet20 comet22 cometkiwi em exactmatch f1 fscore
    iou jaccard dice macrof1 mae map metricx meteor microf1 weightedf1 mrr mse ndcg pearson perplexity ppl precision
    recall rmse rouge sacrebleu spearman kendall success xcomet wer cer ter mcc kappa loss logloss r2 specificity
    sensitivity moverscore
    faithfulness answerrelevancy answerrelevance responserelevancy contextprecision contextrecall contextrelevancy
    contextrelevance contextentityrecall contextutilization answercorrectness answersimilarity semanticsimilarity
    factualcorrectness noisesensitivity hallucination groundedness summarizationscore aspectcritic
    contextualprecision contextualrecall contextualrelevancy toxicity
    latency cost runtime duration
    """.split()
)
"""Names of metrics, and of costs that stand beside them, without a cut-off (@10) and without settings (mode=f1)."""
_MEASURE = re.compile(
    rf"(test|val|valid|validation|dev|train|eval|mean|avg)?({'|'.join(sorted(_MEASURES))}|rouge(\d|l|lsum|w|su?\d))"
    r"(score|fmeasure|fscore|f1?|precision|recall)?"
)
_MEASURE_COLUMNS = frozenset("metric metrics measure measures".split())
_SCORE_WORDS = frozenset(
    """
    score scores value values val v result results correct incorrect right wrong pass passed fail failed solved resolved
    success successful win wins won reward return hit hits error errors point points grade rating rank match matched
    exact judgment judgement verdict ok quality utility helpful truthful faithful valid accepted answered completed
    """.split()
)
_BETWEEN = re.compile(r"[\W\d_]+|(?<=[a-z])(?=[A-Z])")
"""What stands between the words of a name."""
_PLAIN_SCORES = frozenset("score scores value values result results".split())

_SYSTEM = re.compile(
    r"(sys|system|model|run|method|approach|algorithm|team|submission|participant|engine)s?([ _.-]?(names?|ids?))?"
)
"""Usual names of the column of systems, in lower case."""
_MORE_SYSTEMS = re.compile(
    r"(agent|alg|algo|classifier|regressor|estimator|framework|learner|library|policy|solver|optimizer|parser|tagger|"
    r"ranker|retriever|technique|llm)s?([ _.-]?(names?|ids?))?"
)
"""Names of columns of systems, or of a property of the instances."""
_FOLD = re.compile(r"(cv|k|test|outer|inner|crossval)?folds?(id|no|nr|num|number|index|idx)?")
_TRIAL = re.compile(
    r"(run|seed|trial|epoch|repeat|repetition|rep|replicate|attempt|iteration|annotator|rater|judge|worker)s?"
    r"(id|no|nr|num|number|idx)?"
)
_SUMMARY = frozenset(
    """
    mean means average averages avg total totals overall sum all aggregate
    """.split()
) | {
    f"{first}{between}{last}"
    for first in ("macro", "micro", "weighted", "grand", "overall")
    for between in (" ", "-", "_", "")
    for last in ("mean", "avg", "average", "total")
}
_DESCRIBED = frozenset("std sd stdev stddev stderr se sem var variance median min max count n 25% 50% 75%".split())
"""Names of rows that describe columns beside their mean."""


def _squeezed(name: str) -> str:
    """A name in lower case, without what separates words."""
    return re.sub(r"[\W_]+", "", name).lower()


def is_id_name(name: str | None) -> bool:
    """Whether a column is named like ids.

    Example:
        >>> [name for name in ("docid", "Sent_ID", "exampleId", "Topic", "grid", "A") if is_id_name(name)]
        ['docid', 'Sent_ID', 'exampleId', 'Topic']
    """
    return name is not None and (is_sure_id(name) or name.strip().lower() in _IDS)


def is_sure_id(name: str) -> bool:
    """Whether only ids and row numbers have this name."""
    sure = _CAMEL_IDS.fullmatch(name.strip()) or _SURE_IDS.fullmatch(name.strip().lower())
    return sure is not None or is_numbering(name)


def is_numbering(name: str) -> bool:
    """Whether row numbers have this name."""
    return _NUMBERING.fullmatch(name.strip().lower()) is not None


def is_property(name: str) -> bool:
    """Whether a column is named like ids, or like what else instances have."""
    return is_id_name(name) or is_plain_property(name)


def is_plain_property(name: str) -> bool:
    """Whether a column is named like what instances have beside ids."""
    return name.strip().lower() in _PROPERTIES or is_fold(name)


def is_gold(name: str) -> bool:
    """Whether a column is named like gold labels.

    Example:
        >>> [name for name in ("y_true", "True_Label", "Actual", "gold-standard-model", "targets") if is_gold(name)]
        ['y_true', 'True_Label', 'Actual', 'targets']
    """
    return is_only_gold(name) or _squeezed(name) in _GOLD


def is_only_gold(name: str) -> bool:
    """Whether gold labels, but no systems, have this name."""
    return _ONLY_GOLD.fullmatch(_squeezed(name)) is not None


def is_rated_gold(name: str) -> bool:
    """Whether a name of gold labels is also one of what people made, which is rated like outputs of systems."""
    return _squeezed(name) in _RATED_GOLD


def is_paired_gold(name: str) -> bool:
    """Whether this names gold labels only where predictions stand beside them."""
    return _squeezed(name) in _PAIRED_GOLD


def is_predicted(name: str) -> bool:
    """Whether a column that stands beside gold labels is named like predictions, or their probabilities.

    Example:
        >>> [name for name in ("y_pred", "Predicted_Label", "pred_bert", "predictor", "Output") if is_predicted(name)]
        ['y_pred', 'Predicted_Label', 'pred_bert', 'Output']
    """
    return _PREDICTED.fullmatch(_squeezed(name)) is not None or is_only_predicted(name)


def is_only_predicted(name: str) -> bool:
    """Whether predictions, but no scores, have this name."""
    return bool(_ONLY_PREDICTED.fullmatch(_squeezed(name)) or _PREFIXED.fullmatch(name.strip()))


def is_target(name: str) -> bool:
    """Whether people often predict what has this name."""
    return _squeezed(name) in _TARGETS


def are_measures(names: Iterable[str]) -> bool:
    """Whether all are names of metrics.

    Example:
        >>> are_measures(["BLEU", "ndcg@10", "answer_relevancy"]), are_measures(["bleu", "base"])
        (True, False)
    """
    return all(map(is_measure, names))


def is_measure(name: str) -> bool:
    """Whether this is the name of a metric."""
    return _MEASURE.fullmatch(_squeezed(re.split(r"[@(]", name)[0])) is not None


def names_measures(name: str) -> bool:
    """Whether a column is named as if it held the names of metrics."""
    return name.lower() in _MEASURE_COLUMNS


def is_plain_score(name: str) -> bool:
    """Whether a column is simply called score, value or result."""
    return name.lower() in _PLAIN_SCORES


def is_score(name: str) -> bool:
    """Whether a column is named like scores.

    Example:
        >>> [name for name in ("isCorrect", "f1_score", "resolved", "Survived", "A") if is_score(name)]
        ['isCorrect', 'f1_score', 'resolved']
    """
    return is_measure(name) or any(word.lower() in _SCORE_WORDS for word in _BETWEEN.split(name))


def is_system(name: str) -> bool:
    """Whether a column is named like one of systems."""
    return _SYSTEM.fullmatch(name.strip().lower()) is not None


def may_be_system(name: str) -> bool:
    """Whether a column is named like one of systems, or of a property that instances may have, too.

    Example:
        >>> [name for name in ("Model_Name", "Agent", "alg_name", "classifier", "agency") if may_be_system(name)]
        ['Model_Name', 'Agent', 'alg_name', 'classifier']
    """
    return is_system(name) or _MORE_SYSTEMS.fullmatch(name.strip().lower()) is not None


def is_fold(name: str) -> bool:
    """Whether a column is named like the folds of a cross-validation."""
    return _FOLD.fullmatch(_squeezed(name)) is not None


def is_trial(name: str) -> bool:
    """Whether a column is named like the trials of an instance."""
    return _TRIAL.fullmatch(_squeezed(name)) is not None


def is_summary(id: str) -> bool:
    """Whether a row is named like the mean or the sum of others.

    Example:
        >>> [id for id in ("MEAN", "macro avg", "Total:", "meaning", "q1") if is_summary(id)]
        ['MEAN', 'macro avg', 'Total:']
    """
    return id.strip(" .:*_()").lower() in _SUMMARY


def describes(id: str) -> bool:
    """Whether a row is named like what describes columns beside their mean: their deviation, median or number."""
    return id.strip().lower() in _DESCRIBED
