"""Every exception and warning that separatrix raises on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "CertificateError",
    "ConvergenceWarning",
    "IllegalKernelError",
    "InputError",
    "InputTypeError",
    "LabelError",
    "ModelFileError",
    "NotSeparable",
    "NumericOverflowError",
    "OutputError",
    "SeparationWarning",
    "SeparatrixError",
]


class SeparatrixError(Exception):
    """Base of every error of this library."""


class InputError(SeparatrixError, ValueError):
    """The rows or the parameters cannot be used as they are."""


class InputTypeError(SeparatrixError, TypeError):
    """The input is of a kind that cannot hold numbers."""


class IllegalKernelError(InputError):
    """The kernel is not an inner product of these rows: there is no feature space to separate them in."""


class LabelError(InputError):
    """The labels cannot be separated: too few classes, or not class labels at all."""


class NumericOverflowError(SeparatrixError, OverflowError):
    """A number of the run left the range of float64."""


class OutputError(SeparatrixError, OSError):
    """A file could not be written; what was there before is unchanged."""


class ModelFileError(SeparatrixError, ValueError):
    """A model file that cannot be read, or that holds what is not trusted."""


class CertificateError(SeparatrixError, ValueError):
    """A certificate that cannot be read, or that speaks of something else."""


class SeparationWarning(UserWarning):
    """A logistic regression of these data has no finite maximum-likelihood estimate."""


class NotSeparable(InputError):
    """The classes cannot be separated, or not by a margin that is told from rounding error.

    Attributes
    ----------
    certificate : object or None
        The proof, where there is one.
    """

    def __init__(self, message: str, certificate: object = None) -> None:
        super().__init__(message)
        self.certificate = certificate


def not_finite(value: float, row: int, column: int, names: Sequence[str] | None) -> InputError:
    """Name the place of a NaN or an infinity: the one error of all readers."""
    kind = "NaN" if value != value else "infinity"
    where = f"row {row}, column {column}" + (f" ({names[column]!r})" if names else "")
    return InputError(
        f"Input X contains {kind}: {where}. Every value must be finite; "
        "drop or impute such rows (for example with sklearn.impute.SimpleImputer)."
    )


def __getattr__(name: str) -> Any:
    """scikit-learn's own warning; importing it takes a second, which reading a file need not wait for."""
    if name != "ConvergenceWarning":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import ConvergenceWarning

    return ConvergenceWarning
