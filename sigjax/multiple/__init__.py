"""Multiple comparisons: adjusted p-values, decisions on pairs, ranks, and the number of real differences.

Read `decisions` first, then `discoveries`. The corrections that need only p-values are in `records.settings`.
"""
