"""Toy models and a task for evaluation harnesses, which two tests run where these are installed."""

import json
import random
from importlib import import_module

NUMBER = 120
"""Questions of the task."""
RIGHT = {"good": 0.9, "bad": 0.4, "worse": 0.2}
"""Model -> the share of questions that it answers."""


def is_right(name, question):
    """Whether a model answers a question."""
    return random.Random(f"{name} {question}").random() < RIGHT[name]


def harness_model(asked):
    """The class of toy models of lm-evaluation-harness; `asked` gets the questions of each model."""
    harness = import_module("lm_eval.api.model")

    class Toy(harness.LM):
        def __init__(self, name):
            super().__init__()
            self.name, self.questions = name, asked.setdefault(name, [])

        @classmethod
        def create_from_arg_string(cls, text, more=None):
            return cls(text.partition("=")[2])

        def generate_until(self, requests, **_):
            some = [request.args[0].rstrip("?") for request in requests]
            self.questions += map(int, some)
            return [text if is_right(self.name, int(text)) else "no" for text in some]

        def loglikelihood(self, requests, **_):
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    return Toy


def write_task(folder, monkeypatch):
    """The task `toy` of lm-evaluation-harness in a folder; no network is asked."""
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(folder / "cache"))
    lines = (json.dumps({"question": f"{i}?", "answer": str(i)}) + "\n" for i in range(NUMBER))
    (folder / "questions.jsonl").write_text("".join(lines))
    (folder / "toy.yaml").write_text(
        f"task: toy\ndataset_path: json\ndataset_kwargs:\n  data_files:\n    test: {folder}/questions.jsonl\n"
        "test_split: test\noutput_type: generate_until\ndoc_to_text: '{{question}}'\ndoc_to_target: '{{answer}}'\n"
        "generation_kwargs:\n  until: []\nmetric_list:\n  - metric: exact_match\n"
    )
