"""The classical tests beside the resampling tests: McNemar, sign, Wilcoxon, t and their unpaired relatives.

Read `tests` first; `applicable` says which of them the data of two systems allow, and `classical` runs them.
"""
