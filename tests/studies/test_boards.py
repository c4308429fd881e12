"""Boards of record: against compare, items and SciPy; the file, its refusals, all outputs, and boards without pairs."""

import json
import shlex
from importlib import import_module
from importlib.resources import files

import numpy as np
import pytest
from scipy import optimize
from scipy.stats import norm

import sigjax
from sigjax import InputError, Report, studies
from sigjax.cli import _run
from sigjax.readers.options import ReadOptions

MODULE = import_module("sigjax.studies.boards")
ABOUT = {"title": "Quiz", "source": "https://example.org, version 1", "licence": "CC0-1.0"}
NAMES = ("amber", "birch", "cedar", "dune")


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(5)
    answers = rng.random((4, 120)) < np.array([0.9, 0.8, 0.6, 0.3])[:, None]
    lines = ["question,topic," + ",".join(NAMES)]
    lines += [f"q{i},t{i // 4}," + ",".join(str(int(each)) for each in answers[:, i]) for i in range(120)]
    (tmp_path / "quiz.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def written(folder, text="", name="board.toml", **keys):
    keys = {**ABOUT, "files": ["quiz.csv"], "metric": "accuracy", **keys}
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items() if value is not None]
    (folder / name).write_text("\n".join([*lines, text]) + "\n")
    return folder / name


def made(folder, *args, **keys):
    return studies.board(written(folder, *args, **keys), progress=False)


def test_the_numbers_are_those_of_compare_and_items(folder):
    board = made(folder, cluster="topic", correction="hochberg", confidence_level=0.9)
    read = {"metric": "accuracy", "cluster": "topic"}
    report = sigjax.compare(folder / "quiz.csv", read=read, correction="hochberg", confidence_level=0.9)
    assert board.report == report
    assert board.signature == report.signature
    assert board.systems == report.systems
    (real,) = board.real
    significant = sum(pair.p_adjusted < 0.1 for pair in report)
    assert (real.significant, real.real, real.pairs) == (significant, report.true_discoveries(), 6)
    (audit,) = board.items
    alone = studies.items(folder / "quiz.csv", read=read, confidence_level=0.9, progress=False)
    assert (audit.items, audit.neighbours, audit.detectable) == (alone.items, alone.neighbours, alone.detectable)


def test_what_the_test_set_resolves_is_the_difference_of_this_power(folder):
    """A metric without an audit: against the power of the two-sided normal test, solved by SciPy."""
    board = made(folder)
    assert board.report is not None
    found = MODULE.detectable(board.report, "accuracy")
    order = [each.name for each in board.report.systems]
    errors = [board.report[a, b].standard_error for a, b in zip(order, order[1:], strict=False)]
    z = norm.isf(0.025)

    def lacking(delta):
        return norm.sf(z - delta / np.median(errors)) + norm.cdf(-z - delta / np.median(errors)) - 0.8

    assert found == pytest.approx(optimize.brentq(lacking, 0.0, 1.0), rel=1e-5)  # we leave out the far tail
    assert found == pytest.approx(board.items[0].detectable, rel=1e-9)


def test_every_output_has_source_licence_differences_and_the_audit(folder):
    board = made(folder, title="Quiz <b>& more</b>", licence="CC-BY-4.0 <i>")
    assert str(board).startswith("Best: ")
    for text in (str(board), board.to_markdown(), board.to_rst(), board.to_latex(), board.to_github()):
        plain = text.replace("\\", "").replace("\n", " ").replace("% ", "")
        assert "https://example.org, version 1" in plain.replace("{", "").replace("}", "")
        assert "CC-BY-4.0" in plain
        assert "Real differences: all" in plain
        assert "The test set: " in plain
    page = board.to_html()
    assert "<h1>Quiz &lt;b&gt;&amp; more&lt;/b&gt;" in page
    assert "Licence of the results: CC-BY-4.0 &lt;i&gt;" in page
    assert "<i>" not in page
    assert max(len(line) for line in board.to_text(width=80).splitlines() if "|sigjax:" not in line) <= 80
    rows = board.to_csv().splitlines()
    assert len(rows) == 5
    assert rows[1].startswith("amber,")


