"""From statistics to conclusions: tests of pairs, p-values, intervals, corrections.

`permutation` and `bootstrap` put a question about pairs to `exact` or `resample` and turn the null distribution or
tally that comes back into p-values; the other files are small functions on arrays with a pair or resample axis.
Conventions (printed with every result): ties count as extreme, a Monte Carlo p-value is (exceed + 1) / (resamples +
1), standard errors use ddof = 1. Nothing here knows systems by name.
"""
