"""The front door: evaluations -> tests of all pairs -> `Report`.

Read `compare` first (also for two arrays, as SciPy takes them), then `analysis` (the tests of one evaluation, a
subset of instances at a time) and `families` (adjustment, and what a report holds of it). `checks` refuses what
cannot be used, `notes` says what readers should know, and `compat` what other programs would say.
"""
