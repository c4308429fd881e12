"""Which columns of a table are instance ids, systems, scores, or neither: by their names, and by what they hold.

A name is one kind of evidence: of ids and properties, gold labels, predictions, metrics, systems, folds and totals.
Names that only ids have (`id`, `doc_id`, `__index_level_0__`) are believed wherever the column stands. Names that
systems may have, too (`topic`, `length`), are believed where the numbers are unlike those of the other columns. Whole
numbers unlike the others (counted up, distinct, of another size) are asked about: none becomes a system by accident.
What would pass for systems on instances is refused: metrics, gold labels, predictions, exchanged axes.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from sigjax.metrics import METRICS
from sigjax.readers.options import Options, hint_for_number, listing, quote
from sigjax.readers.table import DataTable, is_text, locate
from sigjax.records import EvaluationRecord, Hint, InputError


def _lower(name: str) -> str:
    """A name in lower case."""
    return name.strip().lower()


def _squeezed(name: str) -> str:
    """A name in lower case, without what separates words."""
    return re.sub(r"[\W_]+", "", name).lower()


def _named(pattern: str, spelling: Callable[[str], str] = _squeezed) -> Callable[[str], bool]:
    """Whether a whole name, in this spelling, matches."""
    matches = re.compile(pattern).fullmatch
    return lambda name: matches(spelling(name)) is not None


def _any_of(words: str) -> str:
    """The pattern of some words."""
    return "|".join(words.split())


_has_id_word = _named(
    _any_of(
        """
        case doc docno document example instance item key line lineno name problem prompt query question row sample seg
        segment sent sentence task topic utt utterance word
        """
    ),
    _lower,
)
"""Named like ids; like properties below, systems may have these names, too."""
_is_property_word = _named(
    _any_of(
        """
        attempt batch category cluster cost difficulty epoch group iteration label latency len length n_chars n_tokens
        n_words num_chars num_tokens num_words repeat repetition run seed shot split stratum temperature timestamp trial
        weight year
        """
    ),
    _lower,
)
is_numbering = _named(r"|#|index|ix|no|nr|num|number|unnamed: \d+|level_\d+|__index_level_\d+__", _lower)
"""Whether row numbers have this name: they are the ids where no other column is."""
_is_id = _named(r"(.*[ _.-]|doc|seg|sent|topic|task|item|case|user|query|row|line|utt|gu|uu|[cipqrstu])?id|idx", _lower)
_is_camel_id = _named(r".*[a-z]I[dD]", str.strip)

# Gold labels and predictions. Names are compared in lower case without blanks, dots, hyphens and underscores, whole: a
# system may well be called gold-standard-model, predictor or output-v2.
_WHAT = r"(label|class|value|answer|choice|category|output|response|target|index|idx|tag|y)"
_TRUTH = rf"(true|truth|groundtruth|gt|gold|golden|actual|correct|expected|reference|target|real){_WHAT}s?"
is_only_gold = _named(
    rf"(?!correct\w+s$)({_TRUTH})|y(true|test|actual|gold|real)|actuals?|(answer|label)(index|idx|key)"
)
"""Whether gold labels, but no systems, have this name."""
is_rated_gold = _named("groundtruths?|gt|truth")
"""Whether a name of gold labels is also one of what people made, which is rated like outputs of systems."""
is_paired_gold = _named("answer|observed|ref|references?|y")
"""Whether this names gold labels only where predictions stand beside them."""
_is_label_word = _named("y|true|truth|gt|groundtruths?|answers?")
_is_gold_word = _named("class|expected|gold|golden|labels?|targets?")
_MODEL = r"(pred|preds|predicted|prediction|forecast|estimated|model|system|generated)"
_is_predicted_word = _named(
    rf"{_MODEL}({_WHAT}|prob|proba|probability)s?|preds?|y(preds?|hat|prob|proba|score)|predicted|predictions?"
    r"|outputs?|guess|guesses|hypothesis|hypotheses|hyp|responses?|forecasts?|forecasted|estimates?|estimated|fitted"
    r"|calculated|computed|generated|prob(s|a|as|ability|abilities)?|logits?|confidence"
)
_is_prediction = _named(rf"(y?preds?|yhat|predicted|predictions?|forecast)({_WHAT}|prob|proba|probability)?s?")
_is_prefixed = _named(
    r"(?i:(pred|preds|predicted|ypred|yhat)[ _.-].+|.+[ _.-](pred|preds|predicted|ypred|yhat))", str.strip
)
"""Predictions of a system, such as pred_bert."""
is_target = _named("survived|transported|exited|churn|churned|outcome|species|sentiment|diagnosis|saleprice")
"""Whether people often predict what has this name, in submissions and beside a column for each model."""

_MEASURES = frozenset(map(_squeezed, METRICS)) | frozenset(
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
is_measure = _named(
    rf"(test|val|valid|validation|dev|train|eval|mean|avg)?({'|'.join(sorted(_MEASURES))}|rouge(\d|l|lsum|w|su?\d))"
    r"(score|fmeasure|fscore|f1?|precision|recall)?",
    lambda name: _squeezed(re.split(r"[@(]", name)[0]),
)
"""Whether this is the name of a metric."""
names_measures = _named("metrics?|measures?", str.lower)
"""Whether a column is named as if it held the names of metrics."""
is_plain_score = _named("scores?|values?|results?", str.lower)
"""Whether a column is simply called score, value or result."""
_is_score_word = _named(
    _any_of(
        """
        score scores value values val v result results correct incorrect right wrong pass passed fail failed solved
        resolved success successful win wins won reward return hit hits error errors point points grade rating rank
        match matched exact judgment judgement verdict ok quality utility helpful truthful faithful valid accepted
        answered completed
        """
    ),
    str.lower,
)
_BETWEEN = re.compile(r"[\W\d_]+|(?<=[a-z])(?=[A-Z])")
"""What stands between the words of a name."""

_NAMES_OR_IDS = r"s?([ _.-]?(names?|ids?))?"
is_system = _named(
    rf"(sys|system|model|run|method|approach|algorithm|team|submission|participant|engine){_NAMES_OR_IDS}", _lower
)
"""Whether a column is named like one of systems."""
_is_rarely_system = _named(
    r"(agent|alg|algo|classifier|regressor|estimator|framework|learner|library|policy|solver|optimizer|parser|tagger|"
    rf"ranker|retriever|technique|strategy|llm){_NAMES_OR_IDS}",
    _lower,
)
is_fold = _named(r"(cv|k|test|outer|inner|crossval)?folds?(id|no|nr|num|number|index|idx)?")
"""Whether a column is named like the folds of a cross-validation."""
is_data_set = _named(r"(data|datasets?|task|problem|benchmark)(id|no|nr|num|number|names?)?")
"""Whether a column of a table of folds is named like the data sets."""
is_trial = _named(
    r"(run|seed|trial|epoch|repeat|repetition|rep|replicate|attempt|annotator|rater|judge|worker)s?"
    r"(id|no|nr|num|number|idx)?"
)
"""Whether a column is named like the trials of an instance."""
is_summary = _named(
    "means?|averages?|avg|totals?|overall|sum|all|aggregate"
    "|(macro|micro|weighted|grand|overall)[ _-]?(mean|avg|average|total)",
    lambda name: name.strip(" .:*_()").lower(),
)
"""Whether a row is named like the mean or the sum of others: "MEAN", "macro avg", "Total:"."""
describes = _named("std|sd|stdev|stddev|stderr|se|sem|var|variance|median|min|max|count|n|25%|50%|75%", _lower)
"""Whether a row is named like what describes columns beside their mean: their deviation, median or number."""


def is_id_name(name: str | None) -> bool:
    """Whether a column is named like ids.

    >>> [name for name in ("docid", "Sent_ID", "exampleId", "Topic", "grid", "A") if is_id_name(name)]
    ['docid', 'Sent_ID', 'exampleId', 'Topic']
    """
    return name is not None and (is_sure_id(name) or _has_id_word(name))


def is_sure_id(name: str) -> bool:
    """Whether only ids and row numbers have this name."""
    return _is_id(name) or _is_camel_id(name) or is_numbering(name)


def is_property(name: str, *, beside_ids: bool = False) -> bool:
    """Whether a column is named like what instances have: like ids, too, if not `beside_ids`."""
    return (not beside_ids and is_id_name(name)) or _is_property_word(name) or is_fold(name)


def is_gold(name: str) -> bool:
    """Whether a column is named like gold labels.

    >>> [name for name in ("y_true", "True_Label", "Actual", "gold-standard-model", "targets") if is_gold(name)]
    ['y_true', 'True_Label', 'Actual', 'targets']
    """
    return is_only_gold(name) or is_rated_gold(name) or is_paired_gold(name) or _is_gold_word(name)


def is_predicted(name: str) -> bool:
    """Whether a column that stands beside gold labels is named like predictions, or their probabilities.

    >>> [name for name in ("y_pred", "Predicted_Label", "pred_bert", "predictor", "Output") if is_predicted(name)]
    ['y_pred', 'Predicted_Label', 'pred_bert', 'Output']
    """
    return _is_predicted_word(name) or is_only_predicted(name)


def is_only_predicted(name: str) -> bool:
    """Whether predictions, but no scores, have this name."""
    return _is_prediction(name) or _is_prefixed(name)


def are_measures(names: Iterable[str]) -> bool:
    """Whether all are names of metrics.

    >>> are_measures(["BLEU", "ndcg@10", "answer_relevancy"]), are_measures(["bleu", "base"])
    (True, False)
    """
    return all(map(is_measure, names))


def is_score(name: str) -> bool:
    """Whether a column is named like scores.

    >>> [name for name in ("isCorrect", "f1_score", "resolved", "Survived", "A") if is_score(name)]
    ['isCorrect', 'f1_score', 'resolved']
    """
    return is_measure(name) or any(map(_is_score_word, _BETWEEN.split(name)))


def may_be_system(name: str) -> bool:
    """Whether a column is named like one of systems, or of a property that instances may have, too.

    >>> [name for name in ("Model_Name", "Agent", "alg_name", "classifier", "agency") if may_be_system(name)]
    ['Model_Name', 'Agent', 'alg_name', 'classifier']
    """
    return is_system(name) or _is_rarely_system(name)


FEWEST = 3
"""Rows from which numbers may be unlike those of the other columns."""
_FEWEST_SURE = 8
"""Rows from which it is no accident that numbers are counted up, are distinct, or have no fractions."""
_SCALE = 10
"""Scores of one metric are rarely so many times larger in one system than in every other."""


class NumberProfile:
    """What the numbers of a column tell from those of others: `values` `[row]`, finite float64."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.low, self.high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
        self.size = max(abs(self.low), abs(self.high))
        self.whole = float(np.mean(values == np.floor(values))) if values.size else 0.0

    @cached_property
    def distinct(self) -> int:
        """How many different numbers there are."""
        return len(np.unique(self.values))

    @cached_property
    def median(self) -> float:
        """The median size."""
        return float(np.median(np.abs(self.values)))

    @cached_property
    def counts_up(self) -> bool:
        """Whether each number is one more than the one before."""
        return bool(np.all(np.diff(self.values) == 1))

    def is_like(self, other: "NumberProfile") -> bool:
        """Whether these whole numbers may be scores of the same metric as those of another column."""
        outside = self.low < other.low or self.high > other.high
        constant = self.distinct == 1 and self.low > 1 >= other.size
        if self.median > _SCALE * max(1, other.size) or constant or (outside and self.counts_up):
            return False
        if self.values.size < _FEWEST_SURE or self.distinct <= 2:
            return True
        above = self.low >= 1 >= other.high
        rarer = self.distinct == self.values.size > 2 * other.distinct
        return not (self.counts_up or above or rarer or other.whole < 0.5)

    def is_unlike(self, others: Sequence["NumberProfile"]) -> bool:
        """Whether these are whole numbers unlike those of all other columns, or of two with scores of 0 to 1."""
        if self.whole < 1 or self.values.size < FEWEST or self.size <= 1:
            return False
        unlike = [other for other in others if other is not self and not self.is_like(other)]
        few = sum(other.size <= 1 or other.whole < 0.5 for other in unlike)
        return few >= 2 or 0 < len(unlike) == len(others) - (self in others)


