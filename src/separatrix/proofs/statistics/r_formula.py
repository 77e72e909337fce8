"""What a formula means in R, and its translation to the grammar of formulaic."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError

# Text in quotes or backticks, which is never changed, or something else.
QUOTED = r"""("[^"]*"|'[^']*'|`[^`]*`)|"""
# What R writes, outside quotes, and what it means to formulaic.
TRANSLATIONS = (
    (r"(?<![\w.])[A-Za-z][\w.]*::", ""),
    (r"(?<![\w.])(?:as\.)?(?:factor|ordered)(?=\s*\()", "C"),
    (r"(?<![\w.])(C\(\s*[\w.]+\s*,\s*)(?=c\()", r"\2levels="),
    (r",\s*ordered\s*=\s*TRUE\b", ""),
    (r"(?<![\w.])as\.numeric(?=\s*\()", "I"),
    (r"\bTRUE\b", "True"),
    (r"\bFALSE\b", "False"),
    (r"(?<![\w.])([A-Za-z]\w*(?:\.\w+)+)(?![\w.]*\s*\()", r"`\2`"),
)
SURVIVAL = {2: ("time", "event"), 3: ("entry", "time", "event"), 1: ("time",)}


@dataclass(frozen=True)
class Written:
    """A formula in parts.

    Attributes
    ----------
    left : str
        The response, empty if ``columns`` has it.
    right : str
    columns : dict of str to str
        Names or expressions of further columns.
    model : str or None
        The model that the left side, or a term, implies.
    """

    left: str
    right: str
    columns: dict[str, str]
    model: str | None = None

    @property
    def text(self) -> str:
        """The formula without the further columns."""
        return f"{self.left} ~ {self.right}"

    @property
    def everything(self) -> bool:
        """Whether the right side has a dot, for all other columns."""
        return "." in map(str.strip, re.split(r"[-+*:/^()]", re.sub(QUOTED + "$^", "", self.right)))


def read_written(formula: str) -> Written:
    """Take a formula apart and translate its calls; refuse random effects."""
    if formula.count("~") != 1:
        raise InputError(f"The formula {formula!r} has no '~', or several; write 'label ~ variables'.")
    left, right = (_translated(side.strip()) for side in formula.split("~"))
    random = re.search(r"(?:\([^()]*\||frailty\s*\()\s*([^()]*)\)", re.sub(QUOTED + "$^", "", right))
    if random:
        group = re.split("[/:,]", random[1])[-1].strip()
        raise InputError(
            f"The formula {formula!r} has a random effect, {random[0]}; mixed models are not answered here. "
            "If the fixed effects alone have no estimate, neither has the mixed model: leave it out.",
            remedy=f"Or ask with an intercept for each group: groups={group!r}.",
            parameter="groups",
        )
    columns, kept, model = dict[str, str](), list[str](), None
    for term in split(right, "+"):
        called = re.fullmatch(r"\s*(offset|strata|cluster)\s*\((.*)\)\s*", term)
        if called is None:
            kept.append(term)
        elif called[1] == "strata":
            columns["strata"], model = (
                ", ".join(filter(None, [columns.get("strata"), called[2]])),
                "conditional",
            )
    call = re.fullmatch(r"(Surv|cbind)\s*\((.*)\)", left)
    if call is not None:
        parts = [part.strip() for part in split(call[2], ",")]
        names = SURVIVAL.get(len(parts), ()) if call[1] == "Surv" else ("y", "failures")[: len(parts)]
        if len(names) != len(parts):
            raise InputError(
                f"The formula {formula!r} has a call of {call[1]}() with {len(parts)} arguments."
            )
        columns |= dict(zip(names, parts, strict=True))
        left, model = "", "cox" if call[1] == "Surv" else "binomial"
    elif not left:
        raise InputError(f"The formula {formula!r} has no left side; write 'label ~ variables'.")
    elif re.search("[<>]|[!=]=", left) and not re.match(r"\w+\s*\(", left):
        left = f"I({left})"
    return Written(left, "+".join(kept).strip() or "1", columns, model)


def _translated(side: str) -> str:
    """Translate what is written differently, and write ``**`` for ``^`` inside calls."""
    for pattern, new in TRANSLATIONS:
        side = re.sub(QUOTED + pattern, partial(_unless_quoted, new), side)
    depths, written = list[bool](), ""
    for part in re.split(QUOTED + r"([\w.]*\s*\(|\)|\^)", side):
        if part is None:
            continue
        if part.endswith("(") and not part.startswith(('"', "'", "`")):
            depths.append(part.strip() != "(" or any(depths))
        elif part == ")" and depths:
            depths.pop()
        written += "**" if part == "^" and depths and depths[-1] else part
    return written


def _unless_quoted(new: str, found: re.Match[str]) -> str:
    return found[1] or found.expand(new)


def split(text: str, mark: str) -> list[str]:
    """Cut a text at a mark that is not in parentheses, quotes or backticks."""
    parts, depth = [""], 0
    for piece in re.findall(r""""[^"]*"|'[^']*'|`[^`]*`|.""", text, flags=re.DOTALL):
        depth += (piece in "([") - (piece in ")]") if len(piece) == 1 else 0
        if piece == mark and not depth:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def c(*values: Any) -> list[Any]:
    """Return a list, as R's ``c()`` does."""
    return list(values)


def natural_spline(x: Any, df: int) -> NDArray[np.float64]:
    """Return columns that span natural cubic splines with knots at quantiles, as R's ``ns(x, df)`` does.

    With the constant they are 1, x and ``d_k - d_K``, where ``d_k = ((x - t_k)+^3 - (x - t_last)+^3) /
    (t_last - t_k)`` for the knots t (Hastie, Tibshirani and Friedman 2009, section 5.2.1).
    """
    values = np.asarray(x, dtype=np.float64)
    knots = np.quantile(values, np.linspace(0.0, 1.0, df + 1))
    last = np.maximum(values - knots[-1], 0.0) ** 3
    parts = [(np.maximum(values - knot, 0.0) ** 3 - last) / (knots[-1] - knot) for knot in knots[:-1]]
    return np.column_stack([values, *(part - parts[-1] for part in parts[:-1])])


FUNCTIONS = {"ns": natural_spline, "c": c, "sqrt": np.sqrt, "log1p": np.log1p}
