"""Many pairs at once: Westfall-Young adjustments, which pairs are decided, and the ranks that decisions leave.

Read `adjustment` first, then `ranks`. Corrections of p-values alone are in `records.settings`.
"""
