"""What `sigjax help development` says of adding things, followed to the letter in a copy: every output has them.

Sidak's correction, 1 - (1 - p)^m for m pairs, is no multiple of p, and bounds the familywise error.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

import sigjax
from sigjax.records import CORRECTIONS

PACKAGE = Path(sigjax.__file__).parent
pytestmark = pytest.mark.slow
NAME = ('PValueCorrection = Literal["holm", ', 'PValueCorrection = Literal["sidak", "holm", ')
RECORD = (
    'for each in (\n        CorrectionMethod(\n            "holm",',
    'for each in (\n        CorrectionMethod("sidak", "Šidák", "sidak1967", "familywise",\n'
    '            "Where tests are independent.", lambda p, first, last: -np.expm1(last[-1] * np.log1p(-p))),\n'
    '        CorrectionMethod(\n            "holm",',
)
ENTRY = "\n@article{sidak1967, author = {Šidák, Zbyněk}, title = {Rectangular Confidence Regions}, year = {1967}}\n"
SCORES = {name: [int((i * k) % 7 < 4 + k) for i in range(60)] for k, name in enumerate("ABCD", 1)}
COMMANDS = """
import contextlib, io, json, sys
import sigjax
from sigjax.cli import main
scores = json.loads(sys.argv[1])

def run(*words):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            code = main(list(words)) or 0
        except SystemExit as error:
            code = error.code
    return code, out.getvalue(), err.getvalue()
"""
CORRECTED = """
from sigjax.records.settings import log10_adjusted

def of(results):
    return {"p": [one.p_value for one in results], "adjusted": [one.p_adjusted for one in results]}

answers = sigjax.read(scores, metric="accuracy")
report = sigjax.compare(answers, correction="sidak", progress=False)
few = sigjax.compare(answers, correction="sidak", method="montecarlo", resamples=80, progress=False)
auto = sigjax.compare(answers, correction="sidak", method="montecarlo", resamples="auto",
                      family="report", progress=False)
small = sigjax.compare({name: values[:6] for name, values in scores.items()}, correction="sidak", progress=False)
far = sigjax.compare({"A": [1] * 2000, "B": [0] * 2000, "C": [1] * 500 + [0] * 1500}, correction="sidak",
                     interval="none", progress=False)
path = "table.csv"
with open(path, "w") as file:
    print("A,B,C,D", *map(",".join, zip(*[map(str, scores[name]) for name in "ABCD"])), sep="\\n", file=file)
for name in "ABC":
    with open(f"{name}.scores", "w") as file:
        print(*scores[name], sep="\\n", file=file)
figures = {kind: type(report.plot(kind)).__name__ for kind in sys.argv[2].split()}
sigjax.Report.from_json(report.to_json())
print(json.dumps({
    "report": of(report),
    "few": of(few), "few notes": few.notes, "small notes": small.notes, "auto": of(auto),
    "far": [one.log10_p_adjusted for one in far], "far p": [one.log10_p for one in far],
    "text": str(report), "markdown": report.to_markdown(), "latex": report.to_latex(), "html": report.to_html(),
    "methods": report.to_methods(), "bibtex": report.to_bibtex(),
    "json": report.to_json(), "csv": report.to_csv(), "frame": list(report.to_dataframe()["p_adjusted"]),
    "again": sigjax.Report.from_json(report.to_json()) == report,
    "figures": figures,
    "equivalence": of(sigjax.equivalence(sigjax.Evaluation.from_arrays(scores), margin=0.2, correction="sidak")),
    "one_sample": of(sigjax.one_sample(scores, against=0.5, correction="sidak")),
    "unpaired": of(sigjax.unpaired(scores, correction="sidak")),
    "hint": run("compare", path, "--sidak"),
    "refused": run("compare", path, "--correction", "sidac"),
    "compare": run("compare", path, "-m", "accuracy", "--correction", "sidak"),
    "equivalence text": run("equivalence", path, "--margin", "0.2", "--correction", "sidak"),
    "unpaired text": run("unpaired", "A.scores", "B.scores", "C.scores", "--correction", "sidak"),
    "help": run("compare", "--help"), "page": run("help", "corrections"),
    "doc": sigjax.compare.__doc__,
}))
"""


def copied(folder, *changes):
    """A copy of the package with changes: path, what stands there once, what stands there then."""
    shutil.copytree(PACKAGE, folder / "sigjax", ignore=shutil.ignore_patterns("__pycache__"))
    for name, old, new in changes:
        path = folder / "sigjax" / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, (name, old)
        path.write_text(text.replace(old, new), encoding="utf-8")
    return folder


def run_in(folder, code, *arguments):
    environment = os.environ | {"PYTHONPATH": str(folder), "JAX_PLATFORMS": "cpu", "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


OPTION = (
    '    design: Design = option(\n        "together",',
    '    rounding: int | None = option(None, "Digits of scores.", least=1, most=15)\n'
    '    design: Design = option(\n        "together",',
)
CHOSEN = """
def refused(**options):
    try:
        compared(**options)
    except sigjax.InputError as error:
        return str(error)

