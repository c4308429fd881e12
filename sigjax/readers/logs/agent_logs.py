"""Logs of agents: terminal-bench, tau-bench and tau2-bench; a task may have several trials, which are its runs."""

from collections import Counter
from functools import partial

from sigjax.files.opening import read_text
from sigjax.readers.formats import Format, looks_like
from sigjax.readers.json_files import Item, item_at, load_entries, load_item, parse_json
from sigjax.readers.logs.driver import Result, Row, log_reader
from sigjax.readers.options import Options
from sigjax.records import InputError

_TOLERANCE = 1e-9


# terminal-bench: results.json of `tb run`, one per run; a trial without an outcome (is_resolved null) is not resolved.


def _terminal_bench(file: str, _: Options) -> list[Result]:
    found = load_item(file)
    seen, rows, lacking = Counter[str](), [], 0
    for trial in found.items("results", "trial"):
        task = trial.text("task_id")
        seen[task] += 1
        lacking += trial.value("is_resolved") is None
        value = 0.0 if trial.get("is_resolved") is None else trial.number("is_resolved")
        rows.append(Row({"resolved": value}, task, str(seen[task])))
    note = f"{file}: {lacking} of {len(rows)} trials have no outcome (is_resolved null); they count as not resolved"
    published = partial(_published, file, found)
    return [Result(file, rows, notes=(note,) if lacking else (), published=published)]


def _published(file: str, found: Item, score: str, mean: float) -> tuple[list[str], bool]:
    """A note where the file's own accuracy is another."""
    accuracy = found.get("accuracy")
    if score != "resolved" or not isinstance(accuracy, int | float) or abs(accuracy - mean) <= _TOLERANCE:
        return [], False
    return [f"{file}: the mean of resolved is {mean:.6g}, but its accuracy is {accuracy:.6g}"], False


TERMINAL_BENCH = Format(
    "terminal-bench",
    "results.json of terminal-bench",
    "systems",
    log_reader(_terminal_bench, files_are_runs=True, main="resolved"),
    looks_like(rb'"results"\s*:\s*\[\s*\{[^{}]{0,999}?"(trial_name|task_id)"', rb'"is_resolved"'),
    folder="*/results.json",
    tasks=True,
    begins=(b"{",),
)

# tau-bench: a list of trials; tau2-bench: one object, whose simulations are the trials.


def _tau(file: str, _: Options) -> list[Result]:
    loaded = parse_json(file, read_text(file))
    if isinstance(loaded, list):
        trials = list(load_entries(file))
        rows = [Row({"reward": one.number("reward")}, one.text("task_id"), one.text("trial", 0)) for one in trials]
        return [Result(file, rows)]
    found = item_at(file, loaded)
    info = found.item("info")
    agent, environment = info.item("agent_info", {}), info.item("environment_info", {})
    facts = {
        "domain": environment.text("domain_name", "unknown"),
        "simulated user": info.item("user_info", {}).text("llm", "unknown"),
    }
    inside = "simulations" if found.get("simulations") else "simulation_index"
    if not found.get(inside):
        raise InputError(f"{found.place('simulations')}: is empty; expected trials")
    rows = [_simulation(one) for one in found.items(inside, "simulation")]
    lacking = sum(not row.scores for row in rows)
    note = f"{file}: {lacking} of {len(rows)} simulations have no reward; they are missing results, as in tau2"
    return [Result(file, rows, agent.text("llm") if agent.get("llm") else "", (note,) if lacking else (), facts)]


def _simulation(one: Item) -> Row:
    """A trial: of `simulations`, or of `simulation_index`, where each has a file of its own."""
    holder = one if one.get("reward_info") is None else one.item("reward_info")
    scores = {} if holder.get("reward") is None else {"reward": holder.number("reward")}
    if scores:
        scores["success"] = float(abs(scores["reward"] - 1) <= 1e-6)
    return Row(scores, one.text("task_id"), one.text("trial", 0))


TAU = Format(
    "tau-bench",
    "results of tau-bench or tau2-bench",
    "systems",
    log_reader(_tau, must_agree={"domain": "compare agents on the same tasks"}, main="reward"),
    looks_like(
        rb'\A\s*(\{(?s:.{0,999}?)"info"\s*:\s*\{[^{}]*?"num_trials"\s*:'
        rb'|\[\s*\{\s*"task_id"\s*:\s*\d+\s*,\s*"reward"\s*:\s*[-\d.]+\s*,\s*"info"\s*:\s*\{)'
    ),
    begins=(b"{", b"["),
)
