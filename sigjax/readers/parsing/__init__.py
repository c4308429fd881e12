"""Parsing: dependency trees (CoNLL-U), phrase structure trees and the output of evalb.

Read `treebank` and `wordmatch`, then `conllu`; `trees` and `brackets` stand alone.
"""
