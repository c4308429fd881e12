"""What people try first and cannot be used: one line that says where and what to do. Run as a script, it lists all."""

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path

import pytest

from sigjax.cli import _run

FILES = {
    "ok.csv": "id,A,B\nx,1,0\ny,1,1\nz,0,1\n",
    "mean.csv": "id,A,B\nx,1,0\ny,1,1\nz,0,1\nmean,0.9,0.9\n",
    "average.csv": "id,A,B\nx,1,0\ny,1,1\nz,0,1\naverage,0.67,0.67\n",
    "total.tsv": "id\tA\tB\nx\t1\t0\ny\t1\t1\nTOTAL\t7\t9\n",
    "yes.csv": "id,A,B\nx,yes,no\ny,no,yes\n",
    "abstain.csv": "id,A,B\nx,correct,wrong\ny,abstain,correct\n",
    "text.csv": "id,A,B\nx,1,0\ny,high,1\nz,1,1\n",
    "percent.csv": "id,A,B\nx,50%,60%\ny,40%,30%\n",
    "comma.tsv": "id\tA\tB\nx\t0,5\t0,25\ny\t0,5\t0,75\n",
    "thousands.csv": "id;A;B\nx;1_000;2\ny;3;4\n",
    "nan.csv": "id,A,B\nx,1,0\ny,,1\n",
    "inf.csv": "id,A,B\nx,1,inf\ny,1,1\n",
    "twice.csv": "id,A,B\nx,1,0\nx,1,1\n",
    "alike.csv": "id,A,A\nx,1,0\ny,1,1\n",
    "ragged.csv": "id,A,B\nx,1,0\ny,1\n",
    "header.csv": "x,1,0\ny,1,1\nz,0,1\n",
    "one.csv": "id,A\nx,1\ny,0\n",
    "metrics.csv": "metric,A,B\nbleu,30,31\nchrf,50,52\n",
    "gold.csv": "id,gold,pred\nx,1,0\ny,1,1\nz,0,1\n",
    "turned.csv": "model,q1,q2,q3,q4\nA,1,0,1,1\nB,0,0,1,0\n",
    "empty.csv": "",
    "only_header.csv": "id,A,B\n",
    "cut.jsonl": '{"id": "x", "A": 1, "B": 0}\n{"id": "y", "A": 1',
    "list.json": '{"scores": [1, 2]}',
    "README.md": "# Results\n\nSome words.\n",
    "run.log": "started\nfinished\n",
    "ref.txt": "a cat sat\nit rained\n",
    "a.txt": "a cat sat\nit rains\n",
    "b.txt": "cat sits\nrain\n",
    "short.txt": "a cat sat\n",
    "latin.csv": b"id,A,B\nx\xe9,1,0\n",
    "book.xlsx": b"PK\x03\x04" + b"\x00" * 26 + b"[Content_Types].xml",
}
CASES = {
    "a row of means that are none": ("compare mean.csv", "mean.csv, line 5: 'mean'"),
    "a row of averages": ("compare average.csv", "average.csv, line 5: 'average'"),
    "a row of totals": ("doctor total.tsv", "total.tsv, line 4: 'TOTAL'"),
    "yes and no": ("compare yes.csv", "yes.csv, line 2, column 'A'.*write 1 for right"),
    "right, wrong and something": ("compare abstain.csv", "abstain.csv, line 2, column 'A'.*write 1 for right"),
    "a word among numbers": ("compare text.csv", "text.csv, line 3, column 'A'.*'high'"),
    "percent signs": ("compare percent.csv", "percent.csv, line 2, column 'A'.*%"),
    "decimal commas": ("compare comma.tsv", "comma.tsv, line 2.*decimal"),
    "underscores in numbers": ("compare thousands.csv", "thousands.csv, line 2, column 'A'"),
    "an empty cell": ("compare nan.csv", "nan.csv: .*'A' lacks 1 of 2.*--missing drop"),
    "infinity": ("compare inf.csv", "inf.csv, line 2, column 'B'"),
    "an id twice": ("compare twice.csv", "twice.csv, line 3: instance 'x'"),
    "a name of a column twice": ("compare alike.csv", "alike.csv.*'A'"),
    "a short row": ("compare ragged.csv", "ragged.csv, line 3: expected 3 fields"),
    "no header": ("compare header.csv", "header.csv, line 1"),
    "one system": ("compare one.csv", "one.csv: .*at least two systems"),
    "a row per metric": ("compare metrics.csv", "metrics.csv: .*metrics"),
    "gold labels and predictions": ("compare gold.csv", "gold.csv: .*gold labels"),
    "rows and columns exchanged": (
        "compare turned.csv",
        "turned.csv: .*exchange rows and columns|turned.csv: column 'model'",
    ),
    "an empty file": ("compare empty.csv", "empty.csv"),
    "a header alone": ("compare only_header.csv", "only_header.csv"),
    "a file that is cut off": ("compare cut.jsonl", "cut.jsonl, line 2"),
    "JSON of something": ("compare list.json", "list.json"),
    "no such file": ("compare gone.csv", "gone.csv: .*no such file"),
    "a folder of anything": ("compare .", r"\.: "),
    "a workbook": ("compare book.xlsx", "book.xlsx: .*save it as CSV"),
    "another encoding": ("compare latin.csv", "latin.csv.*UTF-8"),
    "Markdown as gold": ("compare README.md -i a.txt b.txt -m bleu", "README.md: .*leave it out"),
    "a log as gold": ("compare run.log -i a.txt b.txt -m bleu", "run.log: .*leave it out"),
    "JSON as gold": ("compare list.json -i a.txt b.txt -m bleu", "list.json: "),
    "-i forgotten": ("compare README.md a.txt b.txt ref.txt", "compare ref.txt -i a.txt b.txt -m bleu"),
    "texts of other length": ("compare ref.txt -i short.txt b.txt -m bleu", "short.txt: has 1 lines.*2"),
    "a metric of texts on a table": ("compare ok.csv -m bleu", "ok.csv: .*give texts.* REF -i A B -m bleu"),
    "an unknown metric": ("compare ok.csv -m acuracy", "acuracy.*did you mean 'accuracy'"),
    "an unknown format": ("compare ok.csv --reader cvs", "cvs.*did you mean 'csv'"),
    "an unknown baseline": ("compare ok.csv --baseline C", "'C'"),
    "an unknown system": ("compare ok.csv --only A C", "ok.csv: no system 'C'"),
    "a column that is not there": ("compare ok.csv --id-column name", "ok.csv: --id-column: no column 'name'"),
    "a level in percent": ("compare ok.csv --confidence-level 95", "confidence-level must be a number between 0 and 1"),
    "no resamples": ("compare ok.csv --resamples 0", "resamples must be"),
    "an unknown flag": ("compare ok.csv --basline A", "--basline.*--baseline"),
    "alpha": ("compare ok.csv --alpha 0.05", "--alpha.*--confidence-level"),
    "an unknown ending": ("compare ok.csv -o report.docx", "report.docx"),
    "a file that would be overwritten": ("compare ok.csv -o ok.csv", "ok.csv"),
    "a margin below 0": ("equivalence ok.csv --margin -1", "margin must be"),
    "no margin": ("equivalence ok.csv", "margin"),
    "clusters that are not there": ("compare ok.csv --cluster doc", "ok.csv: --cluster: no column and no file 'doc'"),
    "no file": ("compare", "no file"),
}
REFUSED_BY_DOCTOR = {"a row of totals"}


def said(line: str) -> tuple[int | None, str, str]:
    """The exit code, stdout and stderr of a command line."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = _run(line.split(), debug=False)
    return code, out.getvalue(), err.getvalue()


def write_files() -> None:
    for name, content in FILES.items():
        Path(name).write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize("case", CASES)
def test_a_bad_input_is_refused_in_one_line(tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    write_files()
    line, expected = CASES[case]
    code, out, err = said(line)
    if case in REFUSED_BY_DOCTOR:
        code, out, err = 2, "", " ".join(out.split()) + "\n"
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert re.search(expected, err), err


def test_doctor_proposes_no_document_as_gold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files()
    code, out, _ = said("doctor README.md a.txt b.txt ref.txt")
    assert (code, "gold       ref.txt" in out, "README" in out) == (0, True, False)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_files()
        print("| input | command | message |\n|---|---|---|")
        for case, (line, _) in CASES.items():
            code, out, err = said(line)
            print(f"| {case} | `sigjax {line}` | {code}: {' '.join((err or out).split())} |")
