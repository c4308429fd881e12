"""Damaged files of every format are read or refused in one line; `mutations.py` tries many more."""

import mutations
import pytest

from sigjax import read
from sigjax.formats import FORMATS

NEEDS = {"parquet": "narwhals", "lighteval": "pyarrow", "trec-run": "pytrec_eval", "ranx-json": "pytrec_eval"}
NEEDS["excel"] = "python_calamine"


def samples_of(reader):
    pytest.importorskip("pyarrow" if reader == "parquet" else NEEDS.get(reader, "sigjax"))
    pytest.importorskip(NEEDS.get(reader, "sigjax"))
    return mutations.SAMPLES[reader]()


def test_every_format_has_samples():
    assert set(mutations.SAMPLES) == set(FORMATS)


@pytest.mark.parametrize("reader", FORMATS)
def test_samples_are_sound(tmp_path, reader):
    taken = 0
    for sample in samples_of(reader):
        for name, content in sample.files.items():
            (tmp_path / name).write_bytes(content)
        gold = [tmp_path / name for name in sample.files if name not in sample.systems]
        if reader == "parquet" and "ignore" not in sample.options:
            continue  # with a column of lists, to be refused
        read(*gold, input=[tmp_path / name for name in sample.systems], reader=reader, **sample.options)
        taken += 1
    assert taken


@pytest.mark.parametrize("reader", FORMATS)
@pytest.mark.slow
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path, reader):
    samples_of(reader)
    ends = mutations.run(reader, tmp_path, number=150)
    assert set(ends) <= {"read", "refused"}
    assert ends["refused"] > 0
