"""Gold labels and predictions in Python: the scores of scikit-learn, and the same comparison as of numbers."""

from functools import partial

import numpy as np
import pandas
import pytest
from scipy import stats

from sigjax import Evaluation, InputError, compare, diff, doctor, one_sample, read
from sigjax.metrics.registry import ALIASES
from sigjax.readers.saved import save_evaluations

sklearn = pytest.importorskip("sklearn.metrics")

SKLEARN = {
    "accuracy": sklearn.accuracy_score,
    "balanced-accuracy": sklearn.balanced_accuracy_score,
    "micro-fscore": lambda gold, own: sklearn.f1_score(gold, own, average="micro"),
    "weighted-fscore": lambda gold, own: sklearn.f1_score(gold, own, average="weighted"),
    "macro-fscore": lambda gold, own: sklearn.f1_score(gold, own, average="macro", zero_division=0),
    "macro-precision": lambda gold, own: sklearn.precision_score(gold, own, average="macro", zero_division=0),
    "macro-recall": lambda gold, own: sklearn.recall_score(gold, own, average="macro", zero_division=0),
    "mcc": sklearn.matthews_corrcoef,
    "kappa": sklearn.cohen_kappa_score,
    "precision": sklearn.precision_score,
    "recall": sklearn.recall_score,
    "fscore": sklearn.f1_score,
    "auc": sklearn.roc_auc_score,
    "average-precision": sklearn.average_precision_score,
    "brier": sklearn.brier_score_loss,
    "log-loss": sklearn.log_loss,
    "mae": sklearn.mean_absolute_error,
    "mse": sklearn.mean_squared_error,
    "rmse": lambda gold, own: sklearn.mean_squared_error(gold, own) ** 0.5,
    "r2": sklearn.r2_score,
    "correlation": lambda gold, own: np.corrcoef(gold, own)[0, 1],
}


ALIAS_SCORES = {
    **{
        f"{score}_{average}": partial(getattr(sklearn, f"{score}_score"), average=average, zero_division=0)
        for score in ("f1", "precision", "recall")
        for average in ("macro", "micro", "weighted")
    },
    **{short: getattr(sklearn, f"{short}_score") for short in ("balanced_accuracy", "roc_auc", "average_precision")},
    **{"pearsonr": lambda gold, own: stats.pearsonr(gold, own)[0], "spearmanr": lambda *xy: stats.spearmanr(*xy)[0]},
    **{"pearson": lambda gold, own: stats.pearsonr(gold, own)[0], "kendalltau": lambda *xy: stats.kendalltau(*xy)[0]},
}
"""Those that are no names of functions of scikit-learn."""
PER_CLASS = ("accuracy", "micro-fscore", "macro-fscore", "macro-precision", "macro-recall", "weighted-fscore")
PER_CLASS += ("balanced-accuracy", "mcc", "kappa")


@pytest.mark.parametrize("alias", sorted({*ALIASES} - {"chrf2", "chrf2++"}))
@pytest.mark.parametrize("classes", [2, 5])
def test_a_name_of_scikit_learn_is_taken_where_the_number_is_the_same(alias, classes):
    """On 2,000 instances, of two classes and of five, some of which a system never predicts; in any case of letters."""
    rng = np.random.default_rng(17)
    gold, own = rng.choice(classes, 2000, p=rng.dirichlet([2] * classes)), {}
    for system, wrong in (("A", 0.1), ("B", 0.4)):
        own[system] = np.where(rng.random(2000) < wrong, rng.integers(0, max(2, classes - 1), 2000), gold)
    score = ALIAS_SCORES.get(alias) or getattr(sklearn, alias)
    if ALIASES[alias] not in PER_CLASS:
        if classes > 2 and ALIASES[alias] in ("auc", "average-precision", "brier", "log-loss", "fscore", "precision"):
            return
        if classes > 2 and ALIASES[alias] == "recall":
            return
        if ALIASES[alias] not in ("fscore", "precision", "recall"):
            own = {name: np.clip(each + rng.normal(0, 0.3, 2000), 0, 1).round(2) for name, each in own.items()}
    made = Evaluation.from_predictions(gold, own, metric=alias)
    assert made.metric.name == ALIASES[alias]
    assert Evaluation.from_predictions(gold, own, metric=alias.upper()).metric.name == ALIASES[alias]
    assert _scores(made) == pytest.approx({name: score(gold, each) for name, each in own.items()}, rel=1e-12)


