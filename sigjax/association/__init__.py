"""Do labels agree with gold labels more than chance, given how often each label was used?

`association` asks and answers; `assignments` makes the exact null distribution, in which every assignment of the
labels to the instances is equally likely.
"""
