"""The paired permutation test: without sampling where that is possible, else by random swaps.

Read `exact` and `montecarlo`; `crossed` and `models` are the designs that tell repeated runs apart.
"""
