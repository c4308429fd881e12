"""A lexicon of column names: the roles that a name suggests (metric, cost, system, id, gold label and others).

The file `lexicon.toml` holds the names of each role. The user can add names with a file (option `lexicon`). A column is
"named like ids" if its name suggests that it holds ids, and similarly for other roles. A column's values are evidence
for its role, too; `roles` looks at them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, Literal

from sigjax.metrics import METRICS
from sigjax.readers.options import listing
from sigjax.records import Hint, InputError
from sigjax.run.files import naming, read_text

Direction = Literal["higher", "lower", "unknown", "ask"]
"""Which scores are better, according to the name of their column. "unknown": the name does not say it. "ask": sigjax
must ask the user."""


def squeezed(name: str) -> str:
    """Return a name in lower case, without separators between words."""
    return re.sub(r"[\W_]+", "", name).lower()


_SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "squeezed": squeezed,
    "lower": lambda name: name.strip().lower(),
    "plain": str.strip,
    "bare": lambda name: name.strip(" .:*_()").lower(),
}
_CAMEL, _SHORT = re.compile(r"(?<=[a-z])(?=[A-Z])"), 3
_BETWEEN = re.compile(r"[\W\d_]+|(?<=[a-z])(?=[A-Z])")
"""Pattern of what separates the words in the name of a column of scores."""
_SEPARATORS = " _.-"
_SUMMARIES = ("mean", "median", "ratio", "variance")
"""Names of metrics that the lexicon leaves out: a column with such a name is a summary of other columns."""
_LISTS = ("words", "among", "higher", "lower", "before", "after")


def words_of(name: str) -> list[str]:
    """Split a name into its words, in lower case.

    A part between separators is also split before each capital letter that follows a small letter, but only if the last
    word of the part then has at least four characters. So "SeTA" is not split, because "TA" has two.

    >>> words_of("overallScore_v2"), words_of("run-a - loss__MIN"), words_of("SeTA")
    (['overall', 'score', 'v2'], ['run', 'a', 'loss', 'min'], ['seta'])
    """
    words: list[str] = []
    for part in filter(None, re.split(r"[\W_]+", name)):
        inner = [word.lower() for word in _CAMEL.split(part)]
        words += inner if len(inner[-1]) > _SHORT else [part.lower()]
    return words


class Lexicon:
    """For each role of columns, the names that suggest it."""

    patterns: Mapping[str, Sequence[re.Pattern[str]]]
    """Role -> patterns that match whole names."""

    def __init__(self, sections: Mapping[str, Mapping[str, Any]]) -> None:
        """Make a lexicon from the sections of a TOML file, one per role."""
        self.sections = sections
        self._is = cache(self._matches)
        self._metrics = {
            which: frozenset(map(squeezed, self.sections["metrics"][which].split())) for which in ("higher", "lower")
        }
        for metric in METRICS.values():
            if metric.name in _SUMMARIES:
                continue
            which = "higher" if metric.higher_is_better else "lower"
            known = frozenset().union(*self._metrics.values())
            self._metrics[which] |= {squeezed(metric.name)} - known
        self._costs = frozenset(map(squeezed, self.sections["costs"]["words"].split()))
        every = "|".join(sorted(map(re.escape, frozenset().union(*self._metrics.values())), key=len, reverse=True))
        before, after = ("|".join(self.sections["metrics"][part].split()) for part in ("before", "after"))
        patterns = "|".join(self.sections["metrics"]["patterns"])
        self._metric = re.compile(rf"(({before})({before})?)?(?P<name>{every}|{patterns})({after})?")
        self.patterns = {
            role: [self._metric] if role == "metrics" else [*map(re.compile, section.get("patterns", ()))]
            for role, section in sections.items()
        }

    def _matches(self, role: str, name: str) -> bool:
        section = self.sections[role]
        spelling = _SPELLINGS[section.get("spelling", "squeezed")]
        spelled = spelling(name)
        if spelled in {spelling(word) for word in section.get("words", "").split()}:
            return True
        if any(pattern.fullmatch(spelled) for pattern in self.patterns.get(role, ())):
            return True
        return bool({*section.get("among", "").split()} & {*words_of(name)})

    def holds(self, role: str, name: str) -> bool:
        """Whether a name suggests a role."""
        return self._is(role, name)

    def ending(self, role: str, name: str) -> str | None:
        """Return the ending of a name that is a word of the role; None if there is no such word."""
        return next((word for word in self.sections[role]["words"].split() if name.endswith(word)), None)

    @property
    def known_metrics(self) -> frozenset[str]:
        """The names of metrics, as `squeezed` spells them."""
        return frozenset().union(*self._metrics.values())

    def metric(self, name: str) -> str | None:
        """Return the word in `name` that means a metric; None if there is none, or if `name` also has other words.

        Words such as "test" before and after the metric are ignored, and so is everything after @ or an opening
        bracket.
        """
        found = self._metric.fullmatch(squeezed(re.split(r"[@(]", name)[0]))
        return None if found is None else found["name"]

    def is_cost(self, name: str) -> bool:
        """Whether a whole name means a cost, such as a time or a price."""
        return squeezed(name) in self._costs

    def direction(self, name: str) -> Direction:
        """Say whether higher or lower scores are better in a column with this name."""
        whole = self.metric(name)
        if whole is not None:
            return "lower" if whole in self._metrics["lower"] else "higher"
        if self.is_cost(name):
            return "lower"
        found = {self.direction(part) for part in re.split(r"[\W_]+", name) if self.metric(part)}
        if found == {"lower"}:
            return "lower"
        if self.holds("asked", name):
            return "ask"
        return "higher" if found == {"higher"} else "unknown"


@cache
def _built_in() -> Mapping[str, Mapping[str, Any]]:
    from tomllib import loads

    return loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


@cache
def _lexicon(text: str | None, file: str | None) -> Lexicon:
    """Return the built-in lexicon. If there is a user's file, `text` is its content, and its words are added."""
    if text is None or file is None:
        return Lexicon(_built_in())
    from tomllib import TOMLDecodeError, loads

    known = _built_in()
    try:
        added = loads(text)
    except TOMLDecodeError as error:
        raise InputError(f"{file}: is no TOML: {error}; repair it") from None
    sections = {role: dict(section) for role, section in known.items()}
    for role, section in added.items():
        if role not in known or not isinstance(section, dict):
            raise InputError(f"{file}: no role {role!r} in a lexicon; roles: {listing(known, 40)}")
        for key, value in section.items():
            if key not in _LISTS or key not in {"words", *known[role]}:
                kinds = [key for key in dict.fromkeys(("words", *known[role])) if key in _LISTS]
                raise InputError(f"{file}: [{role}] takes {', '.join(kinds)}, got {key!r}")
            if not (isinstance(value, str) or (isinstance(value, list) and all(isinstance(v, str) for v in value))):
                raise InputError(f"{file}: [{role}] {key}: expected names, as a text or a list of texts")
            names = [value] if isinstance(value, str) else map(squeezed, value)
            sections[role][key] = " ".join([sections[role].get(key, ""), *names])
    for other, which in (("lower", "higher"), ("higher", "lower")):  # the user's direction counts
        mine = {squeezed(word) for word in " ".join(_names(added.get("metrics", {}).get(which, ""))).split()}
        kept = [word for word in sections["metrics"][other].split() if squeezed(word) not in mine]
        sections["metrics"][other] = " ".join(kept)
    return Lexicon(sections)