_SCORES = "expected scores of each system (1 for right and 0 for wrong, or errors)"
_BY_GOLD = f"predictions are scored with {Hint('gold', 'COLUMN')} (or a file) and {Hint('prediction', 'COLUMN')}"
SHOWN = 4
MOST_CLASSES = 20
"""More whole numbers than this are no classes."""
_FEWEST_TURNED = 4
"""Columns from which q1, q2, ... are taken for instances, where there are half as many rows or fewer."""
_NUMBERED = re.compile(r"(.*?)(\d{1,18})")
_INSTANCES = frozenset(
    "doc document ex example id instance item q query question seg segment sent sentence topic".split()
)
"""Words that instances, but no systems, are numbered after: q1, q2 are instances however many rows there are."""


def check_measures(table: DataTable, id_column: str | None, options: Options) -> None:
    """Refuse a table with a row for each metric instead of each instance."""
    if id_column is None or options.id_column is not None:
        return
    if names_measures(id_column) or are_measures(table.names[id_column]):
        names = list(dict.fromkeys(table.names[id_column]))[:3]
        raise InputError(
            f"{table.file}: column {quote(id_column)} seems to hold metrics, one per row ({listing(names)}); expected "
            f"one row per instance, of one metric; give {Hint('id_column', 'NAME')} if these are instances"
        )


