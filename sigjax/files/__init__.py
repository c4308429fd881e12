"""Files as bytes: opened within bounds, written whole or not at all.

Read `opening` for what may be read (also gzip and pipes), then `writing`. What bytes mean is the business of `readers`.
"""