def test_names_of_other_numbers_are_no_aliases():
    """Of scorers that are negatives, say which metric; of others, none: what weighs otherwise stays unknown."""
    assert not {"precision_weighted", "neg_log_loss", "jaccard", "roc_auc_ovr", "f1_samples"} & {*ALIASES}
    for name, ours in {"neg_log_loss": "log-loss", "neg_mean_absolute_error": "mae"}.items():
        with pytest.raises(InputError, match=f"-1 times '{ours}': give that"):
            Evaluation.from_predictions([0, 1], {"A": [0.2, 0.7]}, metric=name)


@pytest.mark.parametrize("metric", ["f1", "F1", "f1_score", "fscore"])
@pytest.mark.parametrize("words", [(0, 1), ("no", "yes"), ("negative", "positive")])
def test_f1_of_labels_is_no_f1_of_words(metric, words, tmp_path):
    rng = np.random.default_rng(3)
    gold = (rng.random(400) < 0.15).astype(int)
    own = {
        f"pred_{name}": np.where(rng.random(400) < wrong, 1 - gold, gold) for name, wrong in (("A", 0.05), ("B", 0.2))
    }
    frame = pandas.DataFrame({"y_true": gold, **own}).map(lambda code: words[code])
    frame.to_csv(tmp_path / "t.csv", index=False)
    expected = {name: sklearn.f1_score(gold, each) for name, each in own.items()}
    for made in (
        read(frame, metric=metric),
        read(tmp_path / "t.csv", metric=metric),
        Evaluation.from_predictions(frame.y_true, frame.drop(columns="y_true"), metric=metric),
    ):
        assert made.metric.name == "fscore"
        assert _scores(made) == pytest.approx(expected, rel=1e-12)
    (tmp_path / "gold").write_text("\n".join(map(str, frame.y_true)) + "\n")
    for name in own:
        (tmp_path / name).write_text("\n".join(map(str, frame[name])) + "\n")
    made = read(tmp_path / "gold", input=[tmp_path / name for name in own], metric=metric, reader="labels")
    assert _scores(made) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("gold_as", ["{}", "{}.0", "+{}", "mixed"])
@pytest.mark.parametrize("labels_as", ["{}", "{}.0", "mixed"])
def test_whole_numbers_are_the_same_class_however_they_are_spelled(gold_as, labels_as, tmp_path):
    """A column of floats has 1.0 for the class 1, and class 1 is what was named, in whatever spelling."""
    rng = np.random.default_rng(8)
    gold = rng.integers(0, 2, 300)
    own = {
        f"pred_{name}": np.where(rng.random(300) < wrong, 1 - gold, gold) for name, wrong in (("A", 0.1), ("B", 0.3))
    }
    forms = {"mixed": ["{}", "{}.0"]}

    def spelled(codes, form):
        ways = forms.get(form, [form])
        return [ways[row % len(ways)].format(code) for row, code in enumerate(codes)]

    table = {"y_true": spelled(gold, gold_as), **{name: spelled(each, labels_as) for name, each in own.items()}}
    pandas.DataFrame(table).to_csv(tmp_path / "t.csv", index=False)
    for one, asked in ((1, None), (1, 1), (0, 0)):
        named = {} if asked is None else {"gold": "y_true=" + next(x for x in table["y_true"] if float(x) == asked)}
        for metric, score in (("f1", sklearn.f1_score), ("recall", sklearn.recall_score)):
            made = read(tmp_path / "t.csv", metric=metric, **named)
            expected = {name: score(gold, each, pos_label=one) for name, each in own.items()}
            assert _scores(made) == pytest.approx(expected, rel=1e-12), (metric, named)
        made = read(tmp_path / "t.csv", metric="auc", **named)
        for name, numbers in zip(made.systems, made.stats, strict=True):
            assert numbers.tolist() == np.column_stack([own[name], gold == one]).tolist()


def test_saved_statistics_know_aliases(tmp_path):
    """Wherever they stand in the file: f1 of labels is fscore."""
    own = {"A": ["ham", "ham", "spam"], "B": ["ham", "spam", "spam"]}
    names = ["accuracy", "f1_macro", "f1"]
    made = [Evaluation.from_predictions(["ham", "spam", "spam"], own, metric=metric) for metric in names]
    save_evaluations(str(tmp_path / "e.npz"), made)
    for metric, evaluation in zip([*names, "F1_Score"], [*made, made[-1]], strict=True):
        assert read(tmp_path / "e.npz", metric=metric).stats.tolist() == evaluation.stats.tolist()
    assert {one.metric for one in diff(made, made, metric=["f1"]).changes} == {"fscore"}


