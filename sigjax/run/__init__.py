"""Where and how work runs; nothing here changes a number.

Read `backend` (NumPy or JAX, and the one cache of compiled programs) and `host` (cores, memory, terminal) first.
`files` are bytes, opened within bounds and written whole or not at all; `checkpoint` is for runs that continue,
`shards` for several processes.
"""
