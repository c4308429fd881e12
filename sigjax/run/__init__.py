"""Where and how work runs; nothing here changes a number.

Read `context` first: what a report hands down to its tests (device, progress, checkpoint), and the `Run` that
each test asks it for. `backend` is NumPy or JAX, and the one cache of compiled programs; `loops` is what both spell
differently. `shards` are for runs that continue or are divided, and `files` are bytes,
opened within bounds and written whole or not at all.
"""