def test_a_note_shows_options_as_words():
    """Marks of an option in a message belong to refusals alone: a report has no place where they would be spelled."""
    made = Evaluation.from_predictions(["ham", "spam"], {"A": ["ham", "ham"], "B": ["ham", "spam"]}, metric="f1")
    (note,) = made.notes
    assert note.endswith("is the accuracy; say which is class 1 (option gold: COLUMN=LABEL), or take macro-fscore")


def test_f1_of_answers_is_that_of_words():
    answers = {"A": ["the Eiffel tower", "in 1889", "Gustave Eiffel", "iron"], "B": ["tower", "1889", "Eiffel", "wood"]}
    made = Evaluation.from_predictions(["Eiffel Tower", "1889", "Gustave Eiffel", "wrought iron"], answers, metric="f1")
    assert made.metric.name == "f1"
    assert _scores(made) == pytest.approx({"A": (1 + 2 / 3 + 1 + 2 / 3) / 4, "B": (2 / 3 + 1 + 2 / 3) / 4})


def test_labels_of_marks_are_no_answers():
    """SQuAD's script drops punctuation and articles: + and - would both be nothing, and all answers right."""
    with pytest.raises(InputError, match=r"the gold labels '\+', '-' would be the same answer; use accuracy"):
        Evaluation.from_predictions(["+", "-", "+"], {"A": ["-", "+", "+"]}, metric="exact_match")
    found = Evaluation.from_predictions(["+", "-", "+"], {"A": ["-", "+", "+"]}, metric="accuracy")
    assert found.stats[0, :, 0].tolist() == [0, 0, 1]


def test_metrics_without_a_meaning_for_labels_are_refused():
    frame = pandas.DataFrame({"y_true": [0, 1, 2, 1], "pred_A": [0, 1, 1, 1], "pred_B": [0, 2, 2, 1]})
    for metric in ("las", "iqm", "optimality-gap", "variance", "ratio", "fscore(match=partial)"):
        with pytest.raises(InputError, match="does not score predictions|means nothing for classes"):
            read(frame, metric=metric)


@pytest.mark.parametrize("name", ["y", "y_true", "true", "truth", "gold", "gt", "target", "label", "class", "expected"])
def test_the_gold_column_alone_says_that_all_others_with_its_labels_are_predictions(name):
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 10, 90)
    own = {model: np.where(rng.random(90) < 0.2, rng.integers(0, 10, 90), gold) for model in ("SVM", "kNN", "LogReg")}
    frame = pandas.DataFrame({**own, name: gold})
    expected = {model: float(np.mean(each == gold)) for model, each in own.items()}
    more = frame.assign(width=rng.integers(20, 90, 90), share=rng.random(90))
    for data in (frame, more):
        assert _scores(read(data, gold=name)) == pytest.approx(expected)
    with pytest.raises(InputError, match="none of the predictions of 'shifted' .* is a gold label"):
        read(frame.assign(shifted=gold + 10), gold=name)  # a system of other spelling is not left out in silence
    binary = frame % 2
    assert _scores(read(binary, gold=name)) == pytest.approx(
        {model: float(np.mean(binary[model] == binary[name])) for model in own}
    )
    if name == "y_true":  # only gold labels are called so
        assert _scores(compare(frame).evaluations[0]) == pytest.approx(expected)
        frame = binary  # and these may say which predictions are right
    with pytest.raises(InputError, match=f"looks like gold labels, .* give read={{.gold.: '{name}'}}"):
        compare(frame)


def _scores(evaluation):
    return {row.name: row.score for row in compare(evaluation, resamples=99, method="montecarlo").systems}


OF_CLASSES = ("accuracy", "balanced-accuracy", "micro-fscore", "weighted-fscore", "macro-fscore", "macro-precision")
OF_CLASSES += ("macro-recall", "mcc", "kappa")


@pytest.mark.parametrize("metric", OF_CLASSES)
@pytest.mark.parametrize("kind", [str, int, float, bool, np.int64])
def test_class_labels(metric, kind):
    rng = np.random.default_rng(7)
    gold = rng.integers(0, 2 if kind is bool else 4, 1000)
    labels = (lambda codes: [f"class {c}" for c in codes]) if kind is str else (lambda codes: list(map(kind, codes)))
    systems = {f"s{i}": np.where(rng.random(1000) < 0.2 * i, rng.permutation(gold), gold) for i in (1, 2, 3)}
    made = Evaluation.from_predictions(
        labels(gold), {name: labels(own) for name, own in systems.items()}, metric=metric
    )
    expected = {name: SKLEARN[metric](gold, own) for name, own in systems.items()}
    assert _scores(made) == pytest.approx(expected, rel=1e-12)


