"""The constructor of estimators, and what to do instead of parameters that other libraries have."""

from __future__ import annotations

import difflib
import functools
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, Self, TypeVar, cast, dataclass_transform

from ..errors import UnknownParameterError

CALIBRATE = (
    "For probabilities use sklearn.calibration.CalibratedClassifierCV(estimator).fit(X, y), which fits "
    "copies of the estimator; to keep one that is fitted, calibrate it on other rows with "
    "sklearn.calibration.CalibratedClassifierCV(sklearn.frozen.FrozenEstimator(estimator)).fit(X, y)."
)
JOINTLY = (
    "More than two classes are learned jointly; for one model per class, or per pair, wrap the estimator in "
    "sklearn.multiclass.OneVsRestClassifier or OneVsOneClassifier."
)
ENDS = "Perceptrons stop at a pass without mistakes, margins at gap=...; max_iter bounds both."
KERNELS = "MaxMargin, SoftMargin and KernelPerceptron have kernels."
RATE = "Perceptron(eta0=...) has one rate for all updates; other estimators have none."

INSTEAD = {
    "C": "SoftMargin(C=...) weighs the errors against the norm of the weights.",
    "alpha": "SoftMargin(C=1 / (alpha * rows), fit_intercept=True) has that penalty.",
    "average": "Perceptron(average=True) predicts with the mean; an optimum needs no averaging.",
    "break_ties": JOINTLY,
    "cache_size": "KernelPerceptron(memory_limit=...) bounds its blocks of kernel values.",
    "class_weight": "Whether a separator exists does not depend on it: use SoftMargin(class_weight=...).",
    "coef0": KERNELS,
    "decision_function_shape": JOINTLY,
    "degree": KERNELS,
    "dual": "The perceptron in its dual form is KernelPerceptron; LinearProgram(form='dual') is the program.",
    "early_stopping": "Lower max_iter. If the classes overlap, Perceptron(average=True) varies less.",
    "epsilon": "The losses with this parameter are not offered here.",
    "eta0": RATE,
    "gamma": KERNELS,
    "gap": "MaxMargin(gap=...) and SoftMargin(gap=...) have it.",
    "init": "Perceptron(init=...) has it; other estimators start from zero.",
    "inseparable": "A perceptron that finds no separator warns; SoftMargin needs none.",
    "intercept": "Pass fit_intercept=True, 'lifted' or False.",
    "intercept_scaling": "Perceptron(intercept_scaling=...) has it. With fit_intercept=True, the norm of "
    "margins leaves the intercept out.",
    "kernel": KERNELS,
    "l1_ratio": "SoftMargin has the squared norm as its only penalty.",
    "learning_rate": RATE,
    "loss": "SoftMargin minimizes the hinge loss; the other estimators have no loss.",
    "max_iter": "The linear program is solved to the optimum.",
    "max_passes": "It is called max_iter, as in scikit-learn.",
    "multi_class": JOINTLY,
    "n_iter_no_change": "Perceptron(n_iter_no_change=...) has it. " + ENDS,
    "n_jobs": "It uses all cores of the process if that is faster; limit the process to use fewer.",
    "order": "An optimum does not depend on the order of the rows.",
    "penalty": "The squared norm is the only penalty: SoftMargin(C=...).",
    "power_t": RATE,
    "probability": CALIBRATE,
    "random_state": "This estimator uses no random numbers.",
    "shrinking": "Rows that are not needed are left out of the working set automatically.",
    "shuffle": "Perceptrons take order='shuffled' or 'cyclic'; an optimum does not depend on the order.",
    "tol": ENDS,
    "validation_fraction": "No rows are held out. Use sklearn.model_selection.GridSearchCV.",
    "warm_start": "Perceptron has it, and KernelPerceptron has partial_fit; an optimum needs no start.",
}


E = TypeVar("E", bound="Named")


class Named:
    """An estimator that says what to do instead if it gets a parameter that it does not have.

    ``_renamed`` lists parameters that were renamed: their new names, and what their old values are called
    now. They are accepted for one release, with a warning, and read from model files without one.
    """

    _renamed: ClassVar[dict[str, tuple[str, dict[Any, Any]]]] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Read a pickle or model file, in which parameters may have their old names."""
        cast(Any, super()).__setstate__(self._current(state, warn=False))

    @classmethod
    def _current(cls, given: dict[str, Any], *, warn: bool) -> dict[str, Any]:
        """Return the parameters by their new names."""
        current = dict(given)
        for old, (name, values) in cls._renamed.items():
            if old not in given or name in given:
                continue
            value = current.pop(old)
            current[name] = values.get(value, value)
            if warn:
                warnings.warn(
                    f"The parameter {old!r} of {cls.__name__} is now called {name!r}; the next release will "
                    f"not accept the old name. Write {name}={current[name]!r} instead of {old}={value!r}.",
                    FutureWarning,
                    stacklevel=3,
                )
        return current

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, those of parts as ``part__name``; return the estimator."""
        parameters = self._current(parameters, warn=True)
        _refuse_unknown(type(self), [name for name in parameters if "__" not in name])
        return cast(Self, cast(Any, super()).set_params(**parameters))


@dataclass_transform()
def estimator(cls: type[E]) -> type[E]:
    """Make the constructor of an estimator from its fields, as `dataclass` does; refuse other parameters.

    scikit-learn reads the parameters from the signature of ``__init__``, which is that of the dataclass.
    """
    cls = dataclass(eq=False, repr=False)(cls)
    assign = cls.__init__

    @functools.wraps(assign)
    def init(self: E, *args: Any, **parameters: Any) -> None:
        current = cls._current(parameters, warn=True)
        _refuse_unknown(cls, current)
        assign(self, *args, **current)

    cast(Any, cls).__init__ = init
    return cls


class NotOffered:
    """A method that the estimators do not have: its use raises an error that says why."""

    def __init__(self, why: str) -> None:
        self.why = why

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError(f"{owner.__name__} has no {self.name}: {self.why}")


@functools.cache
def _parameters(kind: Any) -> tuple[str, ...]:
    return tuple(kind._get_param_names())


def _refuse_unknown(kind: Any, names: Iterable[str]) -> None:
    """Refuse parameters that a class does not have, and say what to do instead."""
    known = _parameters(kind)
    for name in names:
        if name in known:
            continue
        remedy = INSTEAD.get(name)
        if remedy is None:
            near = difflib.get_close_matches(name, known, n=1)
            remedy = f"Did you mean {near[0]!r}?" if near else f"Its parameters are {', '.join(known)}."
        raise UnknownParameterError(
            f"{kind.__name__} has no parameter {name!r}.", remedy=remedy, parameter=name
        )
