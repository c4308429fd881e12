"""What decisions and resamples on all pairs say of the systems themselves.

`significance_ranks` turns decisions into ranks, letters and clusters; `bootstrap_ranks` takes bootstrap replicates.
"""
