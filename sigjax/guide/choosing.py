"""Choosing a test: which one when, and what p means.

permutation (default)   Could the labels of the two systems be exchanged? To
                        decide whether two systems differ. Exact where at most
                        two statistics differ between the systems (accuracy, a
                        mean, F1), or at most 20 units; otherwise it samples.
bootstrap               How would the difference vary on other test sets? A
                        second opinion on p: approximate for small test sets,
                        and needs two units. Without sampling for means.

--test permutation bootstrap runs both. Standard errors and intervals come with
either.

WHAT p IS

How often a difference at least this large arises when the outputs of the two
systems are exchanged at random. A small p says that chance is a poor
explanation. A large p says that this test set cannot tell, not that the systems
are equal (sigjax equivalence tests that), and no p says how large a difference
is: that is delta, with its interval.

The permutation test asks whether the two systems' results can be exchanged, not
whether their means are equal: where differences are strongly skewed about 0 (a
few large losses against many small gains), it rejects at 5% in 15% of test sets
of 10 instances, 11% of 30 and 8% of 100, although both are as good on average.

adjusted p       made fit for the number of pairs: decide by this one (sigjax
                 help corrections)
exact            no sampling error (sigjax help exact)
Monte Carlo      comes with an interval for the p of infinitely many resamples;
                 the report says which decisions more resamples could change,
                 and about how many would settle them
one-sided        --alternative greater: is the first system of the pair, in the
                 order of the data, better? For a direction chosen before
                 looking.

UNITS

Tests take instances for independent. Where they are not (sentences of a
document, questions of a topic), give --cluster; for repeated runs see sigjax
help designs.

LEVEL, MEASURED

How often each test rejects where there is nothing to find, and how often each
interval holds the truth, is measured in benchmarks/README.md (Calibration).
Permutation tests keep their level, and so do default intervals but for strongly
skewed scores or differences on up to 30 units (7 to 10% at 5%). The bootstrap
on 30 units, and tests that ignore clusters, do not. `sigjax audit` measures it
on your own data.

ONE SYSTEM AGAINST A NUMBER, AND SYSTEMS ON DIFFERENT INSTANCES

sigjax one-sample, sigjax unpaired: see sigjax help studies.

OTHER PROGRAMS

--compat sacrebleu scipy ranx adds what their formulas give on the same
resamples, where their decision is another one, and why.

AGREEMENT OF LABELS

`sigjax association LABELS GOLD` (in Python `association_test`) asks whether
labels agree with gold labels more than the same labels in random order would:
for one system or annotator against chance. It says nothing about two systems.

    >>> import sigjax
    >>> gold = ["Polish", "Premium", "Russian", "Budget"]
    >>> labels = ["Polish", "Premium", "Budget", "Russian"]
    >>> round(sigjax.association_test(gold, labels).p_value, 4)  # 7 of 24
    0.2917

Its two-sided p is twice the smaller of the one-sided ones, at most 1. It is
exact where agreements can be counted in a few seconds, or where at most
1,000,000 tables have the same margins; method="exact" goes further, to a minute
or 10,000,000 tables.
"""
