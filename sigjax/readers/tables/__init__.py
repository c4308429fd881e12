"""Tables, wide or long: tsv, csv, JSON lines, Parquet, NumPy archives, data frames and lines of numbers.

Read `text` first, then `layouts` (wide and long).
"""