NUMBERS = ("mae", "mse", "rmse", "r2", "correlation")
SCORES = ("auc", "average-precision", "brier", "log-loss", "precision", "recall", "fscore")


@pytest.mark.parametrize("metric", [*NUMBERS, *SCORES])
def test_scores_of_instances(metric):
    rng = np.random.default_rng(8)
    gold = rng.integers(0, 2, 500) if metric in SCORES else rng.normal(200, 7, 500)
    systems = {f"s{i}": gold + rng.normal(0, i, 500) for i in (1, 2)}
    if metric in SCORES:
        systems = {name: np.clip(own / 3, 0, 1) for name, own in systems.items()}
    if metric in ("precision", "recall", "fscore"):
        systems = {name: (own > 0.3).astype(int) for name, own in systems.items()}
    expected = {name: SKLEARN[metric](gold, own) for name, own in systems.items()}
    assert _scores(Evaluation.from_predictions(gold, systems, metric=metric)) == pytest.approx(expected, rel=1e-12)


def test_same_p_as_of_right_and_wrong():
    rng = np.random.default_rng(9)
    gold = rng.integers(0, 3, 400)
    systems = {
        name: np.where(rng.random(400) < share, (gold + 1) % 3, gold) for name, share in (("a", 0.2), ("b", 0.3))
    }
    options = {"ids": [f"q{i // 2}" for i in range(400)], "runs": [str(i % 2) for i in range(400)]}
    right = Evaluation.from_arrays({name: own == gold for name, own in systems.items()}, metric="accuracy", **options)
    made = Evaluation.from_predictions(gold, systems, **options)
    assert [pair.p_value for pair in compare(made).comparisons] == [pair.p_value for pair in compare(right).comparisons]


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"gold": list("abca"), "A": list("abcb"), "B": list("aaab")}, dtype="category")
    made = Evaluation.from_predictions(frame["gold"], {"A": frame["A"], "B": frame["B"]})
    assert made.stats[:, :, 0].tolist() == [[1, 1, 1, 0], [1, 0, 0, 0]]
    with pytest.raises(InputError, match="have different indexes"):
        Evaluation.from_predictions(frame["gold"], {"A": frame["A"], "B": frame["B"][::-1]})


@pytest.mark.parametrize(
    ("gold", "systems", "options", "message"),
    [
        (["a", "b"], {"A": ["a", "b"], "B": ["a"]}, {}, r"'B': expected one label or number for each .* shape \(1,\)"),
        (["a", "b"], {"A": ["a", "b"], "B": ["a", None]}, {}, "'B': has no label at instance 2"),
        ([1.0, float("nan")], {"A": [1, 0], "B": [1, 1]}, {}, "'gold': has no label at instance 2"),
        (["1", "0"], {"A": ["1", "0"], "B": [2, 3]}, {}, "none of the predictions of 'B' .*'2', '3'.* is a gold label"),
        ([0, 1], {"A": [0, 1], "B": [0.2, 0.7]}, {}, "none of the predictions of 'B' .* is a gold label"),
        (["a", "b"], {}, {}, "there are no predictions"),
        (["a", "b"], {"A": ["a", "b"], "B": ["a", "b"]}, {"metric": "aer"}, "from_predictions takes accuracy, micro"),
        (["a", "b"], {"A": ["a", "b"], "B": ["a", "b"]}, {"metric": "auc"}, "number"),
        ([0, 1], {"A": [0.1, 0.2], "B": [0.1, float("nan")]}, {"metric": "auc"}, "nan|NaN"),
        (["a", "b"], ["a", "b"], {}, "expected predictions by system"),
    ],
)
def test_refused(gold, systems, options, message):
    with pytest.raises(InputError, match=message):
        Evaluation.from_predictions(gold, systems, **options)


# Tables: the same data in every shape give the scores of scikit-learn, in the CLI and in Python.

ROWS = 240
RNG = np.random.default_rng(30)
CLASSES = RNG.choice(["owl", "cat", "eel"], ROWS)
MODELS = {
    name: np.where(RNG.random(ROWS) < share, RNG.choice(["owl", "cat", "eel"], ROWS), CLASSES)
    for name, share in (("svm", 0.1), ("forest", 0.3), ("mlp", 0.5))
}
IDS = [f"q{i}" for i in range(ROWS)]


def csv(columns):
    return "\n".join(",".join(map(str, row)) for row in [list(columns), *zip(*columns.values(), strict=True)]) + "\n"


