"""Experiments made of many comparisons: gain curves, test size, calibration, power, audit.

A study calls `compare` and the parts below it; it adds no resampling and no inference of its own.
"""
