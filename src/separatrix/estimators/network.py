"""Perceptrons stacked by sequential learning: a two-layer network that is right on every training row."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split

from .. import inputs
from ..certificates.digest import start_digest
from ..certificates.fields import Number, read_number, write_number
from ..certificates.half_spaces import NetworkCertificate, Unit, first_firing
from ..errors import ConvergenceWarning, InputError, NotSeparable
from ..inputs.data import read_data
from ..networks.sequential import Grown, grow
from ..proofs.strategies.conflicts import conflicting_rows
from ..proofs.verdict import separability
from ..result import Floats, Ints
from ..sparse import sparse
from .decision import Decision, read_rows
from .habits import estimator
from .hyperplane import EXACT_SECONDS, ON_INSEPARABLE

EXACT_UNITS = 53  # powers of two up to this one, and their sums, are exact in float64


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """A hidden unit: it fires on the rows x with ``<coef, x> + intercept > 0``.

    Attributes
    ----------
    coef : ndarray of shape (columns,)
    intercept : float
    label : object
        The class of the rows on which it is the first to fire.
    n_rows : int
        The number of training rows on which it was the first to fire.
    """

    coef: Floats
    intercept: float
    label: Any
    n_rows: int


@estimator
class PerceptronNetwork(Decision, ClassifierMixin, BaseEstimator):
    """A two-layer perceptron by sequential learning, which gives every training row its class.

    Each hidden unit is a half-space that holds rows of one class only, and as many as the search finds. These
    rows are taken away, and the next unit is learned from the others, until one class is left: the default.
    A row gets the class of the first unit that fires on it. This always ends, in any dimension, because a
    vertex of the convex hull of the rows that are left can be cut off (Marchand, Golea and Rujan 1990). It
    needs rows without conflicts: no two equal rows with different labels.

    What a unit does is decided exactly. ``fit`` proves that every training row gets its class, and
    ``certificate_`` is the proof, which `verify` checks. ``predict`` decides in the same way, so rounding
    never changes a label.

    Parameters
    ----------
    max_units : int or None, default=None
        The maximum number of hidden units. If it is reached, the default is the most frequent class of the
        rows that are left, and the other rows that are left are errors.
    validation_fraction : float or None, default=None
        The share of the rows that is kept back to choose the number of units: the one with the fewest errors
        on these rows, and of those the smallest. The units are learned from the other rows.
    inseparable : {"raise", "warn"}, default="raise"
        What to do if equal rows have different labels, which no classifier can give their classes. "raise"
        raises `NotSeparable` with the proof. "warn" learns the most frequent label of such rows.
    random_state : int, RandomState or None, default=0
        The seed of the search, and of the choice of the rows that are kept back.

    Attributes
    ----------
    units_ : list of HalfSpace
        The hidden units, in the order in which they are asked: a decision list.
    default_ : object
        The class of rows on which no unit fires.
    errors_ : int
        The number of training rows that do not get their class: zero, unless ``max_units``,
        ``validation_fraction`` or conflicts left some.
    certificate_ : NetworkCertificate
        The proof that all other training rows get their class.
    validation_errors_ : ndarray of shape (units + 1,)
        With ``validation_fraction``, the errors on the rows that were kept back, for each number of units.
    classes_ : ndarray
    n_features_in_ : int
    feature_names_in_ : ndarray
        The names of the columns of X, if all of them are strings.

    Notes
    -----
    Which half-space is found is a matter of a bounded search (soft margins that hardly allow an error on
    other classes, and a local search that turns a hyperplane toward rows that it just misses). Only the
    number of units depends on it, not the guarantee.

    A network that is right on every training row may overfit. ``max_units`` or ``validation_fraction`` limit
    the number of units; whether new rows gain from it depends on the data, and the second learns from fewer
    rows.

    References
    ----------
    Marchand, M., Golea, M. and Rujan, P. (1990). A convergence theorem for sequential learning in two-layer
    perceptrons. Europhysics Letters 11, 487-492.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = sx.PerceptronNetwork().fit(X, y)
    >>> len(model.units_), model.errors_, model.predict(X)
    (2, 0, array([0, 1, 1, 0]))
    >>> sx.verify(model.certificate_, X, y).reason
    'The first of 2 units that fires gives 4 rows their class, exactly.'
    """

    max_units: int | None = None
    _: KW_ONLY
    validation_fraction: float | None = None
    inseparable: str = "raise"
    random_state: Any = 0

    @property
    def fit_intercept(self) -> bool:
        """Every unit has an intercept: through the origin, x and 2x could not be told apart."""
        return True

    def fit(self, X: Any, y: Any) -> PerceptronNetwork:
        """Learn the units, and prove what they do on the training rows.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, columns)
        y : array of shape (rows,)
            Class labels.

        Returns
        -------
        self
        """
        with inputs.unchanged_on_error(self):
            self._check_parameters()
            rows, self.classes_, _ = inputs.read_training(self, X, y, None)
            _ = rows.squared_norms  # names a value that is not finite
            data, seed = read_data(X, y), inputs.generator(self.random_state)
            codes, conflicts = self._settled(data.matrix, data.codes, X, y)
            if self.validation_fraction is None:
                self._store(grow(data.matrix, codes, self.max_units, seed), codes)
            else:
                self._validate(data.matrix, codes, seed)
            found = np.append(self._labels, self._default)[first_firing(self._exact_weights(), data.matrix)]
            self._wrong: Ints = np.flatnonzero(found != data.codes)
            self.errors_ = int(self._wrong.size)
            self._about = list(data.classes), int(codes.size), start_digest(data)()
        if conflicts:
            warnings.warn(
                f"{conflicts} The most frequent label of equal rows was learned.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def as_network(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the weights of the two layers, with the bias last in each row.

        The first layer has one row per hidden unit, which outputs 1 if its sum is positive and 0 otherwise.
        The second layer has one row for two classes, whose sum is positive for the last class; for more
        classes it has one row per class, and the largest sum wins. Its weights are powers of two, so the sum
        is decided by the first unit that fires. From 53 units on, both layers are whole numbers of any size
        (Python integers in an array of objects), because float64 would round their sums.

        Returns
        -------
        hidden : ndarray of shape (units, columns + 1)
        output : ndarray of shape (1 or classes, units + 1)
        """
        size, large = len(self._labels), len(self._labels) >= EXACT_UNITS
        hidden: NDArray[Any] = self._weights
        if large:
            hidden = np.array([_whole(weights) for weights in self._exact_weights()], dtype=object)
        output: NDArray[Any] = np.zeros((self.classes_.size, size + 1), dtype=object)
        for place, label in enumerate([*self._labels.tolist(), self._default]):
            output[label, place] = 2 ** (size - place)
        if self.classes_.size == 2:
            output = output[1:] - output[:1]
        return hidden, output if large else output.astype(np.float64)

    def float_units(self) -> tuple[Floats, Floats]:
        """Return half-spaces in floats, the default as one that always fires, and the score of each.

        With rounding, a row that is very close to a hyperplane may be on its other side.
        """
        longest = np.abs(self._weights).max(axis=1, initial=0.0)
        scaled = self._weights / np.where(longest > 0.0, longest, 1.0)[:, None]
        always = np.eye(1, self.n_features_in_ + 1, self.n_features_in_)
        return np.vstack([scaled, always]), self._scores_of(np.arange(len(self._labels) + 1))

    @property
    def certificate_(self) -> NetworkCertificate:
        """The proof that all training rows, except the errors, get their class."""
        if not hasattr(self, "_about"):
            raise AttributeError("certificate_ exists after fit.")
        classes, n_rows, sha256 = self._about
        weights, labels = self._exact_weights(), self._labels.tolist()
        return NetworkCertificate(
            units=tuple(Unit(*each) for each in zip(weights, labels, strict=True)),
            default=self._default,
            classes=tuple(classes),
            excluded=tuple(self._wrong.tolist()),
            n_rows=n_rows,
            n_columns=self.n_features_in_,
            sha256=sha256,
        )

    @property
    def units_(self) -> list[HalfSpace]:
        """The hidden units, in the order in which they are asked."""
        if not hasattr(self, "_weights"):
            raise AttributeError("units_ exists after fit.")
        labels = self.classes_[self._labels].tolist()
        return [
            HalfSpace(weights[:-1], float(weights[-1]), label, count)
            for weights, label, count in zip(self._weights, labels, self._counts.tolist(), strict=True)
        ]

    @property
    def default_(self) -> Any:
        """The class of rows on which no unit fires."""
        if not hasattr(self, "_default"):
            raise AttributeError("default_ exists after fit.")
        return self.classes_[self._default]

    def _scores(self, X: Any) -> Floats:
        """Return 1 / (2 + j) for the class of the first unit j that fires; for two classes with its sign."""
        matrix = read_rows(self, X, lift=False)
        _ = matrix.squared_norms  # names a value that is not finite
        return self._scores_of(first_firing(self._exact_weights(), matrix.matrix))

    def _scores_of(self, first: Ints) -> Floats:
        labels = np.append(self._labels, self._default)[first]
        if self.classes_.size == 2:
            return (2.0 * labels - 1.0) / (2.0 + first)
        scores = np.zeros((first.size, self.classes_.size))
        scores[np.arange(first.size), labels] = 1.0 / (2.0 + first)
        return scores

    def _check_parameters(self) -> None:
        inputs.check_parameters(self, inseparable=ON_INSEPARABLE)
        share: Any = self.validation_fraction
        if share is not None and not (isinstance(share, float) and 0.0 < share < 1.0):
            raise InputError(
                "The 'validation_fraction' parameter of PerceptronNetwork must be None or a number between 0 "
                f"and 1. Got {share!r} instead.",
                parameter="validation_fraction",
            )

    def _settled(self, matrix: Any, codes: Ints, X: Any, y: Any) -> tuple[Ints, str]:
        """Return codes without conflicts, and what is to be said about the conflicts."""
        pairs = list(conflicting_rows(matrix, codes, np.arange(codes.size)))
        if not pairs:
            return codes, ""
        i, j = pairs[0]
        message = (
            f"Rows {i} and {j} are equal and have different labels, so no classifier gives both their class "
            f"({len(pairs)} such pair{'s' * (len(pairs) > 1)} of different rows)."
        )
        if self.inseparable == "raise":
            raise NotSeparable(
                message,
                separability(X, y, quasi=False, time_limit=EXACT_SECONDS).certificate,
                remedy="Correct or drop these rows, or use PerceptronNetwork(inseparable='warn') to learn "
                "the most frequent label of equal rows.",
                parameter="inseparable",
            )
        settled = codes.copy()
        for row, _ in pairs:
            equal = _equal_rows(matrix, row)
            settled[equal] = np.bincount(codes[equal]).argmax()
        return settled, message

    def _validate(self, matrix: Any, codes: Ints, seed: np.random.Generator) -> None:
        """Learn from some rows, and keep the number of units with the fewest errors on the others."""
        try:
            learn, check = train_test_split(
                np.arange(codes.size),
                test_size=self.validation_fraction,
                stratify=codes,
                random_state=int(seed.integers(2**31)),
            )
        except ValueError as problem:
            raise InputError(
                f"validation_fraction={self.validation_fraction} has too few rows of a class: {problem}",
                remedy="Keep back another share, or pass more rows.",
                parameter="validation_fraction",
            ) from None
        whole = grow(matrix[learn], codes[learn], self.max_units, seed)
        first = first_firing([unit.weights for unit in whole.units], matrix[check])
        shorter = [whole.cut(size) for size in range(len(whole.units) + 1)]
        errors = []
        for size, grown in enumerate(shorter):
            labels = np.array([*(unit.label for unit in grown.units), grown.default(codes[learn])])
            errors.append(int((labels[np.minimum(first, size)] != codes[check]).sum()))
        self.validation_errors_ = np.array(errors)
        self._store(shorter[int(np.argmin(errors))], codes[learn])

    def _store(self, grown: Grown, codes: Ints) -> None:
        width = self.n_features_in_ + 1
        exact = [unit.weights for unit in grown.units]
        self._weights = np.array([_rounded(weights) for weights in exact]).reshape(len(exact), width)
        self._labels = np.array([unit.label for unit in grown.units], dtype=np.int64)
        self._counts = np.array([rows.size for rows in grown.taken], dtype=np.int64)
        # Weights that are not floats, as text: integers of any size.
        self._integers = {
            str(j): list(map(write_number, weights))
            for j, weights in enumerate(exact)
            if any(isinstance(value, int) for value in weights)
        }
        self._default = grown.default(codes)

    def _exact_weights(self) -> list[tuple[Number, ...]]:
        """Return the weights of each unit that decide, as floats or as integers of any size."""
        found: list[tuple[Number, ...]] = [tuple(weights) for weights in self._weights.tolist()]
        for j, numbers in self._integers.items():
            found[int(j)] = tuple(map(read_number, numbers))
        return found


def _equal_rows(matrix: Any, row: int) -> Ints:
    """Return the rows that are equal to one."""
    if not sparse.issparse(matrix):
        return np.flatnonzero((matrix == matrix[row]).all(axis=1))
    return np.array([i for i in range(matrix.shape[0]) if not (matrix[[i]] != matrix[[row]]).nnz])


def _rounded(weights: tuple[Number, ...]) -> list[float]:
    """Return floats near the weights, which are divided by a power of two if they are large integers."""
    shift = max(0, max(int(abs(value)).bit_length() for value in weights) - 1000)
    return [float(value >> shift) if isinstance(value, int) else value for value in weights]


def _whole(weights: tuple[Number, ...]) -> list[int]:
    """Return integers in the same proportions as the weights."""
    ratios = [value.as_integer_ratio() for value in weights]
    below = max(low for _, low in ratios)  # all are powers of two
    return [above * (below // low) for above, low in ratios]
