"""Find phrases that a reader has to decode: ``python tests/phrases.py docs examples README.md``.

Every entry is a pattern and what to write instead. docs/writing.md explains how we write. A space in a
pattern also matches the end of a line, and the sign of a comment at the beginning of the next one. Add a
pattern only if it is almost never right, because a check with many false alarms would be switched off.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

PHRASES: dict[str, str] = {
    # Rates and amounts
    r"(bytes?|characters|one|once|numbers?|weights?|vectors?|lists?|columns?|tasks?|sentences?|commands?|"
    r"pictures|lines?|float|rows?|labels?|entries|products|models?|GB|MB|s) a (row|column|class|second|"
    r"number|list|job|item|task|shard|block|pass|pair|piece|line|file|product|step|round|reading|mistake|"
    r"kind)": 'use "per" for rates: one weight per class',
    r"so many": "say how many, or what the number depends on: N processes",
    r"those many": "say the number: products of k of its numbers",
    r"after so long": "name the limit: after this many seconds",
    r"as (much|many) again": '"twice as much", "twice as many"',
    r"of equal ones": '"of several equal rows"',
    r"every two": '"every pair of": every pair of classes',
    r"every this": "say what the number means: the number of seconds between two saved states",
    # Negation
    r"(is|are) (?-i:none)": '"there are no rows", "is not a number"',
    r"(has|have) none (on|in|of)": "say what is missing: has no row on the wrong side",
    r"(?<!there\s)(is|are|was|were) no (features?|floats?|numbers?|kernels?|measurements?|probability|"
    r"probabilities|part|files?|columns?|planes?|table|proof)": 'use "not": is not a float',
    r"(has|have|had) not[.;:]": "repeat the verb: other kernels do not have this form",
    r"not even that": "say what does not hold",
    r"solve[sd]? nothing": '"independent of the solver"',
    r"(does|do) not do[,;:]": '"is not enough", "fails"',
    r"but for": '"except for", "except"',
    r"for want of": '"because there is no", "too narrow for"',
    r"on no package index": '"not on PyPI"',
    # Conditions
    r"(null|true|false|NaN|empty|absent|zero) where": 'use "if" for conditions: null if it is undecided',
    r"where (none|nothing|that) (is|was|does|did)": 'use "if" for conditions',
    r"[.;:] who (names|gives|has|wants|asks)": '"if `--target` is missing", "anyone who"',
    r"(was|is|were) not asked of": '"was not tested on", "was not run for"',
    r"asked of": '"asked about"',
    r"gap asked for": '"the requested gap"',
    # Word order and verbs that English uses otherwise
    r"in the (place|stead) of": '"instead of"',
    r"(below|beside|above|behind) (it|them|this) stands?": '"below that you see"',
    r"stands? (in|at|on|below|beside|above|behind|between|there|under|where|before|first)": '"is"',
    r"goes on (from|with|where|and|in|until|to)": '"continues"',
    r"gives? back": '"returns"',
    r"(is|are) let go( of)?": '"is released", "is dropped"',
    r"thus found": '"found in this way"',
    r"is said": "name who says it: the message says",
    r"(is|are) told": "name who says it: the message lists the columns",
    r"such as (are|is|come|comes|has|have|were|was)": 'use "that": files that are made to fill a disk',
    r"is to be (had|expected|found|seen)": '"is available", "we expect"',
    r"is there in full": '"is complete"',
    r"(read|reads|begins?|called|grows?|decides?) (\S+ ){0,3}alike": '"in the same way"',
    r"mend(s|ed|ing)?": '"fix", "correct"',
    r"anew": '"again"',
    r"besides[.;:]": '"also", before the verb',
    r"the other way round": '"vice versa"',
    r"all the same": '"anyway", "nevertheless"',
    r"for the asking": '"on request"',
    r"to and fro": '"in both directions"',
    r"for ever": '"forever"',
    r"as ever": '"as usual", or leave it out',
    r"(one|two) long[.,;:]": '"of length one"',
    r", there (it|they) (is|are)": "say what exists: the map is available as",
    r"bit by bit": '"bit for bit"; "bit by bit" means gradually',
    r"(draws?|drawn|chosen|wired|made) (\w+ )?by chance": '"at random"',
    r"chance repeatable": '"seed of the random number generator"',
    r"(hold|holds|held) (it |them |the (\S+ ){1,5}|every \w+ )?against": '"compare with"',
    r"weighs? out": '"average to one point"',
    r"as what they are": '"by their type"',
    r"taken for each other": '"confused with each other"',
    r"shared out": '"divided among"',
    r"(speaks?|spoken) of": '"is about", "describes"',
    # Private terms and pictures
    r"planes? anywhere": '"hyperplanes with an intercept"',
    r"(hold|holds|holding) (them all|all (the )?rows)": '"contains all rows"',
    r"leaves? nothing to chance": '"uses no random numbers"',
    r"leads? a learner": '"runs one online pass over the rows"',
    r"no w survives": '"a certificate that no separating w exists"',
    r"(count|length of) the ways|how long the ways": '"call paths"',
    r"doors?": "name the thing: an attack, an entry point",
    r"house rules": '"contributing"',
    r"what has to be believed": '"what you have to trust"',
    r"in the words of (R|statistics|statisticians)": '"in R\'s notation", "the statistical term"',
    r"fill a disk": '"decompression bomb"',
    r"told how": '"inferred"',
    r"a cell that is (none|two)": '"a cell that is not a number, or could be read in two ways"',
    # American spelling that codespell does not know
    r"(learnt|spelt|burnt|whilst|amongst|towards)(?!\.\w| =)": "American spelling: learned, toward",
}
KINDS = {".py", ".md", ".rst", ".js", ".html"}
GENERATED = {"_build", "generated", "__pycache__"}
MADE = ("docs/course", "docs/applications", "docs/benchmarks")  # by `make docs`
QUOTING = ("docs/writing.md", "tests/phrases.py")  # these name the phrases
HELP = re.compile(r"^\| `(--|[A-Z]+`).*$", re.MULTILINE)  # in docs/cli.md: the help in src, checked there


def search(phrase: str) -> re.Pattern[str]:
    """Compile a phrase: whole words, in either case, over the ends of lines and signs of comments."""
    start = "" if phrase[0] in ",[" else r"(?<![\w-])"
    spaced = phrase.replace(" ", r"[\s#]+")
    return re.compile(rf"{start}(?:{spaced})(?![\w-])", re.IGNORECASE)


SEARCHES = {search(phrase): advice for phrase, advice in PHRASES.items()}


def found_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line number, phrase and advice for every phrase that the text contains."""
    for pattern, advice in SEARCHES.items():
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), advice


def files(places: list[str]) -> Iterator[Path]:
    """Yield the files to check in these folders, and the files that are named themselves."""
    for place in map(Path, places):
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            name = path.as_posix()
            skipped = GENERATED & set(path.parts) or name.startswith(MADE) or name in QUOTING
            if path.suffix in KINDS and not skipped:
                yield path


def main(places: list[str]) -> int:
    """Print every phrase with its place; return 1 if there is one."""
    failed = False
    for path in files(places):
        text = path.read_text(encoding="utf-8")
        for line, phrase, advice in sorted(found_in(HELP.sub("", text) if path.name == "cli.md" else text)):
            sys.stdout.write(f"{path}:{line}: {phrase!r}: {advice}\n")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
