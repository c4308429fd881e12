"""The front door: evaluations -> tests of all pairs -> `Report`.

Read `compare`, then `assemble`, `run_tests` and `adjust`; `validate` refuses what cannot be used, `notes` says what
readers should know, and `paired` takes two arrays as SciPy does.
"""