def check_systems(evaluation: EvaluationRecord, *, predicted: bool = False) -> None:
    """Refuse arrays of systems, or instances, that are named like gold labels, predictions or metrics."""
    if evaluation.ids and are_measures(evaluation.ids):
        raise InputError(
            f"instances are named like metrics, {listing(evaluation.ids)}: a score of each metric is no result on an "
            "instance; give the results on each instance, of one metric"
        )
    systems = evaluation.systems
    if predicted:  # names such as pred_bert are right
        if gold := [name for name in systems if is_only_gold(name)]:
            raise InputError(f"system {quote(gold[0])} looks like gold labels; leave it out, or rename it")
        systems = []
    single = len(evaluation.metric.inputs) == 1
    numbers = [NumberProfile(own[:, 0].astype(float)) if single else None for own in evaluation.stats]
    check_labels(dict(zip(systems, numbers, strict=False)), noun="system")
    if len(evaluation.systems) > 1:
        check_names(evaluation.systems, noun="system")


def check_names(systems: Iterable[str], *, where: str = "", noun: str = "column") -> None:
    """Refuse systems that are all named like metrics."""
    if are_measures(systems):
        give = Hint("score_column", "NAME")
        files = f"one column per system, of one metric: give one such file per system and {give}"
        expected = f"{files}, or" if noun == "column" else "numbers of systems, by one metric;"
        seem = f"{noun}s {listing(systems)} seem to hold metrics"
        raise InputError(f"{where}{seem}; expected {expected} {_if_meant(systems, noun)}")


