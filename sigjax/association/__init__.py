"""Do labels agree with gold labels more than chance, given how often each label was used?

`association` holds the test; `assignments` its exact null distribution, in which every assignment of the labels to
the instances is equally likely; `show` writes the result.
"""
