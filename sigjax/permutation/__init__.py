"""The permutation test: without sampling where that is possible, else by random swaps.

Read `exact` and `montecarlo`; `exchanges` holds the designs that tell repeated runs apart, and `two_samples` the
unpaired test.
"""