def _names(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else [squeezed(word) for word in value]


_CURRENT: ContextVar[Lexicon | None] = ContextVar("lexicon", default=None)


def lexicon() -> Lexicon:
    """Return the lexicon in use: the built-in lexicon, unless `using` added words."""
    return _CURRENT.get() or _lexicon(None, None)


@contextmanager
def using(file: str | None) -> Iterator[None]:
    """In a with block, add the words of the user's file to the lexicon. None adds nothing."""
    if file is None:
        yield
        return
    with naming(f"{Hint('lexicon')}"):
        added = _lexicon(read_text(file), file)
    token = _CURRENT.set(added)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def is_numbering(name: str) -> bool:
    """Whether the name of a column means row numbers ("index", "no").

    Such a column holds the ids only if no other column can.
    """
    return lexicon().holds("numbering", name)


def is_order(name: str) -> bool:
    """Whether the name of a column means an order, such as row numbers ("index"), steps ("step") or ranks ("rank")."""
    return is_numbering(name) or lexicon().holds("order", name) or is_step(name)


def is_step(name: str) -> bool:
    """Whether the name of a column means the steps of a run ("step", "iteration").

    Results of steps depend on each other.
    """
    return lexicon().holds("step", name)


def is_id_name(name: str | None) -> bool:
    """Whether the name of a column suggests that it holds ids.

    >>> [name for name in ("docid", "Sent_ID", "exampleId", "Topic", "grid", "A") if is_id_name(name)]
    ['docid', 'Sent_ID', 'exampleId', 'Topic']
    """
    return name is not None and (is_sure_id(name) or lexicon().holds("id_word", name))


def is_sure_id(name: str) -> bool:
    """Whether a column with this name can only hold ids or row numbers, such as "doc_id" (but not "topic")."""
    return lexicon().holds("id", name) or lexicon().holds("id_camel", name) or is_numbering(name)


def is_property(name: str, *, beside_ids: bool = False) -> bool:
    """Whether the name of a column suggests that it holds a property of instances, such as "length".

    Names that suggest ids also count, unless `beside_ids` is true.
    """
    return (not beside_ids and is_id_name(name)) or lexicon().holds("property", name) or is_fold(name)


def is_only_gold(name: str) -> bool:
    """Whether a column with this name holds gold labels, and cannot be a system."""
    return lexicon().holds("gold_sure", name)


def is_rated_gold(name: str) -> bool:
    """Whether a name may mean gold labels, or human outputs that are rated like the outputs of systems."""
    return lexicon().holds("gold_rated", name)


def is_paired_gold(name: str) -> bool:
    """Whether a name suits gold labels only if the table also has a column of predictions."""
    return lexicon().holds("gold_paired", name)


def is_label_word(name: str) -> bool:
    """Whether a name suits labels, either gold labels or predicted labels ("y", "answer")."""
    return lexicon().holds("label_word", name)


def is_gold(name: str) -> bool:
    """Whether the name of a column suggests that it holds gold labels.

    >>> [name for name in ("y_true", "True_Label", "Actual", "gold-standard-model", "targets") if is_gold(name)]
    ['y_true', 'True_Label', 'Actual', 'targets']
    """
    return is_only_gold(name) or is_rated_gold(name) or is_paired_gold(name) or lexicon().holds("gold_word", name)


def is_target(name: str) -> bool:
    """Whether a name is common for the quantity that systems predict, such as "survived" or "species"."""
    return lexicon().holds("target", name)


def is_predicted(name: str) -> bool:
    """Whether the name of a column beside gold labels suggests that it holds predictions or their probabilities.

    >>> [name for name in ("y_pred", "Predicted_Label", "pred_bert", "predictor", "Output") if is_predicted(name)]
    ['y_pred', 'Predicted_Label', 'pred_bert', 'Output']
    """
    return lexicon().holds("predicted_word", name) or is_only_predicted(name)


def is_only_predicted(name: str) -> bool:
    """Whether the name of a column suggests that it holds predictions ("y_pred", "pred_bert"), and not scores."""
    return lexicon().holds("predicted", name) or lexicon().holds("predicted_of", name)


def is_measure(name: str) -> bool:
    """Whether a name means a metric or a cost."""
    return lexicon().metric(name) is not None or lexicon().is_cost(name)


def are_measures(names: Iterable[str]) -> bool:
    """Whether all names mean metrics or costs.

    >>> are_measures(["BLEU", "ndcg@10", "answer_relevancy"]), are_measures(["bleu", "base"])
    (True, False)
    """
    return all(map(is_measure, names))


def says_direction(names: Iterable[str]) -> bool:
    """Whether some name says which scores are better, or is a name (such as distance) for which the user must say it.

    >>> says_direction(["wer"]), says_direction(["latency"]), says_direction(["value"])
    (True, True, False)
    """
    return any(lexicon().direction(name) != "unknown" for name in names)


def names_measures(name: str) -> bool:
    """Whether the name of a column suggests that it holds names of metrics ("metric", "criterion")."""
    return lexicon().holds("metric_column", name)


def is_plain_score(name: str) -> bool:
    """Whether the name of a column is just "score", "value" or "result"."""
    return lexicon().holds("plain_score", name)


def is_score(name: str) -> bool:
    """Whether the name of a column suggests that it holds scores.

    >>> [name for name in ("isCorrect", "f1_score", "resolved", "Survived", "A") if is_score(name)]
    ['isCorrect', 'f1_score', 'resolved']
    """
    return is_measure(name) or any(lexicon().holds("score_word", word) for word in _BETWEEN.split(name))


def is_system(name: str) -> bool:
    """Whether the name of a column says that it holds names of systems ("system", "model_id")."""
    return lexicon().holds("system", name)


def may_be_system(name: str) -> bool:
    """Whether the name of a column may say that it holds names of systems.

    The name may also mean a property of instances.

    >>> [name for name in ("Model_Name", "Agent", "alg_name", "Algoritmo", "agency") if may_be_system(name)]
    ['Model_Name', 'Agent', 'alg_name', 'Algoritmo']
    """
    return is_system(name) or lexicon().holds("system_maybe", name)


def is_group(name: str) -> bool:
    """Whether a name suits systems, but also people or groups that may be instances, such as team or participant."""
    return lexicon().holds("group", name)


def is_fold(name: str) -> bool:
    """Whether the name of a column says that it holds the folds of a cross-validation ("fold")."""
    return lexicon().holds("fold", name)


def is_data_set(name: str) -> bool:
    """Whether the name of a column says that it holds names of data sets ("dataset", "task")."""
    return lexicon().holds("data_set", name)


def is_trial(name: str) -> bool:
    """Whether the name of a column says that it holds the runs of an instance ("seed", "trial")."""
    return lexicon().holds("trial", name)


def system_of_run(name: str) -> str:
    """Return the system, in lower case, from the name of a run such as svm_seed12; empty for other names.

    >>> system_of_run("svm_seed12"), system_of_run("svm2")
    ('svm', '')
    """
    name = name.strip().lower()
    head = name.rstrip("0123456789")
    ending = None if head == name else lexicon().ending("run_ending", head.rstrip(_SEPARATORS))
    return "" if ending is None else head.rstrip(_SEPARATORS).removesuffix(ending).rstrip(_SEPARATORS)


def is_summary(name: str) -> bool:
    """Whether a name means a row or column of means or sums: "MEAN", "macro avg", "Total:"."""
    return lexicon().holds("summary", name)


def is_statistic_name(name: str) -> bool:
    """Whether the name of a row means a statistic other than the mean: a deviation, a median or a count."""
    return lexicon().holds("describes", name)


def is_text_name(name: str) -> bool:
    """Whether the name of a column suggests that it holds output texts of systems ("response", "translation")."""
    return lexicon().holds("text", name)


def is_aggregate(word: str) -> bool:
    """Whether a word in a name says that a column is derived from other columns, such as mean, std, rank or diff."""
    return lexicon().holds("aggregate", word)


def is_mean(word: str) -> bool:
    """Whether a word in the name of a column says that the column holds means ("avg")."""
    return lexicon().holds("mean", word)


def is_other_aggregate(name: str) -> bool:
    """Whether the name of a column has a word for a statistic of other columns that is not their mean.

    >>> [name for name in ("accuracy_mean", "accuracy_standard_deviation", "acc_std", "f1") if is_other_aggregate(name)]
    ['accuracy_standard_deviation', 'acc_std']
    """
    return any(is_aggregate(word) and not is_mean(word) for word in words_of(name))


def metrics_in(name: str) -> list[str]:
    """Return the words of a name that mean metrics, in lower case.

    >>> metrics_in("acc_svm"), metrics_in("rougeL-f1"), metrics_in("svm")
    (['acc'], ['rougel', 'f1'], [])
    """
    parts = [part for part in re.split(r"[\W_]+", name) if part]
    return [part.lower() for part in parts if lexicon().metric(part)]


def speaks_against(name: str) -> str | None:
    """Say why a column with this name is hardly a system: "metric", "aggregate", "cost" or "score". None if it may be.

    >>> [speaks_against(name) for name in ("acc_svm", "A_std", "cost_usd", "svm")]
    ['metric', 'aggregate', 'cost', None]
    """
    if lexicon().metric(name) or metrics_in(name):
        return "metric"
    if is_summary(name) or is_aggregate(name):
        return "aggregate"
    if lexicon().holds("costs", name):
        return "cost"
    words = [word for word in words_of(name) if len(word) > 1]
    return "score" if any(lexicon().holds("score_word", word) for word in words) else None
