"""Many pairs at once: Westfall-Young adjustments, which pairs are decided, ranks, and how many differences are real.

Read `decisions` first, then `discoveries`. Corrections of p-values alone are in `records.settings`.
"""
