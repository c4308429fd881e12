r"""Output: files, formats, and reading reports back.

The ending of -o is the format, and one run may write several files:

    sigjax compare answers.tsv -m accuracy -o a.json -o a.tex -o a.html

.txt              the tables of the terminal; in files nothing is cut
.json             every number; sigjax.Report.json_schema() is its JSON Schema
.csv              the pairs, one row each; .systems.csv: the systems with ranks
.md, .tex         the table of a paper: systems by metrics, the best in bold,
                  marks for what is significant (daggers against the --baseline;
                  up to 8 systems superscripts name the worse ones; more share
                  letters). LaTeX fits a two-column class.
.html             a web page: sorted tables, heat map, forest plot, chosen pairs
.methods.tex      a methods paragraph, true to the settings, with the BibTeX of
                  what it cites
.sentences.txt    one sentence for every pair

--format NAME is for the terminal and for other endings. In Python: to_json(),
to_csv(), to_latex(), to_methods(), plot() and so on; of="systems" for CSV and
data frames of the systems.

FIGURES (extra plot)

--figure FILE (.png, .pdf, .svg; several times), the kind by its name: scores,
forest, heatmap, groups, gain, and null or bootstrap of --pair A B; for example
--figure board.heatmap.png. In Python: report.plot("heatmap").

READING BACK

sigjax show out.json -o out.tex     writes a report again in any format
sigjax verify out.json FILES...     compares again: the same numbers? (0 or 3)
sigjax diff old.json new.json       what changed between two reports; with
                                    --margin X whether a system got worse: exit
                                    code 0 no, 3 yes, 4 the data cannot tell
Report.from_json("out.json")        in Python; every value as it was

WORDS IN A REPORT

score           of each system, with its standard error and interval: how it
                would vary on other test sets of this size
delta           score of a minus score of b
p, adjusted p   sigjax help choosing, sigjax help corrections
ranks, letters, top group
                sigjax help corrections
signature       the last line: with the same data, systems and columns it gives
                the same numbers again

FILES AND NAMES

- Files are written under another name and renamed when they are complete: a
  full disk or a kill leaves the old file. An output that cannot be written, or
  that the same command reads, is refused before any work.
- Standard output that cannot hold a character gets a plain sign or an escape.
- Control characters in names are shown as \x1b or \u202e; JSON and data frames
  keep names exactly. In CSV, backslashes in names are doubled, and a name that
  begins with =, +, -, @ or ' gets a ' before it, so that no spreadsheet runs
  it: to read a name, drop one leading ' and undo the escapes.
- Exit codes: 0; 2 for bad input, in one line that names the file and the field;
  1 for a failure (--debug shows where).
"""
