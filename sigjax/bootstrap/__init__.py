"""The bootstrap test, standard errors and all intervals, one kind per file.

Read `shared_draws` and `replicates` first, then `exact` (no sampling) and `sampled`. Intervals come from replicates
(`intervals`, `bca`, `studentized`, `simultaneous`), from swaps (`inversion`), or from neither (`closed` and what it
calls).
"""
