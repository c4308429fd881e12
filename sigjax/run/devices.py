"""Which devices there are, why no GPU, and whether one has too little memory."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from sigjax.version import installed_version

DRIVERS = {"12": (525, 60, 13), "13": (580,)}
"""The oldest driver for each version of CUDA under Linux, as JAX's and NVIDIA's installation guides say."""
_CARDS = ("/dev/nvidia0", "/dev/nvidiactl", "/dev/dxg")
"""What shows that there is a GPU of NVIDIA: of the machine, in containers, and within Windows (WSL2)."""
_DRIVER = "/proc/driver/nvidia/version"
UNUSABLE = (RuntimeError, AssertionError)
"""What JAX raises where a device is missing: an assertion where JAX_PLATFORMS names nothing that is there."""


class Facts(NamedTuple):
    """What decides whether JAX sees a GPU."""

    system: str
    """Linux, Darwin or Windows."""
    card: bool
    """Whether the machine shows a GPU of NVIDIA."""
    driver: str
    """The version of its driver; "" where it is not known."""
    packages: Mapping[str, str]
    """The version of JAX's CUDA package, by that of CUDA."""
    jaxlib: str
    platforms: str
    """JAX_PLATFORMS."""
    visible: str | None
    """CUDA_VISIBLE_DEVICES."""
    error: str
    """JAX's own words."""


def lacking(facts: Facts) -> str:
    """Why JAX sees no GPU, and what to do.

    Example:
        >>> print(lacking(Facts("Linux", True, "550.54.14", {}, "0.10.2", "", None, "")))
        JAX's CUDA packages are not installed; install sigjax[cuda12]
    """
    driver = tuple(map(int, re.findall(r"\d+", facts.driver)))
    fits = {cuda: not driver or driver >= oldest for cuda, oldest in DRIVERS.items()}
    extra = "cuda13" if driver and fits["13"] else "cuda12"
    others = [version for version in facts.packages.values() if version != facts.jaxlib]
    if facts.system != "Linux":
        return f"JAX has no CUDA packages for {facts.system}, only for Linux, and on Windows within WSL2"
    if not facts.card:
        return "this machine shows no NVIDIA GPU; a container sees those alone that it was started with"
    if not fits["12"]:
        return f"the NVIDIA driver {facts.driver} is too old; CUDA 12 needs 525.60.13 or newer, and CUDA 13 needs 580"
    if not facts.packages:
        return f"JAX's CUDA packages are not installed; install sigjax[{extra}]"
    if not any(fits.get(cuda, True) for cuda in facts.packages):
        return f"the NVIDIA driver {facts.driver} is too old for CUDA 13, which needs 580; install sigjax[cuda12]"
    if others:
        return f"JAX's CUDA package is {others[0]}, but jaxlib is {facts.jaxlib}; install sigjax[{extra}] anew"
    if facts.platforms and not {"cuda", "gpu"} & set(facts.platforms.split(",")):
        return f"JAX_PLATFORMS is {facts.platforms!r}; unset it, or set it to 'cuda,cpu'"
    if facts.visible is not None and facts.visible.strip() in ("", "-1", "NoDevFiles"):
        return f"CUDA_VISIBLE_DEVICES is {facts.visible!r}, which hides all GPUs; unset it"
    return f"JAX says: {' '.join(facts.error.split())}"


def driver_in(text: str) -> str:
    """The version of the driver, in its own words of `/proc/driver/nvidia/version`; "" where they have none.

    Example:
        >>> driver_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023")
        '535.104.05'
    """
    version = re.search(r"\s(\d{3,}(?:\.\d+)+)(?!\S)", text.partition("NVRM")[2].partition("\n")[0])
    return version[1] if version else ""


def facts() -> Facts:
    """The facts of this machine."""
    import jax

    try:
        error = f"there is {jax.local_devices(backend='cuda')[0]}"
    except UNUSABLE as failure:
        error = str(failure)
    driver = driver_in(Path(_DRIVER).read_text(encoding="utf-8") if os.path.exists(_DRIVER) else "")
    versions = {cuda: installed_version(f"jax-cuda{cuda}-plugin") for cuda in DRIVERS}
    return Facts(
        system=platform.system(),
        card=any(map(os.path.exists, _CARDS)),
        driver=driver,
        packages={cuda: version for cuda, version in versions.items() if version},
        jaxlib=installed_version("jaxlib") or "",
        platforms=os.environ.get("JAX_PLATFORMS", ""),
        visible=os.environ.get("CUDA_VISIBLE_DEVICES"),
        error=error,
    )


def devices() -> dict[str, str]:
    """What `--device` can be, what auto takes, and why there is no GPU: name -> text."""
    try:
        import jax

        found = jax.local_devices()
    except (ImportError, *UNUSABLE) as error:
        no_jax, why = f"numpy; JAX cannot be used ({first_line(error)})", "JAX cannot be imported"
        why = why if isinstance(error, ImportError) else lacking(facts())
        return {"devices": no_jax, "auto": "NumPy", "gpu": f"not used: {why}"}
    cpus: list[Any] = []
    with suppress(*UNUSABLE):  # JAX_PLATFORMS=cuda leaves them out
        cpus = jax.local_devices(backend="cpu")
    gpus = [device for device in found if device.platform == "gpu"]
    every = [*found, *(device for device in cpus if device not in found)]
    names = ", ".join(f"{device.platform}:{device.id}" for device in found)
    return {
        "devices": ", ".join(["numpy", *(f"{each.platform}:{each.id} ({each.device_kind})" for each in every)]),
        "auto": f"NumPy for work of about a second, else JAX on {names}",
        "gpu": "used by auto" if gpus else f"not used: {lacking(facts())}",
    }


def first_line(error: BaseException) -> str:
    """What JAX says of a device that is not there, in one line."""
    named = f"JAX_PLATFORMS is {os.environ.get('JAX_PLATFORMS')!r}, and this machine has none of these"
    return str(error).partition("\n")[0] or named


def out_of_memory(error: RuntimeError) -> bool:
    """Whether the memory of a device was too small."""
    return "RESOURCE_EXHAUSTED" in str(error)
