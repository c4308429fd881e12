"""The same numbers with every version: digests of small results of every kind, checked against `digests.json`.

    python tests/digests.py --only 'interval: *' --device numpy

Exit code 1 where a result is not the one that was written, with its name and what differs: "numbers", or "words" where
only notes, reasons, settings, signatures or layout do. `--write` writes the digests of a change that is meant (with
`--only`, those alone); `--show NAME` prints a result, to be compared with that of another checkout or environment. The
script needs sigjax alone: results that need packages which are not installed are left out, and the packages named.

A digest leaves out versions and has ten digits of p-values, of what limits them, of intervals by t and of studies:
functions such as exp are rounded differently by libraries and processors (`sigjax help reproducibility`). NumPy makes
all results; JAX (`cpu`) makes again those that bring a kernel of their own. `--device` makes all of them on one device
(for `gpu` set JAX_PLATFORMS=cuda,cpu).
"""

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import asdict, is_dataclass
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("SIGJAX_CACHE_DIR", os.devnull)

from digest_others import others  # noqa: E402
from digest_reports import Case, reports  # noqa: E402

from sigjax import Evaluation, Report  # noqa: E402

DIGESTS = Path(__file__).with_name("digests.json")
WORDS = {"notes", "facts", "reason", "settings", "signature", "schema", "data", "measured"}
"""Keys whose values are no results."""
TEN_DIGITS = {"p_value", "log10_p", "p_interval", "p_adjusted", "log10_p_adjusted", "error_bound"}
BY_T = {"hall-t", "conservative-t", "two-way"}


def plain(result: Any) -> Any:
    """A result as values of JSON without versions."""
    if isinstance(result, Report):
        return _report(json.loads(result.to_json(keep_scores="never")))  # those kept are what was given
    if isinstance(result, Evaluation):
        names = ("systems", "ids", "clusters", "strata", "runs", "unit", "notes")
        metric = [result.metric.name, result.metric.stat_names, result.metric.higher_is_better]
        stats = [str(result.stats.dtype), result.stats.tolist()]
        return plain({name: getattr(result, name) for name in names} | {"metric": metric, "stats": stats})
    if hasattr(result, "to_json") and not isinstance(result, tuple):
        return rounded(plain(json.loads(result.to_json())))
    if is_dataclass(result) and not isinstance(result, type):
        return rounded(plain(asdict(result)))
    if isinstance(result, dict):
        # The checksum is of all digits; headlines, and what is better, are in the text.
        left_out = {"versions", "lower_is_better", "headlines", "checksum"}
        return {key: plain(each) for key, each in result.items() if key not in left_out}
    if isinstance(result, list | tuple):
        return [plain(each) for each in result]
    return unversioned(result) if isinstance(result, str) else result


def _report(report: dict[str, Any]) -> dict[str, Any]:
    for one in (*report["systems"], *report["pairs"]):
        by_t = {"interval"} if one["interval_kind"] in BY_T else set()
        one |= {key: rounded(one[key]) for key in one.keys() & (TEN_DIGITS | by_t)}
    return plain(report | {key: rounded(report[key]) for key in report.keys() & {"facts"}})


