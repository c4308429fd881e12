"""Logs that cannot be used: one clear line that names the file and the place, and nothing is executed or unpacked."""

import json
import re
import zipfile

import logs
import pytest

from sigjax import InputError, read
from sigjax.formats.harness.inspect import read_members

A, B = [1, 0, 1, 1], [0, 0, 1, 0]
HUGE = "9" * 400


def swap(old, new, count=-1):
    """A change of a text, which must hold what is changed."""

    def change(text):
        assert old in text
        return text.replace(old, new, count)

    return change


def doubled_stats(text):
    return json.dumps([each | {"stats": each["stats"] * 2} for each in json.loads(text)])


BAD = [
    # JSON of any format
    ("lm-eval", lambda text: text[:-20], r"b.jsonl, line 4, character \d+: not readable as JSON: .*cut off\?"),
    ("lm-eval", lambda text: text + "[1]", r"b.jsonl, line 5: expected an object, got a list"),
    ("helm", lambda text: "{}", r"b.json: expected a list, got an object"),
    ("lm-eval", swap('"target": "A"', f'"x": {"[" * 100_000}', 1), r"line 1: nested too deeply"),
    ("swebench", swap("{", '{"resolved_ids": [],', 1), r"b.json: field 'resolved_ids' occurs"),
    ("lm-eval", swap('"acc": 0', '"acc": 1, "acc": 0', 1), r"line 1: field 'acc' occurs twice"),
    ("eee", swap('"score": 0', f'"score": {"9" * 5000}', 1), r"line 1: .*thousands of digits"),
    ("eee", swap('"score": 0', f'"score": {HUGE}', 1), r"line 1, field 'evaluation', field 'score': .*2\*\*53"),
    ("eee", swap('"s1"', '"\\ud800"'), r"line 2, field 'sample_id': holds half a character"),
    # numbers
    *(
        (name, swap(f'"{score}": 0', f'"{score}": {bad}', 1), rf"expected a finite number, got {shown}")
        for name, score in (("lm-eval", "acc"), ("eee", "score"))
        for bad, shown in (("NaN", "nan"), ("-Infinity", "-inf"), ("1e400", "inf"))
    ),
    ("inspect", swap('"value": 0', '"value": "inf"', 1), r"sample 1, score 'choice': .*finite.* 'inf'"),
    ("helm", swap('"sum": 0', '"sum": "0"', 1), r"entry 1, stat 1, field 'sum': expected a number"),
    ("alpaca-eval", swap('"preference": 1', '"preference": 0', 1), r"entry 1, .*from 1 to 2, or null, got 0"),
    ("alpaca-eval", swap('"preference": 1', '"preference": NaN', 1), r"entry 1, .*finite number, got nan"),
    # what must be there
    ("lm-eval", swap('"doc_id": 1,', ""), r"line 2: no field 'doc_id'; did you mean"),
    ("lm-eval", lambda text: text + text.partition("\n")[0], r"b.jsonl, row 5: instance '0' of .* is also on row 1"),
    ("lm-eval", swap('"acc": ', '"x": '), r"line 1: no field 'acc'|holds no scores"),
    ("inspect", swap('"eval"', '"evil"'), r"b.json: no field 'eval'; did you mean 'evil'"),
    ("inspect", swap('"scores": {', '"scores": {}, "x": {'), r"holds no scores of single instances"),
    ("inspect", swap('"scores": {', '"scores": [1], "x": {'), r"sample 1, field 'scores': expected"),
    ("inspect", swap('"id": 1', '"id": 0'), r"b.json, row 2: instance '0' of .* is also on row 1"),
    ("helm", swap('"stats"', '"stat"'), r"entry 1: no field 'stats'; did you mean 'stat'"),
    ("helm", swap('"count": 2', '"count": 0'), r"holds no scores of single instances"),
    ("helm", lambda text: "[]", r"holds no results; expected those of at least one instance"),
    ("helm", doubled_stats, r"occurs twice in an entry"),
    ("alpaca-eval", swap('"instruction"', '"q"'), r"entry 1: no field 'instruction'"),
    ("alpaca-eval", swap("say 2", "say 0"), r"instance 'koala: say 0' of system 'b' is also on row 1"),
    ("swebench", lambda text: "{}", r"no field 'submitted_ids'; there are no fields"),
    ("swebench", swap('"resolved_ids": [', '"resolved_ids": 1, "x": ['), r"'resolved_ids': expected a list"),
    ("swebench", lambda text: '{"submitted_ids": [], "resolved_ids": []}', r"no instance is submitted"),
    ("eee", swap('"evaluation":', '"other":'), r"line 1: no field 'evaluation'; did you mean 'evaluation_"),
]  # fmt: skip


