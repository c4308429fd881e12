"""A report's JSON from elsewhere: each of its values is changed, and is refused in one line or shown harmlessly.

By the JSON Schema and `jsonschema`, too: what it refuses is refused.
"""

import copy
import io
import json
import re
from dataclasses import replace

import jsonschema
import pytest

from sigjax import Evaluation, InputError, Report, compare, diff
from sigjax.records import Measured

ESCAPE, INPUT, SCRIPT = "\x1b[31mred\u202e", r"\input{/etc/passwd}", "<script>alert(1)</script>"
TEXTS = (ESCAPE, INPUT, SCRIPT, "$x^{", "", "a | b\n# c", "%s {0}", "inf")
NUMBERS = (-1, 0, 1, 0.5, 1.5, 1e-320, 1e308, -1e308, 10**400, float("nan"), float("inf"))
OTHERS = (None, True, [], {}, [[1]], [2, 1], ["x"])
MISSING = object()
VALIDATOR = jsonschema.Draft202012Validator(Report.json_schema())


def written():
    """A report with every part, as JSON without its checksum, as if all was changed on purpose."""
    values = {name: [int(i * k % 7 < 2 + k) for i in range(24)] for k, name in enumerate("ABC", 1)}
    evaluation = Evaluation.from_arrays(values, metric="accuracy", clusters=[i // 3 for i in range(24)])
    report = compare(
        evaluation,
        test=["permutation", "bootstrap"],
        method="montecarlo",
        resamples=200,
        leaderboard=True,
        device="numpy",
        progress=False,
    )
    report = replace(
        report,
        measured=(Measured("accuracy", "accuracy, mean of 3 tasks", 24, 8),),
        systems=report.systems[::-1],
        lower_is_better=("accuracy",),
        notes=("dropped 1 of 25 instances that some system lacks", "bleu: BLEU|nrefs:1|version:2.5"),
    )
    return unchecked(report)


def unchecked(report):
    return {key: value for key, value in json.loads(report.to_json()).items() if key != "checksum"}


WRITTEN = written()


def paths(value, before=()):
    """Where the values are; of a list the first and the last entry."""
    if before:
        yield before
    inner = (
        value.items() if isinstance(value, dict) else dict(enumerate(value)).items() if isinstance(value, list) else ()
    )
    inner = list(inner)
    for key, each in inner if isinstance(value, dict) else {**dict(inner[:1]), **dict(inner[-1:])}.items():
        yield from paths(each, (*before, key))


def at(path):
    value = WRITTEN
    for key in path:
        value = value[key]
    return value


def changed(path, value):
    report = copy.deepcopy(WRITTEN)
    *before, last = path
    inner = report
    for key in before:
        inner = inner[key]
    if value is MISSING:
        del inner[last]
    else:
        inner[last] = value
    return report


def shown(report):
    """Every output, by its kind."""
    return {
        "text": str(report),
        "repr": repr(report) + repr(report.systems) + repr(list(report)),
        "markdown": report.to_markdown(),
        "latex": report.to_latex(),
        "methods": report.to_methods(),
        "csv": report.to_csv() + report.to_csv(of="systems"),
        "json": report.to_json(),
        "html": "".join(each._repr_html_() for each in (report, *report[:1], report.systems[0])) + report.to_html(),
    }


def check_harmless(kind, text):
    assert all(character.isprintable() or character == "\n" for character in text), kind
    if kind in ("latex", "methods"):
        text = re.sub(r"(?m)(?<!\\)%.*$", "", text)
        assert INPUT not in text, kind
    if kind == "markdown":
        lines = [line for line in text.split("\n") if not line.startswith("    ")]
        assert not re.search(r"(?<!\\)(\\\\)*\\input|(?<!\\)<script", "\n".join(lines))
    if kind == "html":
        assert SCRIPT not in text


def refusal(text):
    """In one line why a report is not read; None where it is."""
    try:
        Report.from_json(text)
    except InputError as error:
        return str(error)
    return None


def check(report, path, value=""):
    """A changed report is refused in one line that names where, or read, and every output is harmless.

    A setting that is not there has its default, as in reports that are older than it.
    """
    text = json.dumps(report)
    message = refusal(text)
    if message is not None:
        assert message.startswith("the text: ")
        assert message.isprintable()
        assert any(key in message for key in path if isinstance(key, str)), message
        return "refused"
    read = Report.from_json(text)
    has_default = value is MISSING and path[0] == "settings" and len(path) == 2
    assert VALIDATOR.is_valid(json.loads(read.to_json()) if has_default else report), path
    for kind, output in [("text", str(read))] if isinstance(value, int | float) else shown(read).items():
        check_harmless(kind, output)
    return read


@pytest.mark.parametrize("part", WRITTEN)
@pytest.mark.slow
def test_every_value_is_refused_or_shown_harmlessly(part):
    refused = 0
    for path in paths({part: WRITTEN[part]}):
        value = at(path)
        extended = [f"{value}{text}" for text in TEXTS[:4]] if isinstance(value, str) else []
        for other in (*TEXTS, *NUMBERS, *OTHERS, MISSING, *extended):
            refused += check(changed(path, other), path, other) == "refused"
    assert refused


@pytest.mark.parametrize("part", [part for part in WRITTEN if isinstance(WRITTEN[part], dict | list)])
def test_what_is_there_twice_or_too_much_is_refused(part):
    for path in paths({part: WRITTEN[part]}):
        value = at(path)
        if isinstance(value, dict) and part != "versions":
            assert check(changed(path, value | {"more": 1}), path) == "refused"
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for more in ([*value, value[0]], value[:-1], value[::-1], [*value, {}]):
                read = check(changed(path, more), path)
                fewer_or_turned = more == value[:-1] or (more == value[::-1] and part != "systems")
                assert read == "refused" or part == "measured" or fewer_or_turned


NAMED = {
    "a baseline of nobody": (("settings", "baseline"), "Z", "settings: baseline 'Z' has no score in systems"),
    "letters": (
        ("systems", 0, "letters"),
        ESCAPE,
        r"systems, entry 1: 'letters' is .*; expected text like \[a-zA-Z\]\+",
    ),
    "a kind of interval": (
        ("pairs", 0, "interval_kind"),
        INPUT,
        "pairs, entry 1: 'interval_kind' is .*; expected one of",
    ),
    "p as text": (("pairs", 2, "p_value"), "inf", "pairs, entry 3: 'p_value' is 'inf'; expected a number from 0 to 1"),
    "an interval of p above 1": (
        ("pairs", 0, "p_interval"),
        [0.5, 1.5],
        r"pairs, entry 1: 'p_interval' is \[0.5, 1.5\]; expected \[low, high\]",
    ),
    "a metric of nobody": (("lower_is_better",), ["bleu"], "'lower_is_better': 'bleu' has no score in systems"),
    "an interval upside down": (("pairs", 0, "interval"), [2, 1], r"pairs, entry 1: 'interval' is \[2, 1\]; expected"),
    "another test": (("settings", "tests"), ["bootstrap"], "pairs, entry 1: 'test' is 'permutation', which is not in"),
}


@pytest.mark.parametrize("name", NAMED)
def test_what_is_wrong_is_named(name):
    path, value, message = NAMED[name]
    with pytest.raises(InputError, match=f"^the text: {message}"):
        Report.from_json(json.dumps(changed(path, value)))


def test_what_is_written_is_read():
    assert unchecked(check(WRITTEN, ())) == WRITTEN


def strings():
    return [path for path in paths(WRITTEN) if isinstance(at(path), str)]


@pytest.mark.filterwarnings("ignore:constrained_layout")  # of long titles
@pytest.mark.parametrize("text", [ESCAPE, INPUT, SCRIPT])
def test_figures_and_changes_show_foreign_text_harmlessly(text):
    """Every text that may be anything, all at once."""
    report = copy.deepcopy(WRITTEN)
    for path in strings():
        if isinstance(check(changed(path, f"{at(path)}{text}"), path), Report):
            *before, last = path
            inner = report
            for key in before:
                inner = inner[key]
            inner[last] += text
    read = Report.from_json(json.dumps(report))
    assert text in read.signature
    assert text in read.notes[0]
    changes = diff(read, Report.from_json(json.dumps(WRITTEN)))
    for kind, output in {"text": str(changes), "markdown": changes.to_markdown() + changes.to_github()}.items():
        check_harmless(kind, output)
    for kind in (None, "forest", "heatmap"):
        read.plot(kind).savefig(stream := io.StringIO(), format="svg")
        assert not any(harmful in stream.getvalue() for harmful in (ESCAPE, SCRIPT))
