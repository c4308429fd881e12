"""Tagged tokens, labels and terms: NER, chunking, classification, segmentation.

Read `tokens` and `columns` first, which the formats share.
"""