def test_its_json_holds_a_report_that_show_diff_and_verify_read(folder, monkeypatch, capsys):
    path, out = written(folder, cluster="topic", id_column="question"), folder / "board.json"
    assert not _run(["research", "board", str(path), "-o", str(out), "-q"], debug=True)
    held = json.loads(out.read_text())
    assert held["schema"] == "sigjax-board/1"
    assert {name: held[name] for name in ABOUT} == ABOUT
    assert held["keys"]["cluster"] == "topic"
    board = studies.board(path, progress=False)
    assert Report.from_json(out) == board.report
    monkeypatch.chdir(folder)  # the command names files as the board does
    command = shlex.split(board.verifying())
    assert command[:3] == ["sigjax", "verify", "board.json"]
    assert _run(command[1:], debug=True) == 0
    assert "the same data, and the same numbers to the last bit" in capsys.readouterr().out
    (folder / "quiz.csv").write_text((folder / "quiz.csv").read_text().replace("q7,t1,1", "q7,t1,0"))
    assert _run(command[1:], debug=True) == 3
    assert not _run(["show", "board.json", "--format", "markdown"], debug=True)
    assert not _run(["diff", "board.json", "board.json"], debug=True)


def test_files_are_relative_to_the_folder_of_the_board(folder, monkeypatch, tmp_path_factory):
    (folder / "labels.txt").write_text("".join(f"d{i // 6}\n" for i in range(120)))
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    board = made(folder, cluster="labels.txt")
    assert board.report is not None
    assert board.report.num_units == 20
    for name in NAMES:
        column = [line.split(",")[2 + NAMES.index(name)] for line in (folder / "quiz.csv").read_text().splitlines()]
        (folder / f"{name}.csv").write_text(
            "\n".join(f"q{i},{value}" for i, value in enumerate(column)).replace("q0," + name, "id,score")
        )
    by_name = made(folder, "[input]\n" + "".join(f'"{name}" = "{name}.csv"\n' for name in NAMES), files=None)
    assert by_name.report is not None
    assert {each.name: each.score for each in by_name.systems} == {each.name: each.score for each in board.systems}
    named = made(folder, files=[f"The {name}={name}.csv" for name in NAMES])
    assert [each.name for each in named.systems] == [f"The {each.name}" for each in board.systems]


