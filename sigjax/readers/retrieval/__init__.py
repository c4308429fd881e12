"""Retrieval: relevance judgments with runs, and the output of trec_eval; `measures` computes the measures.

Read `trec` first.
"""