def compared(**options):
    options = {"read": {"metric": "accuracy"}, "method": "montecarlo", "progress": False, "resamples": 99, **options}
    return sigjax.compare(scores, **options)

plain, other = compared(), compared(rounding=3)
compared(rounding=3, checkpoint="run")
with open("table.csv", "w") as file:
    print("A,B,C,D", *map(",".join, zip(*[map(str, scores[name]) for name in "ABCD"])), sep="\\n", file=file)
written = run("compare", "table.csv", "-m", "accuracy", "--rounding", "3", "-o", "report.json")
run("compare", "table.csv", "-m", "accuracy", "-o", "plain.json")
older = json.load(open("plain.json"))
del older["settings"]["rounding"], older["checksum"]
with open("older.json", "w") as file:
    json.dump(older, file)
print(json.dumps({
    "signatures": [plain.signature, other.signature],
    "json": [plain.to_json(), other.to_json()],
    "schema": sigjax.Report.json_schema(),
    "again": [sigjax.Report.from_json(each.to_json()) == each for each in (plain, other)],
    "text": other.to_text(), "markdown": other.to_markdown(), "latex": other.to_latex(), "html": other.to_html(),
    "methods": other.to_methods(), "csv": other.to_csv(),
    "checkpoint": [refused(checkpoint="run"), refused(checkpoint="run", rounding=4)],
    "extend": refused(extend=other, resamples=199),
    "domain": refused(rounding=99),
    "written": written, "verified": run("verify", "report.json", "table.csv"),
    "older": [run(*words) for words in (
        ["show", "older.json"], ["verify", "older.json", "table.csv"],
        ["diff", "older.json", "plain.json"], ["diff", "older.json", "report.json"],
    )],
    "flag": run("compare", "table.csv", "--rounding", "99"), "help": run("compare", "--help"),
    "doc": sigjax.compare.__doc__,
}))
"""


@pytest.fixture(scope="module")
def rounding(tmp_path_factory):
    """Every output with an option, added where the page says."""
    folder = copied(tmp_path_factory.mktemp("rounding"), ("records/settings.py", *OPTION))
    return run_in(folder, COMMANDS + CHOSEN, json.dumps(SCORES))


def test_an_added_option_is_in_the_signature(rounding):
    plain, other = rounding["signatures"]
    report = sigjax.compare(SCORES, read={"metric": "accuracy"}, method="montecarlo", resamples=99, device="numpy")
    assert plain == report.signature
    assert other == plain.replace("|sigjax:", "|rounding:3|sigjax:")
    assert all(other in rounding[kind] for kind in ("text", "markdown", "latex", "html"))


def test_an_added_option_fits_the_schema_and_is_read_back(rounding):
    plain, other = map(json.loads, rounding["json"])
    validator = jsonschema.Draft202012Validator(rounding["schema"])
    for report, value in ((plain, None), (other, 3)):
        assert report["settings"]["rounding"] == value
        validator.validate(report)
        for wrong in ("3", 99, 0.5):
            assert not validator.is_valid(report | {"settings": report["settings"] | {"rounding": wrong}})
    assert rounding["again"] == [True, True]


def test_the_methods_paragraph_names_an_added_option(rounding):
    assert r"We set \texttt{rounding} to 3." in rounding["methods"]


def test_runs_with_an_added_option_are_told_apart(rounding):
    assert ["rounding is 3" in message for message in (*rounding["checkpoint"], rounding["extend"])] == [True] * 3
    assert (rounding["written"][0], rounding["verified"][0]) == (0, 0)


def test_reports_older_than_an_option_had_its_default(rounding):
    shown, verified, same, other = rounding["older"]
    assert (shown[0], shown[2]) == (0, "")
    assert [code for code, *_ in (verified, same, other)] == [0, 0, 0]
    assert "rounding" not in same[1]
    assert "rounding none -> 3" in other[1]


def test_an_added_option_is_a_flag_with_its_domain_and_help(rounding):
    assert "rounding must be a whole number from 1 to 15" in rounding["domain"]
    assert (rounding["flag"][0], rounding["flag"][2].count("\n")) == (2, 1)
    assert "--rounding must be a whole number from 1 to 15" in rounding["flag"][2]
    assert "--rounding" in rounding["help"][1]
    assert "rounding: Digits of scores." in rounding["doc"]


@pytest.fixture(scope="module")
def sidak(tmp_path_factory):
    """Every output with Sidak's correction, added where the page says."""
    corrections, references = "records/settings.py", (PACKAGE / "data" / "references.bib").read_text("utf-8")
    last = references.strip().split("\n\n")[-1]
    folder = copied(
        tmp_path_factory.mktemp("sidak"),
        (corrections, *NAME),
        (corrections, *RECORD),
        ("data/references.bib", last, f"{last}\n{ENTRY}"),
    )
    return run_in(folder, COMMANDS + CORRECTED, json.dumps(SCORES), "scores forest heatmap groups null")


