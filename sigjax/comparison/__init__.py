"""From evaluations to a `Report`: the tests of all pairs of systems.

Read `compare` first (it also has the tests of two arrays, as in SciPy). Then read `analysis`: it divides the data into
subsets of instances, tests them, adjusts p-values by family, and ranks systems. `notes` writes the notes from the
tables that `analysis` makes. `checks` refuses options and data that cannot be used.
"""
