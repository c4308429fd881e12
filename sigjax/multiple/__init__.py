"""Multiple comparisons: adjusted p-values, decisions on pairs, ranks, and the number of real differences.

Read `decisions` first, then `discoveries`. Corrections of p-values alone are in `records.settings`.
"""