REFUSED = {
    "no title": ({"title": None}, "", 'title is missing; write title = "My board"'),
    "no licence": ({"licence": None}, "", 'licence is missing; write licence = "CC0-1.0"'),
    "empty source": ({"source": " "}, "", "source must be a text, got ' '"),
    "title is a number": ({"title": 3}, "", "title must be a text, got 3"),
    "no files": ({"files": None}, "", 'files is missing; write files = ["results.csv"]'),
    "one file": ({"files": "quiz.csv"}, "", "files must be a list of names, got 'quiz.csv'; write ['quiz.csv']"),
    "numbers as files": ({"files": [1]}, "", "files must hold texts, got 1"),
    "misspelt": ({"metrc": "accuracy"}, "", "unknown key 'metrc'; did you mean 'metric'?"),
    "as a flag": ({"id-column": "question"}, "", "unknown key 'id-column'; did you mean 'id_column'?"),
    "other programs": ({"alpha": 0.05}, "", "unknown key 'alpha'; did you mean 'confidence_level'?"),
    "a section": ({}, "[board]\nx = 1", "unknown key 'board'"),
    "progress": ({"progress": True}, "", "unknown key 'progress'"),
    "a wrong value": ({"correction": "holms"}, "", "correction must be one of holm,"),
    "a wrong type": ({"seed": "one"}, "", "seed must be a whole number"),
    "a metric that is a table": ({}, "[metric]\nx = 1", "metric must be a name"),
    "an unknown metric": ({"metric": "accurcy"}, "", "'accurcy'"),
    "a missing file": ({"files": ["none.csv"]}, "", "none.csv: no such file"),
    "no such column": ({"cluster": "topics"}, "", "cluster: no column and no file 'topics'"),
    "a number as input": ({"input": 3}, "", "input must be a list of files"),
    "both directions": ({"lower_is_better": True, "higher_is_better": True}, "", "give one of them"),
    "settings that contradict": ({"design": "models"}, "", "design"),
    "no TOML": ({}, "title", "is no TOML: "),
    "twice": ({}, 'title = "again"', "is no TOML: "),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_file_holds_wrong_is_one_line_that_names_file_and_key(folder, case, capsys):
    keys, text, said = REFUSED[case]
    path = written(folder, text, **({} if "[metric]" not in text else {"metric": None}), **keys)
    with pytest.raises(InputError) as refused:
        studies.board(path, progress=False)
    message = str(refused.value)
    assert message.startswith(f"{path}: ")
    assert said in message
    assert "\n" not in message
    assert _run(["research", "board", str(path), "-q"], debug=False) == 2
    shown = capsys.readouterr().err
    assert said in " ".join(shown.split())
    assert " --" not in shown.replace(str(path), "")


def test_what_is_no_file_of_a_board_is_refused(folder):
    for given, said in ((folder, "is a folder; expected the TOML file"), (folder / "no.toml", "no such file")):
        with pytest.raises(InputError, match=said):
            studies.board(given)
    (folder / "latin.toml").write_bytes('title = "Prüfung"'.encode("latin-1"))
    with pytest.raises(InputError, match="is not UTF-8 text"):
        studies.board(folder / "latin.toml")
    with pytest.raises(InputError, match="config must be the path of a TOML file"):
        studies.board(3)


def test_a_board_writes_over_none_of_its_files(folder, capsys):
    path = written(folder)
    for taken in ("quiz.csv", "board.toml"):
        out = folder / taken
        before = out.read_bytes()
        assert _run(["research", "board", str(path), "-o", str(out), "--format", "csv"], debug=False) == 2
        assert "is read and would be written over" in capsys.readouterr().err
        assert out.read_bytes() == before


def test_a_metric_without_audit_says_so_and_what_the_test_set_resolves(folder):
    (folder / "gold.txt").write_text("".join(f"{i % 3}\n" for i in range(60)))
    rng = np.random.default_rng(2)
    for name, share in (("A", 0.9), ("B", 0.6), ("C", 0.3)):
        labels = [i % 3 if rng.random() < share else int(rng.integers(3)) for i in range(60)]
        (folder / f"{name}.txt").write_text("".join(f"{each}\n" for each in labels))
    board = made(folder, files=["gold.txt"], input=["A.txt", "B.txt", "C.txt"], metric=["mcc", "accuracy"])
    assert [each.metric for each in board.items] == ["accuracy"]
    assert "no audit of the test set by mcc: items takes a mean over instances" in board.notes[0]
    assert "What this test set resolves (MCC)" in str(board)
    text = str(board)
    assert text.startswith("Best by MCC: A")
    assert 0 < text.index("Best by accuracy: A") < text.index("Source: ")
    assert len(board.real) == 2
    scores, *_ = [line for line in board.to_text().splitlines() if line.startswith("A  ")]
    assert scores.split()[1].endswith("a")  # the mark of the group


@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_a_large_board_keeps_no_pairs_and_decides_in_the_same_way(folder, correction, monkeypatch):
    kept = made(folder, correction=correction)
    monkeypatch.setattr(MODULE, "_MOST_PAIRS", 5)
    board = made(folder, correction=correction)
    assert board.report is None
    assert board.ranking is not None
    assert board.real == kept.real
    assert kept.report is not None
    assert [each.system for each in board.ranking.systems] == [each.name for each in kept.report.systems]
    assert [each.rank_interval for each in board.ranking.systems] == [
        each.rank_interval for each in kept.report.systems
    ]
    assert [each.detectable for each in board.items] == [each.detectable for each in kept.items]
    assert "CC0-1.0" in str(board)
    assert json.loads(board.to_json())["report"] is None
    with pytest.raises(InputError, match="keeps no pairs"):
        board.plot("heatmap")
    for keys in ({"cluster": "topic"}, {"baseline": "amber"}, {"alternative": "greater"}, {"test": "bootstrap"}):
        assert made(folder, resamples=200, **keys).report is not None


def test_figures_are_named_by_their_files(folder, monkeypatch):
    path = written(folder)
    drawn = [folder / name for name in ("board.png", "board.heatmap.png", "board.items.png")]
    assert not _run(["research", "board", str(path), "-q", *(f"--figure={file}" for file in drawn)], debug=True)
    assert all(file.stat().st_size > 5_000 for file in drawn)
    with pytest.raises(InputError, match="kind must be one of"):
        studies.board(path, progress=False).plot("pie")


def test_the_page_shows_the_example():
    """The page's first file is the one among the examples, which its commands run on."""
    package = files("sigjax")
    example = (package / "data" / "examples" / "board.toml").read_text("utf-8")
    assert f"```toml\n{example}```" in (package / "guide" / "boards.md").read_text("utf-8")


def test_real_differences_are_one_sentence_on_the_board_and_in_the_comparison(folder):
    """The board counted significant pairs, and the note in its details counted all pairs."""
    for keys in ({}, {"correction": "bh"}, {"metric": ["accuracy", "mean"], "family": "report"}):
        board = made(folder, **keys)
        (one,) = board.real
        assert board.report is not None
        notes = [note for note in board.report.notes if getattr(note, "code", "") == "discoveries"]
        counts = {name: value for name, value in vars(one).items() if name != "metric"}
        assert all(note.values == counts for note in notes)
        assert one.metric == (None if "family" in keys else "accuracy")
        for text in (board.to_text(), board.to_markdown(), board.to_html(), board.to_github()):
            assert " ".join(text.split()).count("closed testing") == 1
            assert all(note.text.split(",")[0] in " ".join(text.split()) for note in notes)
    every = [pair.p_value for pair in board.report]
    assert one.real_of_all == sigjax.true_discoveries(every)
    chosen = [pair.p_adjusted < 0.05 for pair in board.report]
    assert (one.significant, one.real) == (sum(chosen), sigjax.true_discoveries(every, chosen=chosen))


def test_a_significant_difference_that_may_be_chance_is_not_called_real(tmp_path):
    """Without a correction, one of three p-values below 0.05 proves nothing; the board said that it was real."""
    rows = [(1, 0, 1)] * 7 + [(0, 1, 1)] + [(1, 1, 1)] * 6 + [(1, 1, 0)] * 3
    lines = ["id,A,B,C", *(f"q{i},{a},{b},{c}" for i, (a, b, c) in enumerate(rows))]
    (tmp_path / "quiz.csv").write_text("\n".join(lines) + "\n")
    board = made(tmp_path, correction="none", confidence_level=0.92)
    p_values = [pair.p_value for pair in board.report]
    chosen = [p < 0.08 for p in p_values]
    assert (sum(chosen), sigjax.true_discoveries(p_values, chosen=chosen, confidence_level=0.92)) == (1, 0)
    assert "Real differences: the significant difference may be chance." in board.to_text()


def test_the_json_of_a_board_has_the_record_of_its_report(folder):
    table = (folder / "quiz.csv").read_text().replace("q7,t1,1", "q7,t1,")
    (folder / "lacking.csv").write_text(table)
    for keys in (
        {"baseline": "cedar"},
        {"files": ["lacking.csv"], "missing": "pairwise"},
        {"metric": ["mean", "accuracy"]},
    ):
        board = made(folder, **keys)
        held = json.loads(board.to_json())
        assert held["report"] == json.loads(board.report.to_json())
        assert held["items"] == [json.loads(one.to_json()) for one in board.items]


KEYS = {
    **{"test": ["permutation", "bootstrap"], "resamples": 500, "seed": 3, "baseline": "amber", "correction": "by"},
    **{"interval": "percentile", "only": ["amber", "cedar", "dune"], "ignore": ["birch"], "cluster": "topic"},
    **{"systems": ["amber", "birch", "cedar"], "strata": "topic", "runs": "topic", "where": "amber == 1"},
    **{"lower_is_better": True, "higher_is_better": True, "id_column": "question", "decimal": ".", "thousands": ","},
    **{"missing": "pairwise", "method": "montecarlo", "alternative": "greater", "statistic": "studentized"},
    **{"variant": "flip", "mid_p": True, "budget": 1.0, "memory": 0.5, "design": "models", "family": "report"},
    **{"leaderboard": True, "confidence_level": 0.9, "metric": ["accuracy", "mean"]},
}
"""Keys of a board's file, each with a value that its comparison must use."""
OTHER_KEYS = {
    **dict.fromkeys(("title", "source", "licence", "files", "input"), "tested above"),
    **dict.fromkeys(("counts", "system_column", "score_column", "gold", "prediction", "transpose", "melt"), "files"),
    **dict.fromkeys(("lexicon", "unit", "filter", "records", "reader"), "files"),
}
"""Keys that other tests have, and keys for other kinds of files, which `read` uses or refuses."""


def test_every_key_is_used_or_refused():
    assert {*KEYS, *OTHER_KEYS} == {*MODULE._known()}


@pytest.mark.parametrize("key", sorted(KEYS))
def test_no_part_of_a_board_ignores_a_key_in_silence(folder, key):
    """The comparison is the one of `compare`; the audit is the one of `items`, or a note says why there is none."""
    if key == "missing":
        (folder / "quiz.csv").write_text((folder / "quiz.csv").read_text().replace("q7,t1,1", "q7,t1,"))
    if key == "runs":
        lines = (folder / "quiz.csv").read_text().splitlines()
        renamed = [
            f"q{(i - 1) // 4},run{(i - 1) % 4}" + line[line.index(",", line.index(",") + 1) :]
            for i, line in enumerate(lines)
            if i
        ]
        (folder / "quiz.csv").write_text("\n".join([lines[0], *renamed]) + "\n")
    given = {"metric": "accuracy", "resamples": 500, key: KEYS[key]}
    given |= {"runs": "topic", "cluster": None} if key == "design" else {}
    given |= {"test": "bootstrap"} if key == "variant" else {}
    of_read = {name: value for name, value in given.items() if name in ReadOptions.__dataclass_fields__ and value}
    of_compare = {name: value for name, value in given.items() if name not in ReadOptions.__dataclass_fields__}
    report = result_or_refusal(sigjax.compare, folder / "quiz.csv", read=of_read, **of_compare)
    if isinstance(report, str):
        assert str(report).split(" ")[0] in result_or_refusal(made, folder, **given)
        return
    board = made(folder, **given)
    assert board.report == report
    shared = {name: value for name, value in of_compare.items() if name in ("seed", "confidence_level")}
    read = {**of_read, "metric": "accuracy"}
    alone = result_or_refusal(studies.items, folder / "quiz.csv", read=read, progress=False, **shared)
    if isinstance(alone, str):
        assert not board.items
        assert any(note.startswith("no audit of the test set by accuracy: ") for note in board.notes)
        return
    assert json.loads(board.items[0].to_json()) == json.loads(alone.to_json())
    apart = [note for note in board.notes if note.startswith("the audit of the test set is for two-sided tests")]
    assert bool(apart) == (key in ("alternative", "design"))
    assert all(note in " ".join(board.to_text().split()) for note in board.notes)


def result_or_refusal(function, *args, **options):
    """The result, or the message of the refusal."""
    try:
        return function(*args, **options)
    except InputError as refused:
        return str(refused)
