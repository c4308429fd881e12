"""The version of the package, in one place, and those of the packages that compute its numbers."""

import platform
from functools import cache

__version__ = "0.1.0"


@cache
def installed_version(package: str) -> str | None:
    """The version of an installed package, without importing it; None where there is none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def versions() -> dict[str, str | None]:
    """Versions by name, for reports: should two differ, one sees by what they were made.

    Example:
        >>> list(versions())
        ['sigjax', 'python', 'numpy', 'scipy', 'jax']
    """
    packages = {name: installed_version(name) for name in ("numpy", "scipy", "jax")}
    return {"sigjax": __version__, "python": platform.python_version()} | packages