def check_labels(columns: Mapping[str, NumberProfile | None], *, where: str = "", noun: str = "column") -> None:
    """Refuse gold labels and predictions among what may be systems: name -> its numbers, None where it holds words."""
    numbers = [name for name, own in columns.items() if own is not None]
    gold = [name for name in columns if is_gold(name) or is_target(name) or _is_label_word(name)]
    predicted = [name for name in columns if is_predicted(name) and name not in gold]
    if gold and predicted:
        named, what = [*gold, *predicted], "gold labels and predictions, not like two systems"
    elif sure := [
        name
        for name in gold
        if _is_no_system(name, columns[name]) or (noun == "column" and _has_all_classes(name, columns))
    ]:
        named, what = sure, "gold labels, not like a system"
    elif len(columns) > 1 and (sure := [name for name in columns if is_only_predicted(name)]):
        named = list(columns) if all(map(is_predicted, columns)) else sure
        what = "predictions, not like scores"
    else:
        return
    look = f"{noun}s {listing(named)} look" if len(named) > 1 else f"{noun} {quote(named[0])} looks"
    one = len(gold) == 1 and not predicted
    by_name = f"if the others are predictions, give {Hint('gold', quote(gold[0]))}" if one else _BY_GOLD
    how = by_name if noun == "column" else "Evaluation.from_predictions scores predictions"
    how += " (of one system, sigjax one-sample)" * (len(predicted) == 1)
    raise InputError(f"{where}{look} like {what}; {_SCORES}; {how}; {_if_meant(numbers or named, noun)}")


