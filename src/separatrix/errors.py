"""Every exception and warning that separatrix raises on purpose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

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
    """Base of every error of this library.

    Parameters
    ----------
    problem : str
        What was found, and what is needed.
    remedy : str
        What to do next, as a sentence for who calls the library; the message ends with it.
    parameter : str or None
        What the remedy is about: the name of a parameter, or ``"X"`` where the columns should be scaled.
        The command line, which has options instead, says by it what to do there.

    Examples
    --------
    >>> error = SeparatrixError("y lacks labels.", remedy="Pass missing='drop'.", parameter="missing")
    >>> str(error), error.problem
    ("y lacks labels. Pass missing='drop'.", 'y lacks labels.')
    """

    def __init__(self, problem: str = "", *, remedy: str = "", parameter: str | None = None) -> None:
        self.problem, self.remedy, self.parameter = printable(problem), printable(remedy), parameter
        super().__init__(f"{self.problem} {self.remedy}" if remedy else self.problem)
        self.row: int | None = None

    def count_rows_from(self, first: int) -> None:
        """Name the row among all rows, where the error is about some of them, of which this is the first.

        Examples
        --------
        >>> error = at_row(InputError("There is NaN in row 7."), 7)
        >>> error.count_rows_from(100)
        >>> str(error)
        'There is NaN in row 107.'
        """
        if self.row is not None and first:
            before, after = f"row {self.row}", f"row {self.row + first}"
            self.problem = self.problem.replace(before, after)
            self.args = tuple(str(each).replace(before, after) for each in self.args)
            self.row += first


Located = TypeVar("Located", bound=SeparatrixError)


class InputError(SeparatrixError, ValueError):
    """The rows or the parameters cannot be used as they are."""


class InputTypeError(InputError, TypeError):
    """The input is of a kind that cannot hold numbers."""


class UnknownParameterError(SeparatrixError, TypeError, ValueError):
    """An estimator was given a parameter that it does not have.

    A TypeError as of any call with a wrong keyword, and a ValueError as of scikit-learn's ``set_params``.
    """


class IllegalKernelError(InputError):
    """The kernel is not an inner product of these rows: there is no feature space to separate them in."""


class LabelError(InputError):
    """The labels cannot be separated: too few classes, or not class labels at all."""


class NumericOverflowError(InputError, OverflowError):
    """A number of the run left the range of float64: the rows, or a rate, are too large for it."""


class OutputError(SeparatrixError, OSError):
    """A file could not be written; what was there before is unchanged."""


class ClusterError(SeparatrixError, RuntimeError):
    """The cluster that the rows are on did not do its part."""


class MissingPackageError(SeparatrixError, ImportError):
    """A package that only a part of the library needs is not installed: see its ``name``."""

    def __init__(self, problem: str = "", *, name: str | None = None, **fields: Any) -> None:
        super().__init__(problem, **fields)
        self.name = name


class ModelFileError(SeparatrixError, ValueError):
    """A model file that cannot be read, or that holds what is not trusted."""


class CertificateError(SeparatrixError, ValueError):
    """A certificate that cannot be read or checked, or that speaks of something else."""


class SeparationWarning(UserWarning):
    """A logistic regression of these data has no finite maximum-likelihood estimate."""


class NotSeparable(InputError):
    """The classes cannot be separated, or not by a margin that is told from rounding error.

    Attributes
    ----------
    certificate : object or None
        The proof, where there is one.
    """

    def __init__(
        self,
        problem: str = "",
        certificate: object = None,
        *,
        remedy: str = "",
        parameter: str | None = None,
    ) -> None:
        super().__init__(problem, remedy=remedy, parameter=parameter)
        self.certificate = certificate


def not_finite(value: float, row: int, column: int, names: Sequence[str] | None) -> InputError:
    """Name the place of a NaN or an infinity: the one error of all readers."""
    kind = "NaN" if value != value else "infinity"
    where = f"row {row}, column {column}" + (f" ({names[column]!r})" if names else "")
    return at_row(
        InputError(
            f"Input X contains {kind}: {where}. Every value must be finite.",
            remedy="Drop or impute such rows, for example with sklearn.impute.SimpleImputer.",
            parameter="where",
        ),
        row,
    )


def at_row(error: Located, row: int) -> Located:
    """Let an error know which row its message names, counted from zero."""
    error.row = row
    return error


@contextmanager
def needs(what: str, *, extra: str) -> Iterator[None]:
    """Import inside what ``what`` needs; if it is not installed, the error says what to install.

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
    """The error that says what to install for ``what``; a module of ours that is missing is raised itself."""
    package = str(problem.name).partition(".")[0]
    if package == __package__:
        raise problem
    return MissingPackageError(
        f"{what} needs {package}. Install it with: pip install 'separatrix[{extra}]' "
        f"(in a copy of the repository: pip install '.[{extra}]')",
        name=package,
    )


def convergence_warning(message: str, *, problem: str, parameter: str | None = None) -> Any:
    """scikit-learn's warning of that name, with fields as in `SeparatrixError`."""
    from sklearn.exceptions import ConvergenceWarning

    warning = ConvergenceWarning(message)
    warning.problem, warning.parameter = problem, parameter
    return warning


def __getattr__(name: str) -> Any:
    """scikit-learn's own warning; importing it takes a second, which reading a file need not wait for."""
    if name != "ConvergenceWarning":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import ConvergenceWarning

    return ConvergenceWarning
