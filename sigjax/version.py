"""The version of sigjax (defined only here), and the versions of the packages that compute its numbers."""

import os
import sys
from contextlib import suppress
from functools import cache

__version__ = "0.1.0"


@cache
def installed_version(package: str) -> str | None:
    """The version of an installed package, without importing it; None if it is not installed."""
    name = package.replace("-", "_")
    for folder in sys.path:
        with suppress(OSError):
            for entry in os.listdir(folder or "."):
                if entry.startswith(f"{name}-") and entry.endswith(".dist-info"):
                    return entry.removesuffix(".dist-info").removeprefix(f"{name}-")
    from importlib.metadata import PackageNotFoundError, version  # this import takes longer than a short comparison

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def install_command(*packages: str) -> str:
    """The command that installs packages for the running Python; it works in any folder.

    >>> install_command("sacrebleu>=2.5,<3").endswith("pip install 'sacrebleu>=2.5,<3'")
    True
    """
    import shlex
    import shutil
    from importlib.util import find_spec

    python = "python" if shutil.which("python") == sys.executable else shlex.quote(sys.executable)
    pip = f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"
    return f"{pip} {shlex.join(packages)}"


def versions() -> dict[str, str | None]:
    """The versions by name. Reports contain them, because another version may be the reason for other numbers.

    >>> list(versions())
    ['sigjax', 'python', 'numpy', 'scipy', 'jax']
    """
    packages = {name: installed_version(name) for name in ("numpy", "scipy", "jax")}
    return {"sigjax": __version__, "python": sys.version.split()[0]} | packages