def long(names, order):
    rows = [(name, i) for name in names for i in order]
    columns = {"classifier": [name for name, _ in rows], "id": [IDS[i] for _, i in rows]}
    columns |= {"y_true": [CLASSES[i] for _, i in rows], "y_pred": [MODELS[name][i] for name, i in rows]}
    return columns | {"topic": [i // 8 for _, i in rows]}


SHUFFLED = np.random.default_rng(1).permutation(ROWS)
GOLD = {"id": IDS, "species": CLASSES}
OF_ONE = {name: {"id": np.array(IDS)[SHUFFLED], "species": own[SHUFFLED]} for name, own in MODELS.items()}
SHAPES = {
    "wide": ({"t.csv": {"id": IDS, "y_true": CLASSES, **MODELS}}, [], {}),
    "named": ({"t.csv": {"gold_label": CLASSES, **{f"pred_{n}": own for n, own in MODELS.items()}}}, [], {}),
    "asked": ({"t.csv": {"id": IDS, **MODELS, "what": CLASSES}}, [], {"gold": "what"}),
    "of some": (
        {"t.csv": {"id": IDS, "noise": CLASSES[::-1], **MODELS, "label": CLASSES}},
        [],
        {"gold": "label", "prediction": [*MODELS]},
    ),
    "long": ({"t.csv": long([*MODELS], range(ROWS))}, [], {}),
    "files": (
        {
            f"{n}.csv": {"id": own["id"], "gold_label": CLASSES[SHUFFLED], "prediction": own["species"]}
            for n, own in OF_ONE.items()
        },
        [],
        {},
    ),
    "submissions": ({f"{n}.csv": own for n, own in OF_ONE.items()}, {"gold.csv": GOLD}, {"gold": "gold.csv"}),
}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("metric", ["accuracy", "macro-fscore", "balanced-accuracy"])
@pytest.mark.parametrize("shape", SHAPES)
def test_tables_of_predictions(write, compared, shape, metric):
    files, others, options = SHAPES[shape]
    for name, columns in [*files.items(), *dict(others).items()]:
        write(name, csv(columns))
    flags = [
        word
        for name, value in options.items()
        for word in (f"--{name}", *([value] if isinstance(value, str) else value))
    ]
    expected = {name: SKLEARN[metric](CLASSES, own) for name, own in MODELS.items()}
    report = compared(*files, *flags, "-m", metric)
    scores = {each["name"].removeprefix("pred_"): each["score"] for each in report["systems"]}
    assert scores == pytest.approx(expected, rel=1e-12)
    made = read(*files, metric=metric, **options)
    assert {n.removeprefix("pred_"): s for n, s in _scores(made).items()} == pytest.approx(expected, rel=1e-12)
    assert any("gold labels from" in note and "predictions from" in note for note in made.notes)
    diagnosis = doctor(*files, **options)
    assert (diagnosis.refusal, len(diagnosis.systems), diagnosis.metrics[0]) == (None, 3, "accuracy")
    if shape in ("wide", "long"):  # a data frame, too
        frame = pytest.importorskip("pandas").DataFrame(next(iter(files.values())))
        assert _scores(Evaluation.from_dataframe(frame, metric=metric)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.usefixtures("here")
def test_clusters_and_what_is_missing(write):
    """Labels of other columns are clusters; an empty prediction is a missing result, and `none` may be a class."""
    write("t.csv", csv(long([*MODELS], range(ROWS))))
    assert len(set(read("t.csv", cluster="topic").clusters or ())) == ROWS // 8
    write("gap.csv", "id,y_true,pred_a,pred_b\nx,none,none,yes\ny,yes,,yes\nz,yes,yes,none\n")
    with pytest.raises(InputError, match="pred_a.*lacks|lacks.*pred_a|has no"):
        read("gap.csv")
    assert read("gap.csv", missing="drop").stats[:, :, 0].tolist() == [[1, 1], [0, 0]]
    assert read("gap.csv", missing="zero").stats[:, :, 0].tolist() == [[1, 0, 1], [0, 1, 0]]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("metric", [*NUMBERS, *SCORES])
def test_tables_of_numbers(write, metric):
    """Written with as many digits as people write."""
    rng = np.random.default_rng(31)
    gold = rng.integers(0, 2, 300) if metric in SCORES else rng.normal(20, 7, 300).round(2)
    systems = {f"pred_{i}": np.clip(gold / 2 + rng.random(300) / i, 0, 1 if metric in SCORES else 99) for i in (1, 2)}
    systems = {name: own.round(3) for name, own in systems.items()}
    if metric in ("precision", "recall", "fscore"):
        systems = {name: (own > 0.6).astype(int) for name, own in systems.items()}
    write("t.csv", csv({"y_true": gold, **systems}))
    expected = {name: SKLEARN[metric](gold, own) for name, own in systems.items()}
    made = read("t.csv", metric=metric)
    assert _scores(made) == pytest.approx(expected, rel=1e-10)
    lower = metric in ("mae", "mse", "rmse", "brier", "log-loss")
    assert made.metric.higher_is_better is not lower


@pytest.mark.usefixtures("here")
def test_texts(write, compared):
    pytest.importorskip("sacrebleu")
    gold = [f"the cat number {i} sat on a mat" for i in range(30)]
    systems = {"gpt": [f"the cat number {i} sits on a mat" for i in range(30)], "t5": ["a mat"] * 30}
    write("t.csv", csv({"id": IDS[:30], "reference": gold, **systems}))
    for metric in ("bleu", "chrf", "wer"):
        expected = _scores(Evaluation.from_texts(systems, gold, metric=metric))
        assert _scores(read("t.csv", gold="reference", metric=metric)) == pytest.approx(expected)
        assert _scores(Evaluation.from_predictions(gold, systems, metric=metric)) == pytest.approx(expected)
    # Without articles, of seven words six are right; of SQuAD's script.
    assert _scores(read("t.csv", gold="reference", metric="f1"))["gpt"] == pytest.approx(5 / 6)
    assert _scores(Evaluation.from_predictions(gold, systems, metric="f1"))["gpt"] == pytest.approx(5 / 6)


@pytest.mark.usefixtures("here")
def test_blanks_around_labels_and_strange_labels(write):
    write("t.csv", "y_true,pred_a,pred_b\ncat, cat,Cat\ndog,dog ,dog\n cat,cat,cat\n")
    made = read("t.csv")
    assert made.stats[:, :, 0].tolist() == [[1, 1, 1], [0, 1, 1]]
    assert "pred_b: 1 of 3 predictions are no gold label: 'Cat'" in made.notes


def test_labels_that_are_the_same_whole_number_are_no_strays(write):
    """Of 1, 1.0 and 2 beside the gold labels 0 and 1, one is no gold label."""
    rows = ["id,gold,pred_a,pred_b", "x,1,1.0,1", "y,0,0.0,0", "z,1,2,0"]
    made = read(write("t.csv", "\n".join(rows)), gold="gold", prediction=["pred_a", "pred_b"], metric="accuracy")
    assert made.stats[..., 0].tolist() == [[1, 1, 0], [1, 1, 0]]
    assert [note for note in made.notes if "no gold label" in note] == [
        "pred_a: 1 of 3 predictions are no gold label: '2'"
    ]


@pytest.mark.parametrize("predictions", [[2.0, 2.0, 2.0], [2.0, 2.0, 2.5], [7.0, 7.0, 7.0]])
def test_r2_of_equal_gold_numbers_is_that_of_scikit_learn(predictions):
    gold = [2.0, 2.0, 2.0]
    evaluation = Evaluation.from_predictions(gold, {"A": predictions, "B": gold}, metric="r2")
    found = evaluation.metric.score(evaluation.stats.sum(axis=1))
    assert found.tolist() == [sklearn.r2_score(gold, each) for each in (predictions, gold)]


def test_errors_are_those_of_decimals():
    """0.3 - 0.1 and 0.5 - 0.3 are 0.2 both: systems with these errors are identical."""
    arrays = {"A": [0.1, 0.5, 0.1], "B": [0.5, 0.1, 0.5]}
    made = Evaluation.from_predictions([0.3, 0.3, 0.3], arrays, metric="mae")
    assert compare(made).comparisons[0].p_value == 1.0
    assert Evaluation.from_predictions([3.0, 1.0], {"A": [1e-9, 2.5], "B": [3.0, 1.0]}, metric="mse").stats[
        1, :, 0
    ].tolist() == [0, 0]


THREE = {"y_true": list("aab"), "pred_a": list("aab"), "pred_b": list("aab")}
SCORED = {"y_true": [0, 1, 1], "pred_a": [0.5, 0.2, 0.1], "pred_b": [1, 0, 1]}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ({"y_true": [0.5, 1.5, 2.0], "pred_a": [1, 2, 3], "pred_b": [1, 2, 3]}, {}, "gold labels are numbers.*; .*mae"),
        (SCORED, {}, "none of the predictions of 'pred_a' .* is a gold label .*auc"),
        (SCORED, {"metric": "accuracy"}, "none of the predictions of 'pred_a'"),
        (THREE | {"pred_a": list("AAB")}, {}, "none of the predictions of 'pred_a' .'A', 'B'. is a gold label"),
        ({"y_true": list("aab"), "pred_a": list("aab")}, {}, "gold labels and predictions.*sigjax one-sample"),
        (THREE | {"y_true": ["a", "", "b"]}, {}, "t.csv, line 3: has no gold label"),
        (THREE, {"gold": "nope"}, "gold: no column and no file 'nope'"),
        (THREE, {"prediction": ["C"]}, "prediction: no column 'C'"),
        ({"x": list("aab"), "pred_a": list("aab")}, {"prediction": ["pred_a"]}, "which column holds the gold labels"),
        (
            {"y_true": list("aab"), "y_pred": list("aab"), "y_prob": [1, 0, 1]},
            {},
            "which column holds the predictions, 'y_pred', 'y_prob'",
        ),
        (THREE, {"metric": "bleu"}, "of texts, and gold labels are 2 classes"),
        (THREE, {"metric": "mae"}, "expected a number, got 'a'"),
        ({"y_true": [5, 1, 2], "pred_a": [5, 1, 2], "pred_b": [2, 1, 5]}, {"metric": "brier"}, "must be 0 or 1, got 5"),
    ],
)
def test_tables_that_are_refused(write, content, options, message):
    write("t.csv", csv(content))
    with pytest.raises(InputError, match=message):
        read("t.csv", **options)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ({"id": [1, 2], "y": [0, 1]}, "a.csv, line 4: '3' is no id of gold.csv, such as '1'"),
        ({"id": [1, 2, 3, 4], "y": [0, 1, 1, 0]}, "gold.csv: has 1 of 4 instances that no system has, such as '4'"),
        ({"id": [1, 2, 2], "y": [0, 1, 1]}, "gold.csv: column 'id' has an id twice"),
        ({"id": [1, 2, 3], "u": [0, 1, 1], "v": [1, 1, 1]}, "gold.csv: which column holds the gold labels, 'u', 'v'"),
        ({"y": [0, 1, 1]}, "gold.csv, line 1: found one column"),
        ({"y": ["a", "b", "b"], "z": ["a", "b", "b"]}, "gold.csv: which column holds the instance ids"),
    ],
)
def test_gold_files_that_are_refused(write, gold, message):
    for name in "ab":
        write(f"{name}.csv", csv({"id": [1, 2, 3], "guess": [0, 1, 1]}))
    write("gold.csv", csv(gold))
    with pytest.raises(InputError, match=message):
        read("a.csv", "b.csv", gold="gold.csv")


