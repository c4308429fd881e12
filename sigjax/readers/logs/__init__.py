"""Logs of evaluation harnesses: a reader says what a file holds of each system, and the driver does the rest.

Read `driver` first, then a format: a function `results(file, options)` and a `Format` made with `log_reader`. Logs are
one JSON value (`json_logs`), one line or row per instance (`row_logs`), archives (`inspect_logs`), trials of agents
(`agent_logs`), tests of prompts (`prompt_logs`), or lists of ids (`swebench`).
"""
