"""Where and how work runs; nothing here changes a number.

Read `backend` (NumPy or JAX, and the one cache of compiled programs), `host` (cores, memory, terminal), `share` and
`processes` (several processes), then `checkpoint` and `resume` (runs that continue).
"""
