"""What is installed and where sigjax can run."""

from sigjax.version import installed_version, versions

_MISSING = "not installed"
_EXTRAS = {
    "mt": "sacrebleu",
    "rouge": "rouge-score",
    "ir": "pytrec-eval-terrier",
    "dataframe": "narwhals",
    "parquet": "pyarrow",
    "plot": "matplotlib",
}


def installed() -> dict[str, str]:
    """Versions, devices and extras, as name -> text.

    Example:
        >>> list(installed())
        ['sigjax', 'python', 'numpy', 'scipy', 'jax', 'jaxlib', 'devices', 'extras']
    """
    extras = [f"{extra} ({installed_version(package) or _MISSING})" for extra, package in _EXTRAS.items()]
    packages = versions() | {"jaxlib": installed_version("jaxlib")}
    named = {name: found or _MISSING for name, found in packages.items()}
    return named | {"devices": _devices(), "extras": ", ".join(extras)}


def _devices() -> str:
    """Devices that `--device` can use."""
    try:
        import jax

        kinds = [f"{device.platform}:{device.id} ({device.device_kind})" for device in jax.local_devices()]
    except (ImportError, RuntimeError) as error:
        return f"numpy; JAX cannot be used ({error})"
    return f"numpy, {', '.join(kinds)}"