@pytest.mark.usefixtures("here")
def test_other_gold_labels_of_an_instance(write):
    for name, label in (("a", "x"), ("b", "y")):
        write(f"{name}.csv", csv({"id": [1, 2], "gold_label": ["x", label], "prediction": ["x", "x"]}))
    with pytest.raises(InputError, match="b.csv, line 3: the gold label of 'b' is 'y', but elsewhere 'x'"):
        read("a.csv", "b.csv")


@pytest.mark.usefixtures("here")
def test_one_model_is_a_score_with_its_interval(write):
    """Wilson's, as in R: binom::binom.confint(190, 200, methods = "wilson")."""
    write("t.csv", csv({"y_true": [1] * 200, "y_pred": [1] * 190 + [0] * 10}))
    (one,) = one_sample("t.csv", read={"metric": "accuracy"})
    assert (one.score, one.p_value, one.test) == (0.95, None, "none")
    z, p, n = 1.959963984540054, 0.95, 200
    half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    assert list(one.interval) == pytest.approx([middle - half, middle + half])


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("change", ["empty", "fish", "upper", "all upper"])
def test_a_model_with_other_labels_does_not_disappear(write, change):
    """Columns without a name of predictions are taken where most of their words are gold labels."""
    models = {name: own.astype(object).copy() for name, own in MODELS.items()}
    if change in ("empty", "fish"):
        models["svm"][3] = "" if change == "empty" else "fish"
    else:
        rows = slice(None) if change == "all upper" else slice(0, ROWS // 3)
        models["svm"][rows] = [label.upper() for label in models["svm"][rows]]
    write("t.csv", csv({"y_true": CLASSES, **models}))
    if change == "empty":
        with pytest.raises(InputError, match="'svm'"):
            read("t.csv")
        assert read("t.csv", missing="drop").systems == tuple(MODELS)
    elif change == "all upper":
        with pytest.raises(InputError, match="none of the predictions of 'svm'"):
            read("t.csv")
    else:
        made = read("t.csv")
        assert made.systems == tuple(MODELS)
        assert any(note.startswith("svm: ") and "are no gold label" in note for note in made.notes)


@pytest.mark.usefixtures("here")
def test_f1_of_two_words_says_what_it_is(write):
    gold, own = ["Y", "N", "Y", "Y", "N", "N"], ["Y", "Y", "N", "Y", "N", "N"]
    write("t.csv", csv({"y_true": gold, "pred_a": own, "pred_b": gold}))
    made = read("t.csv", metric="fscore")
    assert any(note.startswith("warning: F1 of classes such as 'N', 'Y' is the accuracy") for note in made.notes)
    named = _scores(read("t.csv", gold="y_true=Y", metric="fscore"))["pred_a"]
    assert named == pytest.approx(sklearn.f1_score(gold, own, pos_label="Y"))


@pytest.mark.usefixtures("here")
def test_true_and_false_are_classes(write):
    gold, own = [True, False, True, True, False], [True, True, True, False, False]
    write("t.csv", csv({"y_true": gold, "pred_a": own, "pred_b": gold}))
    assert _scores(read("t.csv"))["pred_a"] == pytest.approx(0.6)
    assert _scores(read("t.csv", metric="fscore"))["pred_a"] == pytest.approx(sklearn.f1_score(gold, own))
    assert _scores(read("t.csv", metric="mcc"))["pred_a"] == pytest.approx(sklearn.matthews_corrcoef(gold, own))


@pytest.mark.usefixtures("here")
def test_a_third_outcome_is_refused(write):
    columns = {"outcome": ["Poor", "Good", "Lost", "Good"], "a": [0.9, 0.2, 0.4, 0.1], "b": [0.7, 0.6, 0.1, 0.2]}
    write("t.csv", csv(columns))
    options = {"gold": "outcome=Poor", "prediction": ["a", "b"], "metric": "auc"}
    with pytest.raises(InputError, match="gold labels beside 'Poor' are 'Good', 'Lost'; expected two classes"):
        read("t.csv", **options)
    assert read("t.csv", where="outcome != 'Lost'", **options).num_instances == 3


def test_metrics_of_classes_need_gold_labels(write):
    table = write("t.csv", "id,A,B\n" + "".join(f"{i},{i % 2},1\n" for i in range(9)))
    for metric in ("mcc", "kappa", "rmse", "log-loss"):
        with pytest.raises(InputError, match=f"metric '{metric}' takes predictions and gold labels"):
            read(table, metric=metric)


def test_a_column_named_gold_is_the_gold_labels_where_others_hold_its_words(write):
    """Of numbers nothing is guessed; and the ids are said to be those of their column, also where they are numbers."""
    rows = [(1, "cat", "cat", "dog"), (2, "dog", "dog", "dog"), (3, "cat", "cat", "cat"), (4, "dog", "cat", "dog")]
    lines = "".join(f"{id},{gold},{a},{b}\n" for id, gold, a, b in rows)
    path = write("words.csv", f"id,gold,m1,m2\n{lines}")
    evaluation = read(path, metric="accuracy")
    assert evaluation.systems == ("m1", "m2")
    assert evaluation.stats[..., 0].tolist() == [[1, 1, 1, 0], [0, 1, 1, 1]]
    assert doctor(path).ids == "the column 'id'"
    with pytest.raises(InputError, match="column 'gold' is the gold labels; leave it out of prediction"):
        read(path, metric="accuracy", gold="gold", prediction=["m1", "gold"])
    numbers = write("numbers.csv", "id,gold,m1\nx1,1,0\nx2,0,1\n")
    with pytest.raises(InputError, match="column 'gold' looks like gold labels, not like a system"):
        read(numbers, metric="mean")


def test_ids_may_have_another_name_in_each_file(write):
    gold = write("gold.csv", "id,label\nx1,Y\nx2,N\nx3,Y\n")
    a = write("a.csv", "example_id,prediction\nx1,Y\nx2,Y\nx3,Y\n")
    b = write("b.csv", "key,prediction\nx3,Y\nx1,N\nx2,N\n")
    evaluation = read(gold, input=[a, b])
    by_id = dict(zip(evaluation.ids, evaluation.stats[:, :, 0].T.tolist(), strict=True))
    assert by_id == {"x1": [1, 0], "x2": [0, 1], "x3": [1, 1]}
