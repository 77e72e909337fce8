"""Mistake bounds of the budgets: what a run's own sums prove, and what was published."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FORGETRON = "Dekel, Shalev-Shwartz and Singer (2008), SIAM Journal on Computing 37, 1342-1372"
LEAST_BUDGET = 83  # rows of budget that the Forgetron's published bound needs
# For each way of removal: the bound that BudgetBound's notes prove, whose algorithm it is, what it supposes.
BOUNDS = {
    "forgetron": (
        "M <= (1 + S) R^2 |u|^2 + 2 L + Q, with Q the cost of the removals and S of the shrinking",
        FORGETRON,
        "Q and S are those of this run",
    ),
    "random": (
        "E[M] <= (L + B R |u|) / (1 - R |u| / sqrt(B))",
        "Cavallanti, Cesa-Bianchi and Gentile (2007), Machine Learning 69, 143-167",
        "in expectation over the removals; the constants of the paper's own bound are not quoted",
    ),
    "projection": (
        "sqrt(M) <= (R |u| + sqrt(R^2 |u|^2 + 4 (L + |u| D))) / 2, with D the sum of the residuals",
        "Orabona, Keshet and Caputo (2009), Journal of Machine Learning Research 10, 2643-2666",
        "D is that of this run; the paper's own bound is for a largest residual, not for a budget",
    ),
}


@dataclass(frozen=True)
class PublishedBound:
    """The mistake bound that a paper proves for an algorithm, where this run is that algorithm.

    Attributes
    ----------
    algorithm, formula, reference : str
    conditions : str
        What the theorem supposes.
    radius : float
        R: the theorem is for rows of length one, here all are divided by R.
    largest_norm : float
        The bound speaks of u no longer than this.
    missing : str
        The condition that this run does not meet; empty where all are met.

    Notes
    -----
    The self-tuned Forgetron shrinks by the largest phi <= 1 that keeps ``Q <= 15/32 M``, where a removal at
    weight s after the shrinking (of an example z, from w) adds ``s^2 + 2 s - 2 s <w, z>`` to Q. With rows no
    longer than one, ``U = 1/4 sqrt((B + 1) / log(B + 1))`` and ``B >= 83``, it makes at most ``2 |u|^2 + 4
    L`` mistakes, for every u with ``|u| <= U``. This is proved here, on no paper's word.

    Proof: by the notes of `BudgetBound`, ``M <= |u|^2 + C + 2 L + Q``, where C is what the shrinking costs.
    It costs nothing where ``|w| >= U`` after it, and else at most ``|u|^2 (1 - phi) / (1 + phi) <= |u|^2
    log(1 / phi) / 2``. Once ``s <= 1 / sqrt(B + 1)`` and ``|w| <= U``, a removal costs at most ``1 / (B + 1)
    + 2 / sqrt(B + 1) + 1 / (2 sqrt(log(B + 1))) <= 15/32``, so no more shrinking is asked for. So where
    shrinking costs anything, ``s >= 1 / sqrt(B + 1)``: the last B + 1 factors, whose product s is, have ``sum
    log(1 / phi) <= log(B + 1) / 2``. Disjoint stretches of B + 1 mistakes, ``M / (B + 1)`` at most, cover all
    such places: ``C <= U^2 M log(B + 1) / (4 (B + 1)) = M / 64``. With ``Q <= 15/32 M`` this leaves
    ``M / 2 <= |u|^2 + 2 L``.
    """

    algorithm: str
    formula: str
    reference: str
    conditions: str
    radius: float
    largest_norm: float
    missing: str

    def at(self, norm: float, loss: float) -> float:
        """The mistakes allowed by a u of this norm and loss; infinite where the bound says nothing."""
        if self.missing or not norm <= self.largest_norm:
            return np.inf
        return 2.0 * (self.radius * norm) ** 2 + 4.0 * loss


@dataclass(frozen=True)
class BudgetBound:
    """The mistake bound of a way of removal, with what a run put into it.

    The bounds hold against every u in the feature space, with ``L`` the sum of ``max(0, 1 - <u, z>)`` over
    the mistakes: z is ``y phi(x)``, or half of it at the own class and minus half at the rival with more
    than two classes, times the class weight. Sums of the run are computed in float64.

    Attributes
    ----------
    removal : str
    formula : str
        What is proved in the notes below.
    reference : str
        Where the way of removal was published.
    mistakes : int
        M of the run.
    radius : float
        R: the largest length of a z, of the mistakes; for random removal, of all rows.
    largest_norm : float
        The bound speaks of u no longer than this.
    note : str
        What the bound supposes besides.
    budget : int
    terms : tuple of float
        The sums that the formula takes from the run.
    published : PublishedBound or None
        The paper's own bound, where this is the paper's algorithm and its bound is certain: the Forgetron's.

    Notes
    -----
    All three follow from ``|w|`` and ``<w, u>``, where a mistake adds z with ``|z| <= R`` and ``<w, z> <=
    0``. They are of the kind that the papers prove, but do not rest on the constants of a paper.

    *Projection* (Orabona, Keshet and Caputo project where the residual is small, here where the budget is
    used up). ``|w|^2`` grows by at most R^2, since w lies in the span; ``<w, u>`` grows by ``<z, u>`` less at
    most ``|u|`` times the residual. So ``M - L - |u| D <= <w, u> <= |u| R sqrt(M)``.

    *Random* (Cavallanti, Cesa-Bianchi and Gentile, who find u of a length of about ``sqrt(B)`` to be the most
    that can be competed with). Before the first removal ``|w|^2`` grows by at most R^2 a mistake. A removal
    takes w / B away on average, so then ``E|w|^2`` grows by at most ``2 R^2 - 2 |w|^2 / B``. As it cannot
    fall below zero, ``E sum |w|^2 <= B R^2 E[M]`` over all mistakes, and ``E sum |w| <= R sqrt(B) E[M]``. The
    sum of ``<z, u>`` is ``<w, u>`` at the end, at most ``B R |u|``, and on average 1 / B of the sum of
    ``<w, u>`` over the removals.

    *Forgetron* (Dekel, Shalev-Shwartz and Singer, whose bound is for u that are short enough for the budget).
    With rows scaled to R = 1, look at ``|w - u|^2``: a mistake lowers it by at least ``2 <u, z> - 1``,
    shrinking by phi raises it by at most ``|u|^2 (1 - phi) / (1 + phi)``, and removing the oldest z, of
    weight s, by at most ``s^2 + 2 s <u, z> - 2 s <w, z>``; together with the mistake that once added z,
    ``<u, z>`` may be taken as 1 for a loss. S sums ``(1 - phi) / (1 + phi)`` and Q sums ``s^2 + 2 s - 2 s <w,
    z>``; phi is the largest that keeps Q below 15/32 of M.
    """

    removal: str
    formula: str
    reference: str
    mistakes: int
    radius: float
    largest_norm: float
    note: str
    budget: int
    terms: tuple[float, ...]
    published: PublishedBound | None = None

    def at(self, norm: float, loss: float) -> float:
        """The mistakes allowed by a u of this norm and loss; infinite where the bound says nothing."""
        size = self.radius * norm
        if not norm <= self.largest_norm:
            return np.inf
        if self.removal == "random":
            share = size / np.sqrt(self.budget)
            return (loss + self.budget * size) / (1.0 - share) if share < 1.0 else np.inf
        if self.removal == "projection":
            (residuals,) = self.terms
            root = 0.5 * (size + np.sqrt(size**2 + 4.0 * (loss + norm * residuals)))
            return float(root**2)
        cost, shrinking = self.terms
        return cost + (1.0 + shrinking) * size**2 + 2.0 * loss

    def summary(self) -> str:
        """The bounds in words."""
        shorter = f" with |u| <= {self.largest_norm:.6g}" if np.isfinite(self.largest_norm) else ""
        reach = f"for every u{shorter}; " if self.largest_norm > 0.0 else ""
        lines = [
            f"{self.mistakes:,} mistakes, budget {self.budget:,} ({self.removal}), R = {self.radius:.6g}",
            f"proved of this run: {self.formula}",
            f"  {reach}{self.note}",
        ]
        known = self.published
        if known is None:
            lines.append(f"way of removal: {self.reference}")
        else:
            lines += [
                f"published for the {known.algorithm}: {known.formula}, if {known.conditions}",
                f"  {f'no bound here: {known.missing}' if known.missing else 'all of it holds here'}",
                f"  {known.reference}",
            ]
        return "\n".join(lines)


def bound_of(
    removal: str,
    budget: int,
    mistakes: int,
    radius: float,
    terms: tuple[float, ...] = (),
    grown: bool = False,
) -> BudgetBound:
    """The bounds of a run; ``grown`` says that a row longer than all before came after the first removal."""
    formula, reference, note = BOUNDS[removal]
    largest_norm = np.inf
    if removal == "random":
        largest_norm = float(np.sqrt(budget)) / max(radius, 1e-300)
    if removal == "forgetron" and grown:
        largest_norm, note = -np.inf, "no bound: a longer row came after the first removal"
    return BudgetBound(
        removal=removal,
        formula=formula,
        reference=reference,
        mistakes=mistakes,
        radius=radius,
        largest_norm=largest_norm,
        note=note,
        budget=budget,
        terms=terms,
        published=_forgetron(budget, radius, grown) if removal == "forgetron" else None,
    )


def _forgetron(budget: int, radius: float, grown: bool) -> PublishedBound:
    """The published bound of the self-tuned Forgetron, and whether a run meets its conditions."""
    missing = f"the budget is {budget}" if budget < LEAST_BUDGET else ""
    if grown:
        missing = "a longer row came after the first removal"
    longest = 0.25 * float(np.sqrt((budget + 1) / np.log(budget + 1)))
    return PublishedBound(
        algorithm="self-tuned Forgetron",
        formula="M <= 2 R^2 |u|^2 + 4 L",
        reference=FORGETRON,
        conditions=f"B >= {LEAST_BUDGET}; R |u| <= 1/4 sqrt((B + 1) / log(B + 1)); no row longer than R",
        radius=radius,
        largest_norm=longest / max(radius, 1e-300),
        missing=missing,
    )
