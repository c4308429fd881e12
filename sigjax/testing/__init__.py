"""What every test is given and what it gives back: problems, results, p-values and their adjustment.

Read `problem` and `result` first, then `p_values` and `runner`; `stopping` is the rule of resamples="auto", and
`alike` finds pairs that are the same problem, `tails` has the tails of known laws.
"""
