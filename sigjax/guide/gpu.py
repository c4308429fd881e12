"""CPU, GPU and NumPy: where the work runs.

It changes the time, and never the numbers: the same seed gives the same report
on every device.

--device auto    The default: NumPy where it finishes in about a second, else
                 JAX on the GPU if there is one, else JAX on the CPU.
--device numpy   Without compiling: for small work.
--device cpu     JAX on all cores, compiled: for large work, and for many
                 comparisons in one process.
--device gpu     JAX on the GPUs; refused where JAX sees none.

`sigjax info` lists the devices, and says why there is no GPU. Where JAX has no
usable backend, auto warns and runs on NumPy.

INSTALL FOR A GPU

    nvidia-smi                   # the driver: 525.60 or newer for cuda12, 580
                                 # for cuda13
    pip install ".[cuda12]"      # or cuda13
    sigjax info                  # gpu: used by auto, or why not

One process uses all GPUs that it sees; several machines: sigjax help
distributed. Where its memory is too small, tiles of resamples are halved. Exact
tests and metrics of whole columns run on the CPU. Sums are whole numbers, exact
on every device; scores are computed in float64.

COMPILED PROGRAMS

serve all data of similar size, as long as a process lives. To keep them for the
next one, name a folder by JAX's own variables (sigjax writes none by itself):

    export JAX_COMPILATION_CACHE_DIR=FOLDER
    export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0

IN OTHER PROGRAMS

Importing sigjax changes no setting, and loads JAX only when it is needed.
Reports do not depend on what is set in JAX (transfer guards, rank promotion,
disable_jit, debug_nans, 64 bits). JAX cannot be called inside a function that
it traces (jax.jit), nor in a process that was forked after JAX had started:
start workers by spawn. There auto runs on NumPy, and cpu and gpu are refused.
"""
