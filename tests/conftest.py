"""Fixtures for all tests. JAX runs on two CPU devices and under strict promotion: no type is widened by accident."""

import json
import os
import pathlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import settings

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "2")
os.environ.setdefault("JAX_NUMPY_DTYPE_PROMOTION", "strict")
# No folder: tests leave nothing in the cache of whoever runs them.
os.environ["SIGJAX_CACHE_DIR"] = os.devnull

# A busy machine fails no test, and every run tries the same examples: new ones are for whoever looks for them
# (pytest --hypothesis-profile=search), not for whoever changed something else.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile("same")


@pytest.fixture(autouse=True, scope="session")
def _no_width():
    """Workers of xdist have `COLUMNS`, by which text that is printed is as wide."""
    os.environ.pop("COLUMNS", None)


@pytest.fixture(autouse=True, scope="session")
def _no_marks() -> Iterator[None]:
    """Messages, notes and all that is written for people hold no mark of a `Hint`, as it is or escaped."""
    from sigjax.records import Message, Note, display

    marked = re.compile(r"(\ufdd0|\\ufdd0)[a-z]")
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in ((Message, "shown"), (Note, "__new__"), (display, "_escaped")):
            original = getattr(owner, name)

            def checked(*args: Any, original: Callable[..., Any] = original, **keywords: Any) -> Any:
                made = original(*args, **keywords)
                assert not marked.search(made), f"marks of a hint: {made!a}"
                return made

            patch.setattr(owner, name, checked)
        yield


@pytest.fixture(scope="session")
def data() -> pathlib.Path:
    """The folder of real data, when the environment names it."""
    folder = os.environ.get("SIGJAX_DATA")
    if not folder:
        pytest.skip("SIGJAX_DATA is not set: the real data is not part of the repository")
    return pathlib.Path(folder)


@pytest.fixture
def write(tmp_path: pathlib.Path) -> Callable[[str, str | bytes], pathlib.Path]:
    """Write a file of this name, in a folder of its own if it names one, with this content; gives its path."""

    def write_file(name: str, content: str | bytes) -> pathlib.Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.fixture
def here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of `write` are in the working directory."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def compared(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """The JSON report of `sigjax compare` with these arguments, by permutation tests and without intervals."""
    from sigjax.cli import _run

    def run(*arguments: object) -> Any:
        quick = ("-q", "--interval", "none", "--test", "permutation", "--resamples", "1000", "--format", "json")
        code = _run(["compare", *map(str, arguments), *quick], debug=False)
        out, err = capsys.readouterr()
        assert (code, err) == (0, "")
        return json.loads(out)

    return run


@pytest.fixture
def table(write: Callable[[str, str | bytes], pathlib.Path]) -> pathlib.Path:
    """60 answers of three systems."""
    rows = "".join(f"q{i}\t{i % 2}\t{i % 3 % 2}\t{i % 5 % 2}\n" for i in range(60))
    return write("t.tsv", f"id\tA\tB\tC\n{rows}")


@pytest.fixture
def as_in_python(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> Callable[[Sequence[str], Any], str]:
    """Run the command of a study, which must write what Python gives, and its figure; gives the text."""
    from sigjax.cli import _run

    def run(command: Sequence[str], study: Any) -> str:
        figure = tmp_path / "f.png"
        assert _run([*command, "--format", "json", "--figure", str(figure)], debug=True) == 0
        found = json.loads(capsys.readouterr().out)
        assert found == json.loads(study.to_json())
        assert found["schema"] == f"sigjax-{type(study).__name__.lower()}/1"
        assert figure.read_bytes().startswith(b"\x89PNG")
        assert _run(command, debug=True) == 0
        text = capsys.readouterr().out
        assert text == str(study)
        return text

    return run
