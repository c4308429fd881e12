"""Is every convention guarded? Changes one line of sigjax at a time, and expects the test that is named to fail.

    python tests/mutants.py            # all
    python tests/mutants.py tie        # those whose names hold this word

The line is found by its text, which stands once in sigjax, so that it may move. The change is made in a copy.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import sigjax

HERE, PACKAGE = Path(__file__).parent, Path(sigjax.__file__).parent


class Mutant(NamedTuple):
    line: str
    """Part of a line that stands once in sigjax."""
    changed: str
    test: str
    """What fails: a test, or several."""


MUTANTS = {
    "a tie does not count": Mutant(
        "return abs(values) >= abs(observed) - tolerance",
        "return abs(values) > abs(observed) + tolerance",
        "test_compare.py",
    ),
    "a Monte Carlo p may be 0": Mutant(
        "return (exceed + 1) / (resamples + 1)", "return exceed / resamples", "test_inference.py"
    ),
    "Holm's multiplier is one too small": Mutant(
        "np.maximum.accumulate(p * (last[-1] - first + 1))",
        "np.maximum.accumulate(p * (last[-1] - first))",
        "test_inference.py",
    ),
    "a step of maxT may have a smaller p than the one before": Mutant(
        "np.maximum.accumulate(p_values[self.order][::-1])[::-1]", "p_values[self.order]", "test_maxt.py"
    ),
    "the cipher rotates by another number": Mutant("(13, 15, 26, 6)", "(13, 15, 26, 7)", "test_draws.py"),
    "the window of the exact test is too small": Mutant(
        "np.minimum(reach, np.ceil(DEVIATIONS * deviation))",
        "np.minimum(reach, np.ceil(2.0 * deviation))",
        "test_exact.py",
    ),
    "mid-p leaves ties out": Mutant(
        "log_p = log_p + np.log1p(-0.5 * np.exp(ties.log_p - log_p))",
        "log_p = log_p + np.log1p(-1.0 * np.exp(ties.log_p - log_p))",
        "test_exact.py",
    ),
    "BCa leaves out the bias of ties": Mutant(
        "np.count_nonzero(replicates <= observed + tolerance)",
        "np.count_nonzero(replicates < observed - tolerance)",
        "test_intervals.py",
    ),
    "percentile intervals are one-sided": Mutant(
        "return (1.0 - level) / 2.0, (1.0 + level) / 2.0", "return 1.0 - level, level", "test_intervals.py"
    ),
    "an outlier stretches an interval without limit": Mutant(
        "_STRETCH = 2.0", "_STRETCH = 9.0", "test_intervals_closed.py"
    ),
    "stopping forgets how often it looks": Mutant(
        "1.0 - ERROR / (num_pairs * len(looks))", "1.0 - ERROR / num_pairs", "test_stopping.py"
    ),
    "fixed point takes rounded numbers for exact ones": Mutant(
        "if np.array_equal(whole / divisor, column):", "if decimals > 1:", "test_units.py"
    ),
    "a significant difference is one with p = alpha": Mutant(
        "(p_adjusted.values < settings.alpha) &", "(p_adjusted.values <= settings.alpha) &", "test_ranks.py"
    ),
    "missing results are filled in where they were to be dropped": Mutant(
        'if missing == "drop":', 'if missing == "zero":', "test_readers.py"
    ),
    "formulas reach spreadsheets": Mutant(
        'return f"\'{escaped}" if escaped.lstrip().startswith(_FORMULA) else escaped',
        "return escaped",
        "test_visible.py",
    ),
    "other data have the same fingerprint": Mutant(
        "digest.update(stats.data)", "digest.update(stats.data[:0])", "test_checkpoint.py test_extension.py"
    ),
}


def main() -> None:
    """Try the mutants; exits with 1 where a change was not noticed."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    left = [name for name, mutant in MUTANTS.items() if wanted in name and not noticed(name, mutant)]
    print(f"not noticed: {', '.join(left) or 'none'}")
    sys.exit(bool(left))


def noticed(name: str, mutant: Mutant) -> bool:
    """Whether the test fails when the change is made; prints which one it was."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "sigjax")
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        (file,) = [path for path in copy.rglob("*.py") if mutant.line in path.read_text(encoding="utf-8")]
        text = file.read_text(encoding="utf-8")
        assert text.count(mutant.line) == 1, mutant.line
        file.write_text(text.replace(mutant.line, mutant.changed), encoding="utf-8")
        tests = [str(path) for test in mutant.test.split() for path in HERE.rglob(test)]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--rootdir", str(HERE), *tests],
            env=os.environ | {"PYTHONPATH": folder},
            cwd=folder,
            capture_output=True,
            text=True,
        )
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    said = failed[0].split(" - ")[0].rpartition("/")[2].removeprefix("FAILED ") if failed else done.stdout[-300:]
    print(f"{name} ({file.relative_to(copy)}): {said}", flush=True)
    return done.returncode == 1 and bool(failed)


if __name__ == "__main__":
    main()
