"""Make `sigjax/data/demo.tsv`: named-entity counts of five made-up taggers on 200 sentences of 20 documents.

`bilstm` and `bilstm-copy` are identical, `crf` and `bilstm` are close, `rules` is far behind.

    python benchmarks/make_demo.py > sigjax/data/demo.tsv
"""

import numpy as np

CHANCE_TO_FIND = {"transformer": 0.90, "bilstm": 0.84, "crf": 0.82, "rules": 0.55}
FALSE_ALARMS = {"transformer": 0.15, "bilstm": 0.25, "crf": 0.27, "rules": 0.40}


def main() -> None:
    """Print the table."""
    rng = np.random.default_rng(2000)
    gold = rng.poisson(1.6, 200)
    difficulty = rng.normal(0.0, 0.08, 200)
    rows = {}
    for system, chance in CHANCE_TO_FIND.items():
        tp = rng.binomial(gold, np.clip(chance - difficulty, 0.0, 1.0))
        rows[system] = (tp, tp + rng.poisson(FALSE_ALARMS[system], 200))
    rows["bilstm-copy"] = rows["bilstm"]
    print("system\tsentence\tdocument\ttp\tpredicted\tgold")
    for system, (tp, predicted) in rows.items():
        for i in range(200):
            print(f"{system}\ts{i + 1:03d}\td{i // 10 + 1:02d}\t{tp[i]}\t{predicted[i]}\t{gold[i]}")


if __name__ == "__main__":
    main()
