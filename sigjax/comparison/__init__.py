"""The front door: evaluations -> tests of all pairs -> `Report`.

Read `compare` first (also for two arrays, as SciPy takes them), then `families` (all metrics: tests, adjustment by
family, named results) and `analysis` (the tests of one subset of the instances). `checks` refuses what cannot be used,
`notes` says what readers should know, and `compat` what another program would say.
"""