@pytest.mark.parametrize("kind", ["report", "few", "auto", "equivalence", "one_sample", "unpaired"])
def test_an_added_correction_adjusts_everywhere(sidak, kind):
    with np.errstate(divide="ignore"):  # statsmodels warns where p is 1
        expected = multipletests(sidak[kind]["p"], method="sidak")[1]
    np.testing.assert_allclose(sidak[kind]["adjusted"], expected, rtol=1e-9)
    assert sidak[kind]["adjusted"] != sidak[kind]["p"]


def test_p_values_below_the_smallest_double_are_adjusted_by_it(sidak):
    """Sidak's correction of a tiny p is m p."""
    np.testing.assert_allclose(sidak["far"][:2], np.array(sidak["far p"][:2]) + np.log10(3), rtol=1e-12)


@pytest.mark.parametrize("kind", ["text", "markdown", "latex", "html", "methods"])
def test_an_added_correction_is_named_in_every_output(sidak, kind):
    assert "Šidák" in sidak[kind]


def test_what_a_familywise_correction_says_of_ranks_is_said(sidak):
    for kind in ("text", "markdown", "html"):
        text = " ".join(sidak[kind].replace("\\", "").split())
        assert "in about 95% of test sets all ranks are right" in text.replace("In about", "in about")


def test_an_added_correction_is_cited(sidak):
    assert r"by the method of Šidák~\cite{sidak1967}" in sidak["methods"]
    assert "@article{sidak1967," in sidak["bibtex"]


def test_numbers_for_programs_have_it(sidak):
    assert sidak["again"]
    assert sidak["frame"] == sidak["report"]["adjusted"]
    report = json.loads(sidak["json"])
    assert report["settings"]["correction"] == "sidak"
    assert "|correction:sidak|" in report["signature"]
    assert [pair["p_adjusted"] for pair in report["pairs"]] == sidak["report"]["adjusted"]
    assert all(repr(p) in sidak["csv"] for p in sidak["report"]["adjusted"])


def test_figures_are_drawn_with_it(sidak):
    assert set(sidak["figures"].values()) == {"ReportFigure"}


def test_what_is_out_of_reach_is_said_of_it(sidak):
    """1 - (1 - 1/81)^6 = .0718 and 1 - (1 - 2/2^6)^6 = .173: neither can be below .05, and 117 resamples would do."""
    assert any("cannot become significant" in note and "use --resamples 117" in note for note in sidak["few notes"])
    assert 1 - (1 - 1 / 118) ** 6 < 0.05 <= 1 - (1 - 1 / 117) ** 6
    assert any("adjusted at least 0.173" in note for note in sidak["small notes"])


def test_the_command_line_takes_it(sidak):
    assert [sidak[kind][0] for kind in ("compare", "equivalence text", "unpaired text")] == [0, 0, 0]
    assert "p adjusted by Šidák over 6 pairs" in sidak["compare"][1]
    assert "p (sidak)" in sidak["equivalence text"][1]
    assert "correction:sidak" in sidak["unpaired text"][1]
    assert "Did you mean --correction sidak?" in sidak["hint"][2]
    assert "sidak" in sidak["refused"][2]
    assert "sidak" in sidak["help"][1]
    assert "\nsidak        Where tests are independent.\n" in sidak["page"][1]
    listed = re.search(r'((?:"\w+"(?:, | and )?)+) bound', " ".join(sidak["doc"].split()))
    alike = [each for each in CORRECTIONS.values() if each.bounds == "familywise" and not each.is_resampled]
    assert set(re.findall(r'"(\w+)"', listed[1])) == {"sidak", *(each.name for each in alike)}


