"""Evaluation -> units: what is exchangeable, as whole numbers in fixed point.

Read `units` first; `fixed_point` makes every sum exact whatever its order, `outputs` tells repeated runs apart, and
`sums` adds floats in one fixed order.
"""
