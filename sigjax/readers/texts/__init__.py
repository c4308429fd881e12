"""Machine translation and other texts, scores of segments, and word alignments.

Read `texts` first. `segment_scores` reads what other tools of translation scored; `alignment` counts links of words.
"""
