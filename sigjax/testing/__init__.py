"""What every test is given and what it gives back: problems, outcomes, p-values.

Read `problem` and `p_values` first, then `runner`; `stopping` is the rule of resamples="auto", and `tails` has the
tails of known laws.
"""
