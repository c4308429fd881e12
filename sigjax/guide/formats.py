"""Formats: what is read, and the command for each.

The format is recognized by names, first bytes and metric; --reader NAME says
which. Systems are named after their files, or by NAME=FILE. All files may be
packed with gzip, and - is standard input. `sigjax info formats` lists the
metrics of each format, and `sigjax doctor FILES...` says how files are
understood, what is wrong with them, and which command compares them.

TABLES (tsv, csv, spaces, json, jsonl,     sigjax compare FILE -m accuracy
  parquet, npz)
  wide: one row per instance, one column per system; or long: columns `system`,
  an instance id, and the counts of the metric: -m fscore --counts
  tp=las_correct predicted=sys_words gold=gold_words; or one file per system;
  or battles: model_a, model_b, winner (sigjax help designs); # begins comments

ALL SYSTEMS IN ONE FILE                    sigjax compare FILE
  mt-metrics-eval   NAME.seg.score   ... --missing drop --cluster en-de.docs
  comet             JSON of comet-score --to_json          ... -m COMET
  mqm            errors marked by raters (Google's tsv)  ... --cluster document
  appraise       ratings exported by Appraise (DA, ESA)  ... --filter eng-deu
  paired-perm       lines with the counts of A and of B (paired-perm-test)

ONE FILE PER SYSTEM                        sigjax compare FILE FILE ...
  numbers        one number per line; or 2 or 4, as for smartschat/art
  lm-eval        samples of lm-evaluation-harness, or their folder
                 ... modelA/ modelB/ -m exact_match --filter strict-match
  inspect        logs of Inspect, .json or .eval      ... --cluster FIELD
  helm           per_instance_stats.json, or the folder of the run
  eee            instances of Every Eval Ever
  lighteval      details_*.parquet (extra parquet)    ... A=FILE B=FILE
  alpaca-eval    annotations.json, or its folder      ... --reader alpaca-eval
  swebench       reports, leaderboards.json, details ... --cluster repository
  terminal-bench results.json, or the folder of its runs
  tau-bench      results of tau-bench or tau2-bench, with their trials
  promptfoo      JSON of eval -o: all prompts and providers, also in one file
  deepeval       test runs of DeepEval                ... -m Faithfulness
  mteb           folders of models with a file per task; a task is an instance
  trec-eval      what trec_eval -q, ir_measures --by_query, pytrec_eval write
  brackets, errant  what evalb writes, what errant_compare -v prints
  conll          tagged tokens, gold tag and guess last (conlleval)
  timbl          features, gold label, predicted label (art.py)

GOLD FILES, THEN THE SYSTEMS               sigjax compare GOLD -i FILE FILE ...
  texts          one segment per line  ... ref.txt -i a.txt b.txt -m bleu chrf
  labels         one label per line       ... -m macro-fscore mcc kappa
  kaldi          transcripts, ID WORD ... (Kaldi's text)       ... -m wer
  trn            transcripts, WORD ... (ID), as sclite's     ... -m wer-sclite
  stm            transcripts with times; ctm of systems  ... --cluster speaker
  id-labels      an id and a label per line, or {ID: LABEL}, JSON   ... -m mcc
  m2             edits of sentences, M2 (ERRANT)     ... -m f0.5 precision
  swebench-results  results.json, after a list of all ids  ... all_preds.jsonl
  squad          answers to questions, JSON           ... --cluster article
  conll-gold     tagged tokens, the tag last (mbt: <utt> after a sentence)
  hipe           tables of HIPE             ... --match fuzzy --tolerant
  conllu         dependency trees, CoNLL-U            ... -m las mlas blex
  trees          phrase structure trees, one per line
  segmentation   SIGMORPHON 2022                      ... --strata category
  alignment      links of words (Pharaoh/TALP, NAACL) ... --swap b -m aer
  terms          term lists (art.py -r)               ... --reader terms
  trec-run       judgments and runs (extra ir)        ... -m ap ndcg@10 p@5
  ranx-json      the same as JSON of ranx             ... -m ndcg@10

Folders of lm-eval, inspect, helm and lighteval with several tasks give a
section for each task, and a suite score, the mean of the task means.

JOINING

Instances are joined by id where the format has ids, else by position, and then
all systems must have as many. The report says which file was taken for the gold
standard. Missing results: --missing (sigjax help conventions). --cluster and
--strata take a field of the format, or a file with one label per line. Trials
(epochs of Inspect, --runs COLUMN in tables) are kept: sigjax help designs.

COUNTING ONCE

Counts of texts stay in ~/.cache/sigjax (or SIGJAX_CACHE_DIR); deleting them
costs only time. For any format, statistics can be saved for later commands:

    sigjax extract ref.txt -i a.txt b.txt -m bleu chrf ter -o eval.npz
    sigjax compare eval.npz --baseline a
"""
