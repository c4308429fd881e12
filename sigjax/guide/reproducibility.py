"""Reproducibility: seeds, long runs, more resamples, verify.

THE SAME NUMBERS

- The same seed gives the same report on NumPy, CPU and GPU, with any number of
  devices and processes. Seeds are whole numbers, 0 included; the default is
  12345. More resamples extend the list of those already drawn.
- Draws go by the order of the instances: that of the files as they are given,
  whichever systems are chosen. In another order the same instances meet other
  draws, so sampled numbers differ by Monte Carlo error (a study of 500
  repetitions by some hundredths).
- The last line of a report is its signature: with the same data, systems and
  columns it gives the same numbers again.
- `sigjax verify out.json FILES...` compares the files again: exit code 0 if the
  data and the numbers are the same (to the last bit, or up to 1e-9 of
  rounding), 3 if anything differs, with the first difference.
- Other versions of Python, NumPy, SciPy and JAX, and other processors, give the
  same draws, counts, scores, standard errors, bootstrap intervals (BCa
  included) and score intervals (Wilson, Tango), to the last digit. p-values of
  exact tests that are not counted, limits of p (`p_interval`), intervals by t,
  simultaneous ones, and those from summaries (--memory) agree to ten digits,
  since libraries and processors round functions such as exp differently.
  Functions of your own round as the libraries that they call. JSON names the
  versions (`versions`).

AS MANY RESAMPLES AS THE DECISION NEEDS

--resamples auto looks at a permutation test after 8,192 resamples, then after
twice as many each time, up to 1,048,576, and leaves out the pairs whose
decision is settled: whatever happens to the other p-values, the adjusted p
would stay on its side of 0.05. The probability that any settled decision of a
test differs from that of infinitely many resamples is at most 0.001. What is
not settled at the cap is listed (`settled`; `resamples_needed`: about how many
would do). p stays valid, and is a little larger than (exceed + 1) / (resamples
+ 1). Where p itself matters and not the decision, give a number. The rule is
that of Gandy and Hahn (2014).

LONG RUNS

    sigjax compare t.tsv --resamples 1e7 --checkpoint run.ckpt -o a.json
    sigjax compare t.tsv --resamples 2e7 --extend a.json -o b.json

--checkpoint FILE   Keeps how far the run is, every five seconds. The same
                    command after Ctrl-C, a kill or a power cut goes on from
                    there, says so, and gives the same report, byte for byte, on
                    any device. Exact tests are not kept. The file stays when
                    the run is done; delete it when you no longer need it. It is
                    refused, not overwritten, if the data, the settings or the
                    version differ. Of several processes, the first reads and
                    writes it for all. It holds counts, and bootstrap replicates
                    while they are drawn (8 bytes per system and resample).
--extend OLD.json   Adds resamples: --resamples is the new total, everything
                    else stays. The report is that of a new run with the larger
                    number. Permutation tests go on from the counts of the old
                    report, which is refused where they do not fit its other
                    numbers; bootstrap and exact tests are computed again. In
                    Python: report.extend(resamples=...).
A new system        Under the same seed it meets the same resamples: p of all
                    earlier pairs stays. Adjusted p changes, since there are
                    more pairs; so may the last digits of intervals and standard
                    errors from summaries (--memory).

    >>> import random, sigjax
    >>> draw = random.Random(1)
    >>> scores = {name: [draw.gauss(0, 1) for _ in range(30)] for name in "AB"}
    >>> report = sigjax.compare(scores, method="montecarlo", resamples=1000)
    >>> again = sigjax.compare(scores, method="montecarlo", resamples=5000)
    >>> report.extend(resamples=5000) == again
    True
"""
