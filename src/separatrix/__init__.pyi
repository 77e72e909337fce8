"""The public names, listed once: for type checkers, and for ``__init__.py``, which reads this file."""

from . import datasets as datasets
from . import errors as errors
from . import experiments as experiments
from . import features as features
from . import geometry as geometry
from . import kernels as kernels
from . import playground as playground
from . import plot as plot
from . import river as river
from .bounds.bound_report import BoundReport as BoundReport
from .bounds.mistakes import mistake_bounds as mistake_bounds
from .certificates.check import verify as verify
from .errors import SeparationWarning as SeparationWarning
from .estimators.kernel import KernelPerceptron as KernelPerceptron
from .estimators.linear import Perceptron as Perceptron
from .estimators.linear_program import LinearProgram as LinearProgram
from .estimators.margin import MaxMargin as MaxMargin
from .estimators.margin import SoftMargin as SoftMargin
from .estimators.network import PerceptronNetwork as PerceptronNetwork
from .estimators.passive_aggressive import PassiveAggressive as PassiveAggressive
from .estimators.winnow import Winnow as Winnow
from .geometry.degree import SeparatingDegree as SeparatingDegree
from .geometry.degree import smallest_separating_degree as smallest_separating_degree
from .proofs.estimates import check_estimate as check_estimate
from .proofs.existence import Estimate as Estimate
from .proofs.fewest.fewest_errors import FewestErrors as FewestErrors
from .proofs.fewest.fewest_errors import fewest_errors as fewest_errors
from .proofs.verdict import Verdict as Verdict
from .proofs.verdict import check_separation as check_separation
from .proofs.verdict import separability as separability
from .report.page import write_report as write_report
from .result import Result as Result
from .result import Status as Status
from .storage.models import load as load
from .storage.models import save as save
from .storage.onnx import export_onnx as export_onnx

__version__: str
_HOMES: dict[str, str | None]
