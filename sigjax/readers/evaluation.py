"""The public class `Evaluation`: the record, with methods to build and to save it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sigjax.metrics import check_enough, evaluation_from_arrays, refuse_mean
from sigjax.readers.join import evaluation_from_mappings
from sigjax.readers.options import ReadOptions
from sigjax.readers.predictions import evaluation_from_predictions
from sigjax.readers.roles import check_systems
from sigjax.records import EvaluationRecord, InputError, Missing
from sigjax.records.metric import AnyMetric
from sigjax.records.options import explained, takes


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(EvaluationRecord):
    """The statistics of several systems on the same instances, for one metric.

    Attributes:
        systems: `[system]` names.
        stats: `[system, instance, stat]`; int64 if every statistic is an integer, else float64. For a `SampleMetric`,
            these are its inputs.
        ids: `[instance]` ids; they are unique unless there are `runs`. None if instances have only a position.
        metric: the metric that takes the statistics.
        clusters: `[instance]` the cluster (document, repository, topic) of each instance; clusters are resampled whole.
        strata: `[instance]` the stratum of each instance; the bootstrap draws within strata.
        runs: `[instance]` the label of the run (an epoch, a seed), if systems were run several times on each instance.
            The runs of an instance share its id. They are resampled together unless there are clusters, or a `design`
            (see `compare`) tells them apart.
        notes: sentences on what was done to the data when they were read (instances dropped, cells filled).
        unit: "response" if each instance is a response of systems (a span, a link, a bracket, a term). Items of the
            gold standard that no system gave are instances, too. The permutation test swaps responses; the bootstrap
            cannot resample them.
        present: `[system, instance]` whether there is a result (missing="pairwise"); without a result, its statistics
            are 0. None if every system has every instance.
        title: the task and the score, as the log of a program names them: "TASK: SCORE". None if the log names no task.
        weights: `[instance]` the weight of each instance, if the evaluation is a suite of tasks that differ in size;
            else None.

    Example:
        >>> evaluation = Evaluation.from_arrays({"A": [1, 1, 0, 1], "B": [1, 0, 0, 1]}, metric="accuracy")
        >>> evaluation.systems, evaluation.stats.shape
        (('A', 'B'), (2, 4, 2))
    """

    @classmethod
    @explained
    def from_arrays(
        cls,
        arrays: Mapping[str, Any],
        *,
        metric: AnyMetric = "mean",
        ids: Sequence[object] | None = None,
        clusters: Any = None,
        strata: Any = None,
        runs: Sequence[object] | None = None,
        missing: Missing = "error",
    ) -> Evaluation:
        """Build an evaluation from one array per system: `[instance]`, or `[instance, input]` for several inputs.

        An array is a list, an array of NumPy or JAX (also bfloat16), or a column of a data frame. Columns whose indexes
        differ are refused. Instead, you can give each system as id -> number (or numbers). Systems are then joined by
        id, and `clusters` and `strata` are id -> label.

        Args:
            arrays: name of each system -> its numbers; without ids, all systems have the same instances in the same
                order.
            metric: a name (`sigjax help metrics` lists them), a `Metric`, a `SampleMetric`, or a function of sums
                `[..., stat] -> [...]`.
            ids: `[instance]` names of the instances; by default, instances have only a position.
            clusters: `[instance]` labels; instances of one cluster are resampled together.
            strata: `[instance]` labels; the bootstrap draws within each stratum.
            runs: `[instance]` labels of runs; the runs of an instance have the same id and are resampled together.
            missing: for numbers by id, what to do with an instance for which some system has no number. "error" refuses
                it, "drop" leaves it out for all systems, "zero" counts it as 0. With "pairwise", `compare` tests each
                pair on the instances for which both systems have numbers.

        Raises:
            InputError: lengths differ; ids repeat; values are text, NaN or infinite, or the metric cannot take them;
                there are fewer than two systems, or no instances; systems are named like gold labels, predictions or
                metrics.

        Example:
            >>> Evaluation.from_arrays({"A": {"x": 1, "y": 0}, "B": {"y": 1, "x": 1}}).stats[:, :, 0]
            array([[1, 0],
                   [1, 1]])
        """
        for name, own in arrays.items() if isinstance(arrays, Mapping) else ():
            refuse_mean(name, own)
        check_enough(arrays)
        if isinstance(arrays, Mapping) and any(isinstance(own, Mapping) for own in arrays.values()):
            if ids is not None or runs is not None:
                raise InputError("ids and runs are for arrays; these numbers are given by id")
            made = evaluation_from_mappings(arrays, metric=metric, clusters=clusters, strata=strata, missing=missing)
        elif missing != "error":
            raise InputError("missing is for numbers by id, such as {'A': {'x': 1}}; arrays are joined by position")
        else:
            made = evaluation_from_arrays(arrays, metric=metric, ids=ids, clusters=clusters, strata=strata, runs=runs)
        check_systems(made)
        return cls(**vars(made))

    @classmethod
    @explained
    def from_predictions(
        cls,
        gold: Any,
        predictions: Any,
        *,
        metric: str = "accuracy",
        ids: Sequence[object] | None = None,
        clusters: Sequence[object] | None = None,
        strata: Sequence[object] | None = None,
        runs: Sequence[object] | None = None,
    ) -> Evaluation:
        """Build an evaluation from gold labels and predictions, as functions of scikit-learn take them.

        The metrics, by the kind of labels:

        - Classes: "accuracy", "balanced-accuracy", "macro-fscore", "macro-precision", "macro-recall",
          "weighted-fscore", "micro-fscore", "mcc" and "kappa".
        - Two classes (1 and 0, True and False, "yes" and "no", "positive" and "negative"): also "precision", "recall"
          and "fscore" of the first class.
        - Numbers: "mae", "mse", "rmse", "r2", "correlation", "spearman" and "kendall".
        - Gold labels 0 and 1: "auc" and "average-precision" for scores, "brier" and "log-loss" for probabilities.
        - Texts: "exact_match" and "f1" as SQuAD defines them, and the metrics of `from_texts`.

        Args:
            gold: `[instance]` the correct label or number.
            predictions: name of each system -> its labels or numbers `[instance]`, in the order of `gold`; or a data
                frame with a column for each system.
            metric: a name above; for any other metric, give its numbers to `Evaluation.from_arrays`.
            ids: `[instance]` names of the instances; by default, instances have only a position.
            clusters: `[instance]` labels; instances of one cluster are resampled together.
            strata: `[instance]` labels; the bootstrap draws within each stratum.
            runs: `[instance]` labels of runs; the runs of an instance have the same id and are resampled together.

        Raises:
            InputError: the metric is unknown, lengths differ, labels are missing, or no prediction of a system is a
                gold label; also whatever `from_arrays` refuses.

        Example:
            >>> evaluation = Evaluation.from_predictions(["cat", "dog"], {"A": ["cat", "dog"], "B": ["cat", "cat"]})
            >>> evaluation.stats[:, :, 0]
            array([[1, 1],
                   [1, 0]])
        """
        labels = {"ids": ids, "clusters": clusters, "strata": strata, "runs": runs}
        made = evaluation_from_predictions(gold, predictions, metric=metric, **labels)
        check_systems(made, predicted=True)
        return cls(**vars(made))

    @classmethod
    @takes(ReadOptions)
    def from_dataframe(cls, frame: Any, options: ReadOptions) -> Evaluation:
        """Build an evaluation from a data frame of pandas, polars or pyarrow (extra `dataframe`).

        The frame is read like a table in a file. It is long if it has a column of systems: one row per system and
        instance. Else it is wide: one row per instance, one column per system. Nulls and NaN are missing results. A
        pandas index is read as columns, unless it only counts rows. A note says which column was used for what.

        Args:
            frame: the data frame.
            options: the options of `sigjax.read`, except the options for files.

        Raises:
            InputError: narwhals is not installed, `frame` is not a data frame, or its content cannot be used.

        Example:
            >>> import pandas
            >>> frame = pandas.DataFrame({"id": ["x", "y"], "A": [1, 0], "B": [1, 1]})
            >>> Evaluation.from_dataframe(frame, metric="accuracy").systems
            ('A', 'B')
        """
        from sigjax.readers.frames import read_frame

        metric: Any = options.metric
        return cls(**vars(read_frame(frame, metric, options)))

    @classmethod
    @explained
    def from_texts(
        cls,
        systems: Mapping[str, Sequence[str]],
        references: Sequence[str] | Sequence[Sequence[str]],
        *,
        metric: str = "bleu",
        ids: Sequence[object] | None = None,
        clusters: Sequence[object] | None = None,
        strata: Sequence[object] | None = None,
        cache: bool = True,
        progress: bool = True,
    ) -> Evaluation:
        """Build an evaluation from the output texts of systems.

        The metrics:

        - "bleu", "chrf", "chrf++" and "ter" are computed by sacrebleu (extra `mt`), from 0 to 100. "bleu(tokenize=zh)"
          replaces the tokenizer 13a by another one of sacrebleu (zh, ja-mecab, intl, char, none).
          "chrf(lowercase=true)" ignores case.
        - "rouge1", "rouge2", "rougeL" and "rougeLsum" are means of F1 as rouge-score computes it (extra `rouge`),
          without stemming. "rouge1(stem=true)" stems words, as most published scores do. "rougeLsum" takes line breaks
          as the ends of sentences.
        - "wer" and "cer" are error rates: insertions, deletions and substitutions of words (or characters), divided by
          the number of words (or characters) in the reference. "wer(punctuation=false)" removes punctuation. If a
          segment has several references, the reference with the lowest error rate counts.
        - "wer-sclite" counts errors as NIST's sclite does: case is ignored, `{ um / uh / @ }` are alternatives (@ is
          the empty word), and `(uh)` is optional.

        `notes` holds the signature of the metric. Large inputs are scored on all cores.

        Args:
            systems: name of each system -> its texts `[segment]`; an empty output is "".
            references: texts `[segment]`, or several references as `[reference][segment]`.
            metric: a name above; `sigjax help metrics` lists the parameters.
            ids: `[segment]` names; by default, segments have only a position.
            clusters: `[segment]` labels (documents); segments of one cluster are resampled together.
            strata: `[segment]` labels; the bootstrap draws within each stratum.
            cache: whether to keep statistics in the user's cache folder, by a hash of the texts, and to reuse them.
            progress: whether to draw a progress bar in a terminal (stderr) or a notebook.

        Raises:
            InputError: a library is not installed, systems and references differ in their numbers of segments, a
                segment is not text, or a tokenizer cannot be used; also whatever `from_arrays` refuses.

        Example:
            >>> outputs = {"A": ["The cat sat on the mat."], "B": ["A cat is on the mat."]}
            >>> evaluation = Evaluation.from_texts(outputs, ["The cat sat on a mat."], metric="chrf")
            >>> evaluation.stats.shape, evaluation.metric.score(evaluation.stats.sum(axis=1)).round(2)
            ((2, 1, 18), array([71.42, 26.52]))
        """
        from sigjax.metrics.texts import evaluation_from_texts

        check_enough(systems)
        labels = {"ids": ids, "clusters": clusters, "strata": strata}
        made = evaluation_from_texts(systems, references, metric=metric, **labels, cache=cache, progress=progress)
        return cls(**vars(made))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the evaluation as .npz with a JSON header (no pickle); `sigjax.read` returns the same evaluation.

        Raises:
            InputError: the metric is a function of yours, which a file cannot hold.
        """
        from sigjax.readers.saved import save_evaluations

        save_evaluations(os.fsdecode(path), [self])
