"""Evaluation -> units: what a test resamples, as whole numbers in fixed point.

Read `units` first; `fixed_point` makes every sum exact whatever its order, `outputs` keeps repeated runs apart, and
`sums` adds floats in one fixed order.
"""
