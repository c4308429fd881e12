"""Where and how work runs: devices, threads, progress, files. No result depends on this package.

Read `context` first: a report makes a `Context` (device, progress, checkpoint) and hands it down to its tests. Each
test gets a `Run` from it. `backend` chooses NumPy or JAX, and holds the only cache of compiled programs. `loops` has
the operations that are written differently in NumPy and in JAX. `shards` resumes a run, extends it, or divides it into
parts. `files` reads files within size limits, and writes a file completely or not at all.
"""
