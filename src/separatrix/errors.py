"""Every exception and warning that separatrix raises on purpose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING, Any

from .printable import printable

if TYPE_CHECKING:
    from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "CertificateError",
    "ClusterError",
    "ConvergenceWarning",
    "IllegalKernelError",
    "InputError",
    "InputTypeError",
    "LabelError",
    "MissingPackageError",
    "ModelFileError",
    "NotSeparable",
    "NumericOverflowError",
    "OutputError",
    "SeparationWarning",
    "SeparatrixError",
    "UnknownParameterError",
]


class SeparatrixError(Exception):
    """The base class of all errors of this library: the facts are fields, and the text is made when shown.

    Parameters
    ----------
    found : str
        What was found, and what is needed. If the error is about a row, only what was found, without a
        period, because the place follows.
    needed : str
        What is needed, if the error is about a row.
    remedy : str
        What to do next, as a sentence for a caller of the library; the message ends with it.
    parameter : str or None
        What the remedy is about: the name of a parameter, or ``"X"`` if the columns should be scaled. The
        command line chooses the remedy by this name, because it has options instead of parameters.
    row : int or None
        The row that the error is about, counted from zero.
    column : int, str or None
        The column, by its number or its name.
    column_name : str
        The name of a column that is given by its number.
    value : object
        The value there. The message shows it, unless it is NaN or infinite.

    Attributes
    ----------
    context : str
        The part of the data that has the row, such as ``"In partition 7"``; the message begins with it.
    row_name : str
        What to call the row instead of its number, such as ``"row 4 (line 5)"``.

    Examples
    --------
    >>> error = InputError(
    ...     "X has a negative number", needed="All must be positive.", row=7, column=2, value=-1
    ... )
    >>> str(error)
    'X has a negative number: -1 in row 7, column 2. All must be positive.'
    >>> error.row += 100
    >>> error.problem
    'X has a negative number: -1 in row 107, column 2. All must be positive.'
    """

    def __init__(
        self,
        found: str = "",
        *,
        needed: str = "",
        remedy: str = "",
        parameter: str | None = None,
        row: int | None = None,
        column: int | str | None = None,
        column_name: str = "",
        value: object = None,
    ) -> None:
        super().__init__(found)
        self.found, self.needed, self.remedy, self.parameter = found, needed, printable(remedy), parameter
        self.row, self.column, self.column_name, self.value = row, column, column_name, value
        self.context = self.row_name = ""

    @property
    def problem(self) -> str:
        """What was found, where, and what is needed."""
        found = self.found if self.row is None else f"{self.found.removesuffix('.')}: {self._where()}."
        context = f"{self.context}: " if self.context else ""
        return printable(" ".join(filter(None, (f"{context}{found}", self.needed))))

    def __str__(self) -> str:
        return f"{self.problem} {self.remedy}" if self.remedy else self.problem

    def _where(self) -> str:
        where = self.row_name or f"row {self.row}"
        if self.column is not None:
            where += f", column {self.column!r}" + (f" ({self.column_name!r})" if self.column_name else "")
        named = isinstance(self.value, float) and not isfinite(self.value)  # `found` names it
        return where if self.value is None or named else f"{self.value} in {where}"


class InputError(SeparatrixError, ValueError):
    """The rows or the parameters cannot be used as they are."""


class InputTypeError(InputError, TypeError):
    """The input has a type that cannot hold numbers."""


class UnknownParameterError(SeparatrixError, TypeError, ValueError):
    """An estimator was given a parameter that it does not have.

    It is a TypeError, like any call with a wrong keyword, and a ValueError, like scikit-learn's
    ``set_params``.
    """


class IllegalKernelError(InputError):
    """The kernel is not an inner product of these rows: there is no feature space to separate them in."""


class LabelError(InputError):
    """The labels cannot be used: there are too few classes, or they are not class labels."""


class NumericOverflowError(InputError, OverflowError):
    """A number became larger than float64 can hold, because the rows or a learning rate are too large."""


class OutputError(SeparatrixError, OSError):
    """A file could not be written; the old file is unchanged."""


class ClusterError(SeparatrixError, RuntimeError):
    """A task on the cluster that holds the rows failed."""


class MissingPackageError(SeparatrixError, ImportError):
    """An optional package is not installed: see its ``name``."""

    def __init__(self, found: str = "", *, name: str | None = None, **fields: Any) -> None:
        super().__init__(found, **fields)
        self.name = name


class ModelFileError(SeparatrixError, ValueError):
    """A model file cannot be read, or holds a type that is not trusted."""


class CertificateError(SeparatrixError, ValueError):
    """A certificate cannot be read or checked, or is about other data."""


class SeparationWarning(UserWarning):
    """A logistic regression of these data has no finite maximum-likelihood estimate."""


class NotSeparable(InputError):
    """The classes cannot be separated, or only by a margin that is smaller than the rounding errors.

    Attributes
    ----------
    certificate : object or None
        The proof, if there is one.
    """

    def __init__(self, found: str = "", certificate: object = None, **fields: Any) -> None:
        super().__init__(found, **fields)
        self.certificate = certificate


def not_finite(value: float, row: int, column: int, names: Sequence[str] | None) -> InputError:
    """Return the error of all readers that names the place of a NaN or an infinity."""
    missing = value != value
    return InputError(
        f"Input X contains {'NaN' if missing else 'infinity'}",
        needed="Every value must be finite.",
        remedy="Drop these rows, or impute the values, for example with sklearn.impute.SimpleImputer."
        if missing
        else "Drop these rows, or replace infinite values by NaN and impute them.",
        parameter="where",
        row=row,
        column=column,
        column_name=names[column] if names else "",
        value=float(value),
    )


@contextmanager
def needs(what: str, *, extra: str) -> Iterator[None]:
    """Import packages in this context; if one is not installed, the error says what to install.

    Examples
    --------
    >>> with needs("A sum", extra="cli"):
    ...     import abacus
    Traceback (most recent call last):
    separatrix.errors.MissingPackageError: A sum needs abacus. Install it with: ...
    """
    try:
        yield
    except ModuleNotFoundError as problem:
        raise missing_package(problem, what, extra=extra) from None


def missing_package(problem: ModuleNotFoundError, what: str, *, extra: str) -> MissingPackageError:
    """Return the error that says what to install; raise the problem if a module of ours is missing."""
    package = str(problem.name).partition(".")[0]
    if package == __package__:
        raise problem
    return MissingPackageError(
        f"{what} needs {package}. Install it with: pip install 'separatrix[{extra}]' "
        f"(in a copy of the repository: pip install '.[{extra}]')",
        name=package,
    )


def convergence_warning(message: str, *, problem: str, parameter: str | None = None) -> Any:
    """Return scikit-learn's ConvergenceWarning, with fields as in `SeparatrixError`."""
    from sklearn.exceptions import ConvergenceWarning

    warning = ConvergenceWarning(message)
    warning.problem, warning.parameter = problem, parameter
    return warning


def __getattr__(name: str) -> Any:
    """Import scikit-learn's warning when it is first used, because that takes a second."""
    if name != "ConvergenceWarning":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import ConvergenceWarning

    return ConvergenceWarning
