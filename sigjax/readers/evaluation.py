"""The public `Evaluation`: the record, with the ways in and out."""

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
    """The statistics of several systems on the same instances, for one metric, with the ways in and out.

    Attributes:
        systems: [system] names.
        stats: [system, instance, stat]; int64 if every statistic is a whole number, else float64. For a
            `SampleMetric` its inputs.
        ids: [instance]; unique, but for `runs`. None if instances are known by their position only.
        metric: what the statistics are for.
        clusters: [instance] the cluster (document, repository, topic) of each instance; clusters are resampled whole.
        strata: [instance] the stratum of each instance; the bootstrap draws within strata.
        runs: [instance] the label of a trial (an epoch, a seed), where systems were run several times on the same
            instances: the trials of an instance have its id, and are resampled together unless there are clusters, or
            a `design` (see `compare`) tells them apart.
        notes: what was done to the data on the way in, for people (instances dropped, cells filled).
        unit: "response" where each instance is one response of systems (a span, a link, a bracket, a term) or an item
            of the gold standard that none gave. Responses are swapped, but they are no sample that can be drawn from.
        present: [system, instance] whether there is a result (missing="pairwise"); its statistics are 0 if there is
            none. None if every system has every instance.
        title: what was measured, as the log of a program names it: "TASK: SCORE". None if it names no task.
        weights: `[instance]` how much each counts in the score, in a suite of tasks of different size. Else None.

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
        """Build an evaluation from one array per system: `[instance]`, or `[instance, input]` for several numbers.

        An array is a list, an array of NumPy or of JAX (bfloat16, too), or a column of a data frame; columns whose
        indexes differ are refused. Instead, a system may be given as id -> number (or numbers): systems are then
        joined by id, and `clusters` and `strata` are id -> label.

        Args:
            arrays: name of each system -> its numbers; every system has the same instances in the same order, or ids.
            metric: a name (`sigjax help metrics` lists them), a `Metric`, a `SampleMetric`, or a function of sums
                `[..., stat] -> [...]`.
            ids: `[instance]` names of the instances; known by their positions when left out.
            clusters: `[instance]` labels; instances of one cluster are resampled together.
            strata: `[instance]` labels; the bootstrap draws within each stratum.
            runs: `[instance]` labels of trials; the trials of an instance have one id and are resampled together.
            missing: for numbers by id, what to do with instances that some system lacks: refuse them ("error"), leave
                them out for all ("drop"), count them as 0 ("zero"), or let `compare` test each pair on the instances
                that both have ("pairwise").

        Raises:
            InputError: unequal lengths, text, NaN or infinity, fewer than two systems, no instance, repeated ids,
                values that the metric cannot take, systems named like gold labels, predictions or metrics.

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
        """Build an evaluation from gold labels and what systems predict, as functions of scikit-learn take them.

        Of class labels "accuracy", "balanced-accuracy", "macro-fscore", "macro-precision", "macro-recall",
        "weighted-fscore", "micro-fscore", "mcc" and "kappa"; of two classes (1 and 0, True and False, "yes" and "no",
        "positive" and "negative") "precision", "recall" and "fscore" of the first. Of numbers "mae", "mse", "rmse",
        "r2", "correlation", "spearman" and "kendall". Of gold labels 0 and 1 with scores "auc" and "average-precision",
        with probabilities "brier" and "log-loss". Of texts "exact_match" and "f1" as of SQuAD, and what `from_texts`
        takes.

        Args:
            gold: `[instance]` the right label or number.
            predictions: name of each system -> its labels or numbers `[instance]`, in the order of `gold`; or a data
                frame with a column for each system.
            metric: one of these names; `Evaluation.from_arrays` takes the numbers of any other.
            ids: `[instance]` names of the instances; known by their positions when left out.
            clusters: `[instance]` labels; instances of one cluster are resampled together.
            strata: `[instance]` labels; the bootstrap draws within each stratum.
            runs: `[instance]` labels of trials; the trials of an instance have one id and are resampled together.

        Raises:
            InputError: another metric, other lengths, missing labels, a system that has no gold label, and whatever
                `from_arrays` refuses.

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

        A frame is a table as in a file: long with a column of systems (one row per system and instance), else wide (one
        row per instance, one column per system). Nulls and NaN are missing results. An index of pandas is read as
        columns, unless it only counts rows. A note says what was taken from which column.

        Args:
            frame: the data frame.
            options: those of `sigjax.read`, but for those of files.

        Raises:
            InputError: narwhals is missing, this is no data frame, or its content cannot be used.

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
        """Build an evaluation from the texts that systems put out.

        "bleu", "chrf", "chrf++" and "ter" are sacrebleu's (extra `mt`), 0 to 100. "rouge1", "rouge2", "rougeL" and
        "rougeLsum" (of sentences between line breaks) are means of the F1 of rouge-score (extra `rouge`), without
        stemming; "rouge1(stem=true)" has it, as most published figures. "bleu(tokenize=zh)" has another tokenizer of
        sacrebleu's than 13a (zh, ja-mecab, intl, char, none), and "chrf(lowercase=true)" ignores case. "wer" and "cer"
        are errors (insertions, deletions, substitutions) in words between blanks, or in characters, for each one of the
        reference; "wer(punctuation=false)" leaves out punctuation. With several references a segment takes the one with
        the fewest errors for its length. "wer-sclite" counts as NIST's sclite: case is ignored, `{ um / uh / @ }` are
        alternatives (@ is nothing), and `(uh)` may be left out. `notes` holds the signature of the metric. Work that is
        worth it runs on all cores.

        Args:
            systems: name of each system -> its texts `[segment]`; an empty output is "".
            references: texts `[segment]`, or several references as `[reference][segment]`.
            metric: one of the names above; `sigjax help metrics` has their parameters.
            ids: `[segment]` names; known by their positions when left out.
            clusters: `[segment]` labels (documents); segments of one cluster are resampled together.
            strata: `[segment]` labels; the bootstrap draws within each stratum.
            cache: whether to keep statistics in the user's cache folder, by a hash of the texts, and use those there.
            progress: whether to draw a progress bar in a terminal (stderr) or a notebook.

        Raises:
            InputError: a library is missing, another number of segments than the references have, something that is
                not text, a tokenizer that cannot be used, and whatever `from_arrays` refuses.

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
        """Save as .npz with a JSON header (no pickle), so that `sigjax.read` gives the same evaluation back.

        Raises:
            InputError: the metric is a user's function, which a file cannot hold.
        """
        from sigjax.readers.saved import save_evaluations

        save_evaluations(os.fsdecode(path), [self])
