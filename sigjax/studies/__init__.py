"""Experiments made of many comparisons: audit (type-I errors), power, equivalence.

A study calls `compare` and the rooms below it; it adds no resampling of its own. `pilot` makes trials from data,
`trials` tests them, `audit` and `power` count what the tests say; `tost` has the tests behind `equivalence`. Formulas
are in `formulas`, results in `records`, and `text` and `figures` show them.
"""
