"""Studies: other questions on the same files.

They take the files and options of `sigjax compare`; `sigjax COMMAND --help` has
the details. In Python: sigjax.audit, power, equivalence, classical_tests,
one_sample, unpaired, and the rest in sigjax.studies.

TWO SYSTEMS (--systems A B)

sigjax tests FILES...
    The classical tests beside the permutation test and the bootstrap, with what
    each assumes: paired t, Wald z, sign, Wilcoxon, McNemar (exact, mid-p,
    chi-square), and those that take the systems for independent (two-sample t,
    binomial z, chi-square), with the correlation of the systems to show what
    that costs; of -m wer-sclite also MAPSSWE of sc_stats. Tests that the metric
    does not allow are left out, with the reason.
sigjax audit FILES...
    How often does each test find a difference where there is none, on these
    data? The outputs of random units are swapped (--null swaps), or the units
    of one system are dealt into two random halves (--null splits). --classical
    audits the classical tests, too.
sigjax power FILES... --instances 100 200 500
    How likely is a test to find the difference on a test set of this size, and
    what is the least difference that it finds? (The spread is taken for known:
    with few pilot instances a little more is needed.)
sigjax equivalence FILES... --margin 0.5
    Are systems alike up to a margin, or (--claim non-inferiority) is one not
    worse by it? By the tests of the default intervals. With --method bootstrap
    and fewer than 30 units equivalence is found too often; where differences
    are strongly skewed, by both. A large p of a test for differences shows
    neither.

ONE SYSTEM, OR DIFFERENT INSTANCES

sigjax one-sample FILES... --against 0.5
    Is a score above (not) a number: accuracy 0.5, the middle of a scale, a
    published figure? One system is enough. Answers right or wrong: exact
    binomial test. Means of other numbers, and shares of clusters against 1/2:
    sign flips, the permutation test against a system that has the number
    everywhere. Other shares, F1, BLEU and the like, for which a sign flip has
    no meaning: t by the jackknife. The number is taken for certain. Of few and
    skewed numbers sign flips reject too often (ratings of which 80% are 1, 15%
    2 and 5% 5: 15 of them in 25%, 200 in 6%); a warning says where t decides
    otherwise. Instances of systems in files of their own may differ.
sigjax unpaired FILES...
    Systems tested on different instances, as many as each has: permutation of
    instances (or clusters) between them, and the rank-sum test. Fisher's exact
    test where answers are right or wrong, two-sided by |delta*| >= |delta|. On
    the same instances sigjax compare has more power; there, --overlap insists.
    Systems with gold files of their own: sigjax extract each, then unpaired.

ALL PAIRS (sigjax study NAME)

gains         Sets the gain of every pair against its confidence 1 - p
              (--figure), and gives thresholds: 95% of the pairs with p from
              0.04 to 0.06 gain no more. --groups FILE (a system and its group
              per line) gives pairs of one group thresholds of their own.
              Intervals are for other systems like these; pairs share systems,
              so they are open above unless there are many systems.
size          The same on growing parts of the files (initial segments, or
              --subsets random): fits the threshold to c / sqrt(n) and to a
              power of n, and says how many instances a gain (--gain; by default
              that of the best system) needs to be significant.
calibration   Takes the files as the whole population and draws test sets of
              --instances 500 from it: how often is the winner of a test with p
              from 0.04 to 0.06 (--p-range) the better system of the population?
              About 1 - p of them, p one-sided, where true differences vary,
              fewer where they are small.
domain        Tests all pairs on the first file (or stratum), and says how often
              the winners win on the others, by p.
synthetic     Writes families of systems for these studies: mixtures of the
              outputs of two systems each, as correlated as asked
              (--correlation 0.9 -o MADE.npz; --families FILE names groups).
              --generator words and runs write the data of Zmigrod et al. (2022)
              and of Van Asch (2013), and need no files.

audit, power, calibration and mixtures take metrics of sums; the others also
take metrics of whole columns, such as the median. The experiments behind these
studies are Berg-Kirkpatrick et al. (2012) and Yeh (2000); notebooks/02, 04 and
05 make their figures and tables.
"""