def files(tmp_path, name, change):
    """A good log as a, and a bad one as b."""
    file, make = logs.TEXTS[name]
    model = {} if name in ("lm-eval", "helm", "swebench") else {"model": "b"}
    ending = file[file.rindex(".") :]
    changed = change(make(B, **model))
    (tmp_path / f"a{ending}").write_text(make(A))
    (tmp_path / f"b{ending}").write_bytes(changed if isinstance(changed, bytes) else changed.encode())
    return f"a{ending}", f"b{ending}"


@pytest.mark.parametrize(("name", "change", "message"), BAD)
def test_bad_logs_get_one_clear_line(tmp_path, here, name, change, message):
    a, b = files(tmp_path, name, change)
    with pytest.raises(InputError, match=message) as caught:
        read(a, b, reader=name)
    assert str(caught.value).startswith(b)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def archive(tmp_path, change=lambda members: members):
    (tmp_path / "a.eval").write_bytes(logs.inspect_zip(logs.inspect(A)))
    (tmp_path / "b.eval").write_bytes(logs.inspect_zip(logs.inspect(B, model="b"), change=change))
    return tmp_path / "a.eval", tmp_path / "b.eval"


def without(name):
    return lambda members: {key: member for key, member in members.items() if key != name}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("header.json"), r"b.eval: holds no header.json: the run did not end"),
        (lambda members: members | {"samples/0_epoch_1.json": "{"}, r"b.eval, samples/0_epoch_1.json, line 1"),
        (lambda members: members | {"samples/0_epoch_1.json": b"\xff"}, r"0_epoch_1.json, line 1: expected UTF-8"),
    ],
)
def test_bad_archives(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        read(*archive(tmp_path, change))


def test_archives_that_are_bombs_or_secret(tmp_path):
    bomb = tmp_path / "bomb.eval"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed, packed.open("samples/a.json", "w") as member:
        for _ in range(300):
            member.write(b"0" * 2**20)
    paths = archive(tmp_path)
    with pytest.raises(InputError, match=r"bomb.eval: \d+ bytes unpack to more than \d+: this is not a log"):
        read(paths[0], bomb, reader="inspect")
    secret = bytearray(paths[1].read_bytes())
    for magic, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        for found in re.finditer(re.escape(magic), bytes(secret)):
            secret[found.start() + offset] |= 1
    bomb.write_bytes(secret)
    with pytest.raises(InputError, match=r"bomb.eval: damaged or locked zip archive"):
        read(paths[0], bomb, reader="inspect")


def test_a_member_gives_no_more_than_it_declares(tmp_path):
    """A false size in the archive ends in a refusal, not in memory."""
    content = logs.inspect_zip(logs.inspect([0.5] * 200))
    assert len(list(read_members("x", content, lambda name: name.startswith("samples/")))) == 200
    false = bytearray(content)
    for magic, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        for found in re.finditer(re.escape(magic), content):
            false[found.start() + offset : found.start() + offset + 4] = (10).to_bytes(4, "little")
    with pytest.raises(InputError, match="damaged or locked zip archive"):
        list(read_members("x", bytes(false), lambda name: name.startswith("samples/")))


def test_a_packing_that_this_python_lacks_is_named(tmp_path):
    """Method 99, which no Python has; Inspect packs by 93 (zstandard), which Pythons before 3.14 lack as well."""
    other = bytearray(logs.inspect_zip(logs.inspect(A)))
    for magic, offset in ((b"PK\x01\x02", 10), (b"PK\x03\x04", 8)):
        for found in re.finditer(re.escape(magic), bytes(other)):
            other[found.start() + offset] = 99
    (tmp_path / "a.eval").write_bytes(other)
    (tmp_path / "b.eval").write_bytes(logs.inspect_zip(logs.inspect(B)))
    with pytest.raises(InputError, match=r"a.eval: is packed by a method .* inspect log convert --to json"):
        read(tmp_path / "a.eval", tmp_path / "b.eval", reader="inspect")
