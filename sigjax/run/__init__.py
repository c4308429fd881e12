"""Where and how work runs: devices, threads, progress, files. This room changes no result.

Read `context` first: a report hands it down to its tests (device, progress, checkpoint), and each test asks it for a
`Run`. `backend` chooses NumPy or JAX, and holds the only cache of compiled programs. `loops` has the operations that
NumPy and JAX spell differently. `shards` continues or divides runs. `files` reads files within size limits, and writes
a file whole or not at all.
"""
