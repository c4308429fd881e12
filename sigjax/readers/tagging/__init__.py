"""Tagged tokens, labels, term lists and segmentations: NER, chunking, classification.

`tokens` compares tagged tokens with the gold ones and counts `spans`; `conll` and `hipe` parse files of tokens.
`labels` and `segmentation` stand alone.
"""
