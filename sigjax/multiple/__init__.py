"""Many pairs at once: Westfall-Young adjustments from shared swaps, and how sure each decision is.

Read `maxt` and `minp`, then `decision`. Adjustments of p-values alone are in
`records.corrections`.
"""