def _has_all_classes(name: str, columns: Mapping[str, NumberProfile | None]) -> bool:
    """Whether a column named like labels has all numbers of the others: some classes, more than right and wrong."""
    own, others = columns[name], [each for other, each in columns.items() if other != name and each is not None]
    if own is None or not (_is_label_word(name) and others and own.whole == 1 and 3 <= own.distinct <= MOST_CLASSES):
        return False
    return all(np.isin(each.values, own.values).all() for each in others)


def _if_meant(names: Iterable[str], noun: str) -> str:
    """What to do where names mislead."""
    how = f"give {Hint('only', *spelled(names))}" if noun == "column" else "rename them"
    return f"{how} if they are systems"


def spelled(names: Iterable[str]) -> list[str]:
    """The first names, as an option takes them."""
    names = list(names)
    return [*map(quote, names[:SHOWN]), *["..."] * (len(names) > SHOWN)]


def has_classes(table: DataTable, name: str) -> bool:
    """Whether a column holds whole numbers, two or more, that may be classes.

    >>> from sigjax.readers.table import DataColumn
    >>> [has_classes(DataTable("t.csv", {"y": DataColumn(y)}, [2, 3]), "y") for y in (["0", "7"], ["0.5", "1"])]
    [True, False]
    """
    column = table.columns[name]
    numbers = NumberProfile(column.readable()) if column.is_numeric() else None
    return numbers is not None and numbers.whole == 1 and 2 <= numbers.distinct <= MOST_CLASSES


def _is_no_system(name: str, numbers: NumberProfile | None) -> bool:
    """Whether numbers named like gold labels are no scores: by the name alone, or since they are those of classes."""
    if numbers is None or is_only_gold(name):
        return numbers is not None
    if is_paired_gold(name) or numbers.whole < 1 or numbers.distinct < 2:
        return False
    return numbers.size <= 1 if is_rated_gold(name) else numbers.distinct <= MOST_CLASSES


def check_scores(tables: Sequence[DataTable], name: str) -> None:
    """Refuse gold labels and predictions as the column of scores, which nobody named, in tables of systems."""
    file, give = tables[0].file, f"give {Hint('score_column', quote(name))}"
    if is_gold(name) or is_only_predicted(name) or (is_predicted(name) and any(map(is_gold, tables[0].columns))):
        what = "gold labels" if is_gold(name) else "predictions"
        raise InputError(
            f"{file}: column {quote(name)} looks like {what}, not like scores; {_SCORES}; {_BY_GOLD}; {give} if it "
            "holds scores"
        )
    bits = not is_score(name) and all(_is_yes_or_no(table, name) for table in tables)
    if len(tables) > 1 and (bits or is_target(name)):
        raise InputError(
            f"{file}: column {quote(name)} may hold scores or predictions: {give} if it holds scores (1 for right and "
            f"0 for wrong), or {Hint('gold', 'FILE')}, of ids and labels, if it holds predictions"
        )


def check_common(evaluation: EvaluationRecord, file: str, name: str) -> None:
    """Refuse numbers that all systems have alike, of a column which nobody named and which is not named like scores."""
    stats = evaluation.stats
    alike = len(stats) > 1 and len(stats[0]) >= FEWEST and evaluation.present is None and (stats == stats[0]).all()
    if alike and not is_score(name):
        raise InputError(
            f"{file}: column {quote(name)} is the same for all systems, as gold labels are, and scores are not; "
            f"{_SCORES}; {_BY_GOLD}; give {Hint('score_column', quote(name))} if it holds scores"
        )


