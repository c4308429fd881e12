"""Logs of evaluation harnesses: a reader says what a file holds of each system, and the driver does the rest.

Read `driver` first, then a format: a function `results(file, options)` and a `Format` made with `log_reader`. `items`
are JSON objects that know where they stand.
"""
