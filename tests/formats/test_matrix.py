"""What each format does, observed on its files, is what its row of the matrix in tests/README.md says."""

import gzip
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import logs
import pytest
import sacrebleu
from matrix import CASES, WORDS, Case
from mutations import SAMPLES, A, B
from test_mutations import NEEDS

from sigjax import InputError, read
from sigjax.formats import FORMATS
from sigjax.formats.declarations import HARNESSES
from sigjax.formats.reading import formats_of, read_as, sources_of
from sigjax.metrics import CLASS_METRICS, METRICS, TEXT_METRICS
from sigjax.readers.options import Options

README = Path(__file__).parents[1] / "README.md"
ORDER = [2, 0, 3, 1]
"""Of the first records of a shuffled file."""


def matrix():
    """Format -> the other cells of its row; of a harness by what its file says."""
    rows = README.read_text(encoding="utf-8").partition("| format |")[2].splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in rows if row.startswith("|")]
    return {name: tuple(others) for name, *others in cells} | {name: of_harness(name) for name in HARNESSES}


def of_harness(name):
    about = logs.SAMPLES[name]
    whole = (
        ("yes", "in one row", "", "")
        if about.alone
        else ("yes", "id", about.cluster and f"`{about.cluster}`", about.lacking)
    )
    return (*whole, "yes", "yes")


