"""Logs of evaluation harnesses: each file of this folder reads those of one program.

Read `scores` first, which all of them share.
"""
