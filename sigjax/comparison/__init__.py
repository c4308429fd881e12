"""The front door: evaluations -> tests of all pairs -> `Report`.

Read `compare` (also for two arrays, as SciPy takes them), then `families`, `run_tests` with `metric_kinds`, and
`assemble`; `validate` and `workload` refuse what cannot be used, and `notes` says what readers should know.
"""
