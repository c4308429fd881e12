"""The front door: evaluations -> tests of all pairs -> `Report`.

Read `compare`, then `assemble` and `run_tests`; `validate` refuses what cannot be asked, `notes` says what readers
should know, and `paired` takes two arrays as SciPy does.
"""