def rounded(value: Any) -> Any:
    """Ten digits of every number."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


def unversioned(text: str) -> str:
    """Text without versions, with ten digits of long numbers; of pages without style and script."""
    text = re.sub(r"<(style|script)>.*?</\1>|'sha256-[^']*'|(?<=versions</th>)[^\n]*", "", text, flags=re.DOTALL)
    text = re.sub(r'"versions": \{[^}]*\}', '"versions": {}', text)
    text = re.sub(r',\n  "checksum": "\w+"', "", text)
    text = re.sub(r"(?<=[|,])version:[^|\s]*|(?<=sigjax:)\d[\w.]*", "", text)  # of sacrebleu, and in our signature
    return re.sub(r"\d+\.\d{7,}(e[+-]?\d+)?", lambda number: f"{float(number[0]):.10g}", text)


def numbers(value: Any) -> Any:
    """What is left of values without words; of text the numbers, in their order."""
    if isinstance(value, dict):
        return {key: numbers(each) for key, each in value.items() if key not in WORDS}
    if isinstance(value, list):
        return [numbers(each) for each in value]
    return re.findall(r"\d[\d.e+-]*", value) if isinstance(value, str) and "\n" in value else value


def digest(result: Any) -> str:
    """Digest of the numbers and digest of everything."""
    everything = plain(result)
    hashes = (hashlib.sha256(json.dumps(each).encode()) for each in (numbers(everything), everything))
    return " ".join(each.hexdigest()[:12] for each in hashes)


def is_chosen(name: str, pattern: str) -> bool:
    """Whether a name contains or matches a pattern."""
    return pattern in name or fnmatchcase(name, pattern)


def results(pattern: str, device: str | None) -> Iterator[tuple[Case, str, Any]]:
    """Chosen cases, devices, and results, which are None where a package is missing."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for case in (*reports(), *others()):
            devices = [device] if device else ["numpy", "cpu"] if case.compiled else ["numpy"]
            for each in devices if is_chosen(case.name, pattern) else ():
                there = all(find_spec(package) for package in case.needs.split())
                yield case, each, _made(case, each) if there else None


def _made(case: Case, device: str) -> Any:
    """The result, or the error that is there instead."""
    try:
        return case.make(device)
    except Exception as error:
        return error


def difference(made: str, known: str | None) -> str | None:
    """How a digest, or "failed", differs from the one that was written."""
    if made == "failed" or made == known:
        return made if made == "failed" else None
    return "new" if known is None else "words" if made.split()[0] == known.split()[0] else "numbers"


def check(pattern: str = "", device: str | None = None, *, write: bool = False) -> int:
    """Print which results differ, and how; give how many."""
    known = json.loads(DIGESTS.read_text(encoding="utf-8")) if DIGESTS.exists() else {}
    made, missing = {}, set()
    for case, each, result in results(pattern, device):
        if result is None:
            missing |= {package for package in case.needs.split() if not find_spec(package)}
        elif isinstance(result, Exception):
            made[case.name, each] = "failed"
            print(f"{case.name} ({each}): {type(result).__name__}: {' '.join(str(result).split())}", file=sys.stderr)
        else:
            made[case.name, each] = digest(result)
    if write and "failed" not in made.values():
        names = [case.name for case in (*reports(), *others())]
        known = {name: known[name] for name in names if name in known} | {name: new for (name, _), new in made.items()}
        known = {name: known[name] for name in names if name in known}
        DIGESTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    wrong = [(difference(new, known.get(name)), name, each) for (name, each), new in made.items()]
    wrong = [one for one in wrong if one[0]]
    for how, name, each in wrong:
        print(f"{how:<8}{name} ({each})")
    print(f"{len(made)} results, {len(wrong)} not as written; not installed: {', '.join(sorted(missing)) or '-'}")
    return len(wrong)


def main() -> int:
    """Check, write or show."""
    parser = argparse.ArgumentParser(description="Check that results of every kind are the ones that were written.")
    parser.add_argument("--write", action="store_true", help="write these digests to digests.json")
    parser.add_argument("--show", metavar="NAME", help="print a result")
    parser.add_argument(
        "--only", metavar="PATTERN", default="", help="part of the names, or a pattern such as 'board: *'"
    )
    parser.add_argument("--device", choices=("numpy", "cpu", "gpu"), help="make all results on this device")
    asked = parser.parse_args()
    if asked.show:
        for case, _, result in results(asked.show, asked.device or "numpy"):
            if isinstance(result, Exception):
                raise result
            if case.name == asked.show:
                value = plain(result)
                print(value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False))
        return 0
    return min(1, check(asked.only, asked.device, write=asked.write))


if __name__ == "__main__":
    sys.exit(main())
