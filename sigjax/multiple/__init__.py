"""Many pairs at once: Westfall-Young adjustments, how sure each decision is, and the ranks that decisions leave.

Read `westfall_young` first, then `decision` and `ranks`. Adjustments of p-values alone are in `records.corrections`.
"""
