"""Retrieval: relevance judgments with runs, and the output of trec_eval.

Read `trec` first; `measures` computes the measures of runs.
"""
