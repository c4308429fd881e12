"""From evaluations to a `Report`: tests of all pairs.

Read `compare` first (it also has the tests of two arrays, as in SciPy). Then read `analysis`: subsets of the instances,
their tests, adjustment by family, ranks. `notes` writes the notes from the tables that `analysis` makes. `checks`
refuses options and data that cannot be used.
"""
