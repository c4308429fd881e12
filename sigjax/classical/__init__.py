"""Classical tests beside the resampling tests: paired ones such as McNemar, sign, Wilcoxon and t, and unpaired ones.

Read `tests` and `unpaired` first (`mapsswe` is the one of speech recognition); `applicable` decides which of them apply
to two systems, `classical` runs them, and `text` shows them.
"""
