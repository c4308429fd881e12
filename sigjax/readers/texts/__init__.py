"""Machine translation and other texts, segment scores of mt-metrics-eval, and word alignments.

Read `texts` first; `links` parses alignments for `alignment`.
"""
