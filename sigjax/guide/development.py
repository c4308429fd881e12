"""Development: where things are, and how to add something.

ROOMS

The folders of sigjax/ are rooms, in the order in which data passes through
them. Each says in its __init__.py what belongs there and what to read first.
Imports go one way (tests/test_layers.py).

records                  options (each declared once), metric, evaluation,
                         comparison
files, run               files as bytes; devices, processes, checkpoints
metrics, units           statistics and scores; what is exchangeable, in fixed
                         point
readers                  files -> Evaluation, a folder per kind of data
resample, exact          Monte Carlo: bits -> plans -> project -> tally ->
                         engine; null distributions without sampling
testing                  problem and result of a test, p-values, the runner
permutation, bootstrap,  the tests, all intervals, Westfall-Young corrections,
multiple, ranking        ranks
report, comparison       Report and its formats; compare
association, classical,  other questions
studies
guide, cli               the pages of `sigjax help`; the command line

TO ADD SOMETHING

write the oracle test first: a number is tested against something that did not
come from us.

a metric       A record in the tuple at the end of a file of metrics/ (example:
               ratios.py); a new file is one name in metrics/registry.py. Its
               second formula goes into REGISTRY of tests/test_laws.py, and a
               line into `sigjax help metrics`.
a reader       A `Format` in a file of readers/ (example: tables/lines.py), in
               the tuple of readers/detect.py that says which files it takes;
               new endings in readers/formats.py; sound files in SAMPLES of
               tests/mutations.py, and in CASES of tests/matrix.py with a row of
               tests/README.md; a line in `sigjax help formats`. Logs give rows
               to readers/logs/driver.py.
a column name  A word in readers/tables/vocabulary.py; a new kind of column is a
               rule in readers/tables/roles.py.
an interval    A subclass of `Percentile` in a file of bootstrap/ (example:
               `Basic`); its name in `IntervalKind` and, in the same order, a
               line in bootstrap/registry.py; its sentence in the help of
               `Settings.interval`.
a correction   Its name in `PValueCorrection` and its record in `CORRECTIONS`
               (records/corrections.py); the entry that the record cites in
               data/references.bib; what statsmodels calls it in `STATSMODELS`
               of tests/oracles.py (example: Hochberg's). Flags, pages and all
               outputs are made from the record.
an option      That changes numbers: a field of `Settings`
               (records/settings.py). Flag, check, help, signature, JSON and its
               schema, checkpoints and reports read back are made from it. Use
               it where it acts, and refuse it in comparison/validate.py where a
               test, interval or design would ignore it (example: `mid_p`). One
               that changes no number is a field of `CompareOptions`.
a design       Its name in `Design`; its units (units/units.py), test
               (permutation/exchanges.py), draws (bootstrap/sampled.py) and
               refusals (comparison/validate.py) (example: `crossed`).
a help page    A file of guide/, and its name in `TOPICS`.

DIGESTS

`python tests/digests.py` makes some 680 small results in about a minute and
names those that changed. A change that is meant needs new digests (--write, or
--write --only NAME) and a line in sigjax/CHANGELOG.md. A new name of an option
or metric changes the digests of messages that list all names.

Tests against real data run where SIGJAX_DATA names their folder. Speed is
measured in benchmarks/, never in tests. `.ci/run` does what is asked of every
change.
"""