def _is_yes_or_no(table: DataTable, name: str) -> bool:
    """Whether a column holds 0 and 1, in more rows than would tell."""
    values = table.columns[name].readable()
    return not table.columns[name].verdicts and len(values) >= FEWEST and {*values.tolist()} <= {0.0, 1.0}


def check_turned(table: DataTable, systems: Sequence[str]) -> None:
    """Refuse columns that are numbered one after the other (q1, q2, ...), as instances are, and systems seldom."""
    found = [match for name in systems if (match := _NUMBERED.fullmatch(name.strip()))]
    words, numbers = {match[1] for match in found}, [int(match[2]) for match in found]
    if len(numbers) < len(systems) or len(words) > 1 or not np.all(np.diff(numbers) == 1):
        return
    few = len(systems) >= _FEWEST_TURNED and 2 * len(table.lines) <= len(systems)
    if few or words.pop().strip("_-. ").lower() in _INSTANCES:
        raise InputError(
            f"{table.file}: columns {listing(systems[:3])}{', ...' if len(systems) > 3 else ''} are numbered like "
            f"instances, in a table of {len(table.lines)} rows; expected one row per instance and one column per "
            f"system: exchange rows and columns ({Hint('transpose')}), or give {Hint('only')} with these names if they "
            "are systems"
        )


_COMPARED = 100
"""Columns that a column is compared with, at most."""
_FOLD_NUMBER = re.compile(r"([a-zA-Z]+[ _.-]?)?\d{1,3}(\.0)?")
_MOST_FOLDS = 100


def unused(table: DataTable, options: Options, taken: Iterable[str | None] = ()) -> list[str]:
    """The columns that are not taken, and that no option names."""
    others = {options.cluster, options.strata, options.runs, *options.ignore, *taken}
    return [name for name in table.columns if name not in others]


def wide_roles(table: DataTable, options: Options) -> tuple[str | None, tuple[str, ...], list[str]]:
    """The column of instance ids of a wide table (None where rows are counted), the systems, and all other columns."""
    free = unused(table, options, [options.id_column])
    if options.only is not None:
        profiles = _profiles(table, [name for name in free if is_property(name) or name in table.index])
        about = [name for name, (role, _) in _roles(table, profiles).items() if role == "about"]
        ids = options.id_column or _wide_ids(table, options, [name for name in about if name not in options.only])
        return ids, tuple(options.only), [name for name in free if name not in (ids, *options.only)]
    roles = _roles(table, profiles := _profiles(table, free))
    ids = options.id_column or _wide_ids(table, options, [name for name in free if roles[name][0] == "about"])
    columns = [name for name in free if name != ids]
    about = [name for name in columns if roles[name][0] == "about"]
    systems = [name for name in columns if roles[name][0] in ("system", "unclear")]
    labels = systems if len(systems) > 1 else columns
    labels = [name for name in free if name in labels or (name == ids and is_gold(name))]
    check_labels({name: profiles[name] for name in labels}, where=f"{table.file}: ")
    if len(free) > 1 and all(own is None for own in profiles.values()) and not (ids and is_id_name(ids)):
        raise InputError(
            f"{table.file}: columns {listing(free, SHOWN)} hold words, and no scores; {_SCORES}; if they are labels, "
            f"give gold ones, too: {_BY_GOLD}"
        )
    if len(systems) < 2 and not about:
        systems = columns  # reading them says what is wrong with their cells
    if len(systems) > 1 or options.single:
        check_names(systems, where=f"{table.file}: ")
    unclear = {name: roles[name][1] for name in systems if roles[name][0] == "unclear"}
    if ids is None and columns and _is_numbered(table, columns[0]):
        unclear = {columns[0]: _NUMBERS_ROWS}
    if len(systems) < 2:
        unclear |= {name: roles[name][1] for name in about}
    for name, reason in unclear.items():
        others = [each for each in systems if each not in unclear]
        ways = [f"{Hint('ignore', quote(name))} to leave it out", f"{Hint('id_column', quote(name))} to use it as ids"]
        ways += [f"all systems: {Hint('only', *spelled(others))}"] * bool(others)
        raise InputError(
            f"{table.file}: column {quote(name)} looks like ids or a property of the instances, not like a system: it "
            f"{reason}; give {', '.join(ways[:-1])}{',' * (len(ways) > 2)} or {ways[-1]}"
        )
    return ids, tuple(systems), [name for name in columns if name not in systems]


