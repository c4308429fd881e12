"""Parsing: dependency trees (CoNLL-U), phrase structure trees and the output of evalb.

`treebank` parses CoNLL-U; `conllu` matches its words with the gold ones and counts. `phrases` stands alone.
"""
