"""Machine translation and other texts, scores of segments, and word alignments.

Read `texts` first; `links` parses alignments for `alignment`.
"""
