"""The strategies of the search, in the order in which they are tried: one file and one entry each."""

from .class_subsets import ClassSubsets
from .conflicts import Conflicts
from .exact_partition import ExactPartition
from .interior_point import InteriorPoint
from .linear_program import LinearProgram
from .perceptron import Perceptron
from .sparse_elimination import SparseElimination
from .squared_hinge import SquaredHinge

STRATEGIES = (
    Conflicts(),
    Perceptron(),
    ClassSubsets(one_pair=True),
    SquaredHinge(),
    ClassSubsets(),
    SparseElimination(),
    InteriorPoint(),
    LinearProgram(),
    ExactPartition(),
)
