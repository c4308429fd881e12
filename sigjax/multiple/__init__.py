"""Many pairs at once: Westfall-Young adjustments, which pairs are decided, ranks, and how many differences are real.

Read `adjustment` first, then `ranks` and `discoveries`. Corrections of p-values alone are in `records.settings`.
"""
