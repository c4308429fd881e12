"""GPUs: what XLA needs to know to compile for them, and their peaks."""

from __future__ import annotations

from typing import NamedTuple

from hlo import Work

_LIMITS = """threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152
  threads_per_core_limit: 2048 block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  registers_per_core_limit: 65536 registers_per_block_limit: 65536"""


class Chip(NamedTuple):
    """What XLA needs to know of a GPU, and its peaks.

    From the vendor's data sheets; operations per clock are those of the CUDA C++ Programming Guide.
    """

    name: str
    cores: int
    clock: float
    """GHz."""
    bandwidth: float
    """Bytes a second."""
    memory: int
    cache: int
    shared: tuple[int, int]
    """Bytes of a multiprocessor, and of a block."""
    capability: tuple[int, int]
    per_clock: dict[str, int]
    """Operations per clock and multiprocessor: int, f32, f64."""
    tensor: dict[str, float]
    """Operations a second of products by the type of their operands."""

    def target(self) -> str:
        """The description that XLA takes."""
        return f"""gpu_device_info {{ {_LIMITS} shared_memory_per_core: {self.shared[0]}
  core_count: {self.cores} fpus_per_core: {self.per_clock["f32"]} memory_bandwidth: {self.bandwidth:.0f}
  l2_cache_size: {self.cache} clock_rate_ghz: {self.clock} device_memory_size: {self.memory}
  shared_memory_per_block_optin: {self.shared[1]}
  cuda_compute_capability {{ major: {self.capability[0]} minor: {self.capability[1]} }} }}
platform_name: "CUDA" dnn_version_info {{ major: 9 minor: 7 }}
runtime_version {{ major: 12 minor: 8 patch: 0 }} device_description_str: "{self.name}" """

    def seconds(self, work: Work) -> dict[str, float]:
        """The least time of each part of the work."""
        rates = {kind: each * self.cores * self.clock * 1e9 for kind, each in self.per_clock.items()}
        rates |= {f"{kind} product": each for kind, each in self.tensor.items()}
        return {"memory": work.bytes / self.bandwidth} | {
            kind: count / rates[kind] for kind, count in work.operations.items()
        }


CHIPS = {
    "H100": Chip(
        "NVIDIA H100 80GB HBM3", 132, 1.98, 3.352e12, 84929347584, 52428800, (233472, 232448), (9, 0),
        {"int": 64, "f32": 128, "f64": 64}, {"s8": 1979e12, "f32": 67e12, "f64": 67e12},
    ),
    "A100": Chip(
        "NVIDIA A100-SXM4-80GB", 108, 1.41, 2.039e12, 85028306944, 41943040, (167936, 166912), (8, 0),
        {"int": 64, "f32": 64, "f64": 32}, {"s8": 624e12, "f32": 19.5e12, "f64": 19.5e12},
    ),
    "B200": Chip(
        "NVIDIA B200", 148, 1.965, 8.0e12, 191510904832, 132644864, (233472, 232448), (10, 0),
        {"int": 64, "f32": 128, "f64": 64}, {"s8": 4500e12, "f32": 75e12, "f64": 37e12},
    ),
}  # fmt: skip
