"""Tagged tokens, labels, term lists and segmentations: NER, chunking, classification.

`tokens` compares tagged tokens, and the spans that they mark, with the gold ones; `conll` and `hipe` parse their files.
`labels` and `segmentation` stand alone.
"""
