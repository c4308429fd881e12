"""The front door: evaluations -> tests of all pairs -> `Report`.

Read `compare` first (also for two arrays, as SciPy takes them), then `analysis`: subsets of the instances, their tests,
adjustment by family, ranks. `notes` are rules over the drafts that it makes, `checks` refuses what cannot be used.
"""