def _profiles(table: DataTable, names: Sequence[str]) -> dict[str, NumberProfile | None]:
    """The numbers of each column, None where it holds words."""
    columns = {name: table.columns[name] for name in names}
    numeric = {name for name, own in columns.items() if not own.is_words()}
    if all(is_property(name) or _is_numbered(table, name) for name in numeric):  # else words are no results
        numeric |= {name for name, own in columns.items() if own.verdicts}
    return {name: NumberProfile(own.readable()) if name in numeric else None for name, own in columns.items()}


def _roles(table: DataTable, profiles: Mapping[str, NumberProfile | None]) -> dict[str, tuple[str, str]]:
    """The role of each column of a wide table, and why."""
    numbers = [(name, own) for name, own in profiles.items() if own is not None and own.values.size]
    scores = [own for name, own in numbers if not (is_property(name) or name in table.index)]
    return {
        name: ("about", "is the index of the data frame") if name in table.index else _role(name, own, scores)
        for name, own in profiles.items()
    }


_NUMBERS_ROWS = "numbers the rows"


def _role(name: str, numbers: NumberProfile | None, scores: Sequence[NumberProfile]) -> tuple[str, str]:
    """What a column is: "about" (ids and properties of instances), "text", "unclear" (to be asked about) or "system".

    The first rule that holds says so; with the reason, as a message has it after "it".
    """
    if numbers is None:
        return ("about", "holds words and is named like ids") if is_id_name(name) else ("text", "holds words")
    whole = numbers.whole == 1
    if whole and numbers.distinct == numbers.values.size and is_numbering(name):
        return "about", _NUMBERS_ROWS
    if whole and is_sure_id(name) and not is_numbering(name):
        return "about", "is named like ids"
    if numbers.is_unlike(scores[:_COMPARED]):
        reason = "has whole numbers unlike those of other columns"
        if is_property(name) and not is_sure_id(name):
            return "about", f"is named like a property of instances, and {reason}"
        return "unclear", reason
    if scores and not is_numbering(name):
        if is_sure_id(name) or is_property(name, beside_ids=True):
            return "unclear", "is named like ids or a property of instances"
        if whole and numbers.size > 1 and is_id_name(name):
            return "unclear", "has whole numbers and is named like ids"
    return "system", "may hold scores"


def _is_numbered(table: DataTable, name: str) -> bool:
    """Whether rows are numbered from 0 or 1."""
    values = table.columns[name].readable()
    return len(values) == len(table.lines) >= FEWEST and values[0] in (0, 1) and bool(np.all(np.diff(values) == 1))


def _wide_ids(table: DataTable, options: Options, believed: Sequence[str]) -> str | None:
    """The column of instance ids in a wide table; the first column may be it without a name of ids."""
    first = unused(table, options)[:1]
    if first and (first[0] in (options.only or ()) or not (is_id_name(first[0]) or _is_text(table, first[0]))):
        first = []
    if first and first[0] in table.index and is_numbering(first[0]):
        first = []  # rows of frames that were joined may have the same numbers
    return find_ids(table, options, first, believed)