class Files:
    """The files of a case in a folder."""

    def __init__(self, name: str, case: Case, folder: Path):
        self.name, self.case, self.folder = name, case, folder
        self.recognized = self.recognition()

    def read(self, files, **options):
        """The statistics of each system: of instances by id, where they have ids."""
        given = {"reader": self.name} if "--reader" in self.recognized else {}
        gold, systems = self.write(files)
        found = read(*gold, input=systems, **self.case.options, **given, **options)
        assert not re.search("[\ufdd0-\ufdd2]", "".join(found.notes))  # options of refusals, spelled nowhere in notes
        labels = range(found.num_instances) if found.ids is None else found.ids
        by_system = zip(found.systems, found.stats.tolist(), strict=True)
        stats = {system: dict(zip(labels, own, strict=True)) for system, own in by_system}
        return found, {system: sorted(own.items()) for system, own in stats.items()}

    def write(self, files):
        """The paths of the files of the gold standard, and of the others; those of one folder per system."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        paths = [self.folder / name for name in files]
        if self.name == "mteb":
            return [self.folder / name for name in "ab"], []
        number = sum(path.name.startswith("gold") for path in paths)
        return (paths[:number], paths[number:]) if number else (paths, [])

    def changed(self, change):
        """The files with the records of the last one changed."""
        assert self.case.split is not None
        *_, last = self.case.files
        records, joined = self.case.split(self.case.files[last])
        return self.case.files | {last: joined(change(records))}

    def recognition(self):
        """How the format of the files is known."""
        for metric, said in ((None, "yes"), (self.case.options.get("metric"), "with `-m`")):
            with suppress(InputError):
                (found,) = formats_of(sources_of(*self.write(self.case.files)), None, [metric])
                if found.name == self.name:
                    return said
        return "by `--reader`"


def test_every_format_has_a_row():
    assert sorted(matrix()) == sorted(CASES) == sorted(FORMATS)


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_metric_is_taken_only_where_its_inputs_are(name, tmp_path):
    """A format names its metrics; in tables and logs they take columns by name, one number, or a score named so."""
    case = CASES[name]()
    gold, systems = Files(name, case, tmp_path).write(case.files)
    options = Options(**{key: value for key, value in case.options.items() if key != "metric"})
    evaluate = read_as(FORMATS[name], sources_of(gold, systems), options)
    held = b"".join(path.read_bytes() for path in (*gold, *systems) if path.is_file())
    taken = set()
    for metric in filter(FORMATS[name].serves, (*METRICS, *CLASS_METRICS)):
        with suppress(InputError):
            evaluate(replace(options, metric=metric))
            taken.add(metric)
    if FORMATS[name].metrics:
        assert taken <= {*FORMATS[name].metrics, "mean"}
        return
    for metric in taken & {*METRICS}:
        named = metric.encode() in held or all(each.encode() in held for each in METRICS[metric].inputs)
        assert named or (METRICS[metric].inputs == ("value",) and metric not in TEXT_METRICS)


def shuffled(records):
    return [records[i] for i in ORDER if i < len(records)] + records[4:]


def joining(files, whole):
    """How the systems are joined: by id where a file in another order gives the same."""
    if files.case.split is None:
        return "id" if len(files.case.files) > 1 else "in one row"
    try:
        same = files.read(files.changed(shuffled))[1] == whole
    except InputError:
        return "position, checked"
    stats = [[values for _, values in own] for own in whole.values()]
    assert all(shuffled(own) != own for own in stats[1:])  # else joining by position would look the same
    return "id" if same else "position"


def lacking(files, number):
    """What becomes of an instance that one system lacks."""
    if files.case.split is None:
        if files.name != "mteb":
            return ""
        (files.folder / "b" / "r" / "T1.json").unlink()
        left = {name: own for name, own in files.case.files.items() if name != "b/r/T1.json"}
    else:
        left = files.changed(lambda records: records[: files.case.lacking] + records[files.case.lacking + 1 :])
    try:
        found, _ = files.read(left)
    except InputError as error:
        if not re.search(rf"'\w' lacks 1 of {number} \(first: '", str(error)):
            return "refused"
        assert files.read(left, missing="drop")[0].num_instances == number - 1
        return "named"
    assert found.num_instances == number
    return "counted, noted" if any("lacks 1 of" in note for note in found.notes) else "counted"


def chrf(hypotheses):
    return sacrebleu.corpus_chrf(hypotheses, [WORDS]).score


WON = {"mt-bench-pair": tuple(zip(A, [1 - value for value in A], strict=True))}
"""Where values are not those of two systems."""
SCORES = {
    "alignment": (0.0, 1 - (0 + 3) / (5 + 5)),  # of five links none is sure and three are possible
    "appraise": (20.0, 21.0),
    "brackets": (2 * 12 / (16 + 13), 2 * 12 / (16 + 13)),
    **dict.fromkeys(("conll", "conll-gold", "hipe"), (1.0, 2 * 3 / (5 + 4))),
    "conllu": (11 / 12, 9 / 12),
    "errant": (1.25 * 0.6 / (0.25 * 0.6 + 1.0),) * 2,
    "id-labels": (3 / 4, 3 / 4),
    **dict.fromkeys(("kaldi", "trn"), (0.0, 12 / 10)),
    "labels": (2 / 4, 3 / 4),
    "m2": (2 / 4, 3 / 4),
    "mbt": (1.0, 6 / 8),
    "mqm": (7 / 4, 7 / 4),
    "mteb": (3 / 8, 3 / 8),
    "nnunet": (3 / 5 * 0.75, 3 / 5 * 0.75),  # a case with the value 1 has the means .5 and 1 of two classes
    "paired-perm": (16 / 4, 14 / 4),
    "ranx-json": (1.0, (1 / 4 + 1 + 1 + 1 / 2) / 4),
    "segmentation": (1.0, 8 / 10),
    "squad": (2 / 4, 2 / 4),
    "stm": (10 / 10, 10 / 10),
    "terms": (2 * 2 / (2 + 4), 2 * 2 / (3 + 4)),
    "texts": (chrf(WORDS), chrf(WORDS[::-1])),
    "timbl": (2 / 3, 1 / 3),
    "trec-run": (5 / 5, 3 / 5),
    "trees": (1.0, 1.0),
}
"""The scores of both systems, worked out by hand; files of other formats hold the values A and B as they are."""


def holds_its_scores(name, found):
    """Whether both systems score what their files hold."""
    if name in SCORES:
        scores = [float(found.metric.score(own.sum(axis=0) * 1.0)) for own in found.stats]
        return scores == pytest.approx(SCORES[name], rel=1e-12)
    return sorted(zip(*found.stats[:, :, 0].tolist(), strict=True)) == sorted(WON.get(name, zip(A, B, strict=True)))


@pytest.mark.parametrize("name", FORMATS)
def test_the_matrix_says_what_formats_do(tmp_path, name):
    pytest.importorskip("pyarrow" if name == "parquet" else NEEDS.get(name, "sigjax"))
    pytest.importorskip(NEEDS.get(name, "sigjax"))
    case = CASES[name]()
    files = Files(name, case, tmp_path)
    found, whole = files.read(case.files)
    assert holds_its_scores(name, found), f"not what the files of {name} hold: work out SCORES of a new format by hand"
    cluster = f"`{case.cluster}`" if case.cluster else ""
    if cluster:
        clusters = files.read(case.files, cluster=case.cluster)[0].clusters
        assert clusters is not None
        assert len(clusters) == found.num_instances
    joined, missing = joining(files, whole), lacking(files, found.num_instances)
    files.folder = tmp_path / "packed"
    contents = {f"{key}.gz": value.encode() if isinstance(value, str) else value for key, value in case.files.items()}
    same = files.read({key: gzip.compress(value) for key, value in contents.items()})[1] == whole
    damaged = "yes" if SAMPLES[name]() else ""
    observed = (files.recognized, joined, cluster, missing, "yes" if same else "no", damaged)
    assert matrix().get(name) == observed, f"| {name} | {' | '.join(observed)} |"
