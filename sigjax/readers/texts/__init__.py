"""Machine translation and other texts, scores of segments, and word alignments.

Read `texts` first; `alignment` counts links of words.
"""
