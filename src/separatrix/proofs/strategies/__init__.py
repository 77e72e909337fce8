"""The strategies of the search, in the order in which they are tried: one file and one entry each."""

from .class_pairs import ClassPairs
from .conflicts import Conflicts
from .exact_partition import ExactPartition
from .interior_point import InteriorPoint
from .linear_program import LinearProgram
from .perceptron import PatientPerceptron, Perceptron
from .sparse_elimination import SparseElimination

STRATEGIES = (
    Conflicts(),
    Perceptron(),
    ClassPairs(most=1),
    PatientPerceptron(),
    ClassPairs(),
    SparseElimination(),
    InteriorPoint(),
    LinearProgram(),
    ExactPartition(),
)