TYPST = r"""
def _typst(text):
    return re.sub(r"([\\#*_`$<>@\[\]])", r"\\\1", visible(text))


def _typst_table(head, names, rows):
    cells = [f"  {', '.join(f'[{cell}]' for cell in row)}," for row in (head, *rows)]
    return "\n".join([f"#table(columns: {len(head)},", *cells, ")"])


TYPST = Dialect(
    _typst,
    _typst,
    "= {}".format,
    lambda score: f"*{score.text}*#super[{score.marks}]" if score.best else score.text,
    _typst_table,
    "`{}`".format,
    "`{}`".format,
)
"""
WRITTEN = """
import contextlib, json
from pathlib import Path
import sigjax
from sigjax.cli import main
with contextlib.suppress(SystemExit):
    main(["demo", "-o", "demo.typ", "-o", "demo.json"])
with contextlib.suppress(SystemExit):
    main(["show", "demo.json", "--format", "typst", "-o", "again"])
with contextlib.suppress(SystemExit):
    main(["diff", "demo.json", "demo.json", "-o", "diff.typ"])
report = sigjax.Report.from_json("demo.json")
names = [one.name for one in report.systems]
assert "Nothing changed" in Path("diff.typ").read_text()
print(json.dumps([Path("demo.typ").read_text(), Path("again").read_text(), report.signature, names]))
"""


def test_an_added_markup_language_is_a_format_of_files_and_a_flag(tmp_path):
    made, entry = "to_markdown = partial(render, dialect=MARKDOWN)\n", '    "github": OutputFormat('
    folder = copied(
        tmp_path,
        ("report/markup.py", made, made + TYPST),
        ("cli/options.py", entry, f'    "typst": OutputFormat((".typ",), dialect="TYPST"),\n{entry}'),
    )
    source, again, signature, names = run_in(folder, WRITTEN)
    assert again == source
    assert source.endswith(f"`{signature}`\n")
    assert not re.search(r"(?<!\\)[#*]", re.sub(r"#table\(|#super\[|\[\*[\d.]+\*#super\[", "", source))
    assert source.count("#table(columns: ") == 2  # of systems and of pairs
    assert all(f"[{name.replace('_', chr(92) + '_')}]" in source for name in names)


INTERVAL = """
import contextlib, io, json, sys
import sigjax
from sigjax.cli import main
scores = json.loads(sys.argv[1])
report, basic = (
    sigjax.compare(scores, interval=name, resamples=99, progress=False) for name in ("mirrored", "basic")
)
with contextlib.redirect_stdout(io.StringIO()) as page, contextlib.suppress(SystemExit):
    main(["help", "intervals"])
print(json.dumps({
    "same": [one.interval for one in report] == [one.interval for one in basic],
    "again": sigjax.Report.from_json(report.to_json()) == report,
    "json": report.to_json(), "schema": sigjax.Report.json_schema(), "methods": report.to_methods(),
    "signature": report.signature, "text": report.to_text(), "notes": report.notes, "page": page.getvalue(),
}))
"""


def test_an_added_interval_and_note_are_in_every_output(tmp_path):
    named, record = 'NamedInterval = Literal["percentile", ', '        IntervalMethod(\n            "basic",'
    rules = "NOTES: tuple[Rule, ...] = (\n"
    rule = "def _by_hand(evaluation: EvaluationRecord, *_: object) -> list[str]:\n"
    rule += '    return [f"{evaluation.metric.name}: {len(evaluation.systems)} added"]'
    title = r'r"mirrored intervals~\cite{davison1997}"'
    mirrored = f'        IntervalMethod("mirrored", {title}, "Mirrored.", of_replicates=Basic),\n'
    folder = copied(
        tmp_path,
        ("records/settings.py", named, 'NamedInterval = Literal["mirrored", "percentile", '),
        ("testing/intervals.py", record, mirrored + record),
        ("comparison/notes.py", rules, f"{rule}\n\n\n{rules}    _by_hand,\n"),
    )
    found = run_in(folder, INTERVAL, json.dumps(SCORES))
    assert (found["same"], found["again"]) == (True, True)
    jsonschema.validate(json.loads(found["json"]), found["schema"])
    assert json.loads(found["json"])["pairs"][0]["interval_kind"] == "mirrored"
    assert r"mirrored intervals~\cite{davison1997}" in found["methods"]
    assert "|interval:mirrored|" in found["signature"]
    assert "mirrored" in found["text"]
    assert "mirrored" in found["page"]
    assert found["notes"][0] == "mean: 4 added"
    assert "note: mean: 4 added" in found["text"]