def find_ids(
    table: DataTable, options: Options, first: Sequence[str], named: Sequence[str], system: str | None = None
) -> str | None:
    """The column of instance ids: one that tells all rows apart, else the first column, which is refused then.

    `first` holds the first column, if it may be it, and `named` others, because of their names; `system` is the column
    of systems in a long table, in which every system has the same ids.
    """
    if options.runs is not None and (fixed := options.strata) in table.columns:
        if tells_apart(table, fixed or "", options, system):
            return fixed  # runs within tasks
    named = [name for name in named if is_id_name(name) or name in table.index]
    must = [*first, *(name for name in named if name.strip().lower() == "id")]
    sure = [name for name in named if name in table.index or is_sure_id(name)]
    plain = [name for name in dict.fromkeys([*must, *sure, *named]) if not is_numbering(name)]
    must = [name for name in must if name in plain]
    good = [name for name in (*plain, *filter(is_numbering, named)) if tells_apart(table, name, options, system)]
    return next(iter([*(name for name in good if name in plain), *must, *good, *first]), None)


def tells_apart(table: DataTable, name: str, options: Options, system: str | None) -> bool:
    """Whether no two rows, of the same system and run, have the same name in a column."""
    keys = [table.columns[key] for key in (name, options.runs, system) if key is not None]
    return len(set(zip(*keys, strict=True))) == len(table.lines)


def _is_text(table: DataTable, first: str) -> bool:
    """Whether the first column holds text; a typing error among numbers must not turn a system into ids silently."""
    cells = table.columns[first]
    if cells.nested or cells.parsed is not None or cells.verdicts:
        return False
    texts = [row for row, cell in enumerate(cells) if is_text(cell) and hint_for_number(cell) is None]
    if texts and 2 * len(texts) < len(table.lines):
        expected = f"expected a number as in most of the column, got {quote(cells[texts[0]])}"
        how = f"repair it, or give {Hint('id_column', 'NAME')} if the column holds the instance ids"
        raise InputError(f"{locate(table, texts[0], first)}: {expected}; {how}")
    return bool(texts)


def table_notes(table: DataTable, scores: Iterable[str], unit: str | None) -> tuple[str, ...]:
    """Which words in the columns of scores are numbers; a warning if folds of a cross-validation are the units.

    The `unit` is the column of clusters, or of the ids of runs; folds within several units, as of data sets, are none.
    """
    verdicts = dict.fromkeys(table.columns[name].verdicts for name in scores if name in table.columns)
    read = [f"{yes!r} is read as 1 and {no!r} as 0" for yes, _, no in (pair.partition("/") for pair in verdicts) if yes]
    named = {name: {*table.columns[name]} for name in table.columns if is_fold(name)}
    folds = [
        f"warning: column {quote(name)}: folds share training data, so that results on them depend on each other, "
        "p-values are too small and intervals too short; compare on a separate test set, or on several data sets; "
        "`sigjax classical --design folds` has a test of folds"
        for name, numbers in named.items()
        if 1 < len(numbers) <= _MOST_FOLDS and all(_FOLD_NUMBER.fullmatch(each.strip()) for each in numbers)
        if unit is None or unit not in table.columns or not _are_within(table.names[name], table.names[unit])
    ]
    return (*read, *folds)


def _are_within(folds: np.ndarray, units: np.ndarray) -> bool:
    """Whether each of several units has several folds."""
    of_unit: dict[str, set[str]] = {}
    for fold, unit in zip(folds.tolist(), units.tolist(), strict=True):
        of_unit.setdefault(unit, set()).add(fold)
    return len(of_unit) > 1 and min(map(len, of_unit.values())) > 1


def ids_from(column: str | None) -> str:
    """Where the instance ids are from, for a note."""
    if column is None:
        return "are the numbers of the rows"
    return f"from column {quote(column)}" if column else "from the column without a name"


def columns_note(about: Mapping[str, str], others: Sequence[str], options: str) -> str:
    """One line on what was taken from which columns.

    >>> columns_note({"ids": "'id'", "systems": "'A', 'B'"}, ["length"], "id_column, only, ignore")
    "read from the table: ids 'id'; systems 'A', 'B'; not used 'length' (options: id_column, only, ignore)"
    """
    parts = [f"{what} {names}" for what, names in about.items()]
    parts += [f"not used {listing(others, SHOWN)}"] if others else []
    return f"read from the table: {'; '.join(parts)} (options: {options})"
