"""Evaluation -> units: what a test resamples, as whole numbers in fixed point.

Read `instances` and `units`; `sums` makes every sum the same whatever its order.
"""
