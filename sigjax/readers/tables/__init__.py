"""Tables, wide or long: tsv, csv, JSON lines, Parquet, NumPy archives, data frames and lines of numbers.

Read `tables` first, then `wide` and `long`.
"""
