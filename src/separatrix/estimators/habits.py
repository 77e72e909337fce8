"""Parameters of other libraries that these estimators do not have, and what to do instead."""

from __future__ import annotations

import difflib
import functools
import inspect
import warnings
from typing import Any, ClassVar, NoReturn, Self, cast

from ..errors import UnknownParameterError

JOINTLY = (
    "More than two classes are learnt jointly; for one model a class, or a pair, wrap the estimator in "
    "sklearn.multiclass.OneVsRestClassifier or OneVsOneClassifier."
)
CALIBRATE = (
    "For probabilities use sklearn.calibration.CalibratedClassifierCV(estimator).fit(X, y), which fits "
    "copies of the estimator; to keep one that is fitted, calibrate it on other rows with "
    "sklearn.calibration.CalibratedClassifierCV(sklearn.frozen.FrozenEstimator(estimator)).fit(X, y)."
)
CORES = "All cores that the process may use are used where that pays; limit those of the process."
SOFT = (
    "SoftMargin(C=...) weighs the norm of the weights against the errors; the larger C, the less it shrinks."
)
MARGIN_KERNEL = "Use MaxMargin, SoftMargin or KernelPerceptron, which have kernels."

EVERYWHERE = {
    "break_ties": JOINTLY,
    "cache_size": "No kernel matrix of all rows is kept.",
    "decision_function_shape": JOINTLY,
    "dual": "The perceptron in its dual form is KernelPerceptron; LinearProgram(form='dual') is the program.",
    "epsilon": "The losses that have it are not offered here.",
    "intercept_scaling": "The coordinate of ones has its weight like any other; scale the columns instead.",
    "l1_ratio": "SoftMargin has the squared norm as its only penalty.",
    "multi_class": JOINTLY,
    "n_jobs": CORES,
    "probability": CALIBRATE,
    "shrinking": "Rows that are not needed are left out of the working set by themselves.",
}

PERCEPTRONS = {
    "C": SOFT,
    "alpha": "The perceptron has no penalty. SoftMargin(C=1 / (alpha * rows), fit_intercept=True) minimises "
    "the hinge loss with that one.",
    "early_stopping": "The run ends by itself when the classes are separated; max_iter and max_updates bound "
    "it. Where they overlap, average=True is steadier than stopping early.",
    "gap": "The perceptron stops at any separator. MaxMargin(gap=...) finds the one of largest margin.",
    "inseparable": "A run that finds no separator warns. Ask sx.separability for a verdict.",
    "intercept": "Pass fit_intercept=True or False.",
    "learning_rate": "The rate is the same in every update: pass eta0=...",
    "loss": "The perceptron corrects mistakes and nothing else. SoftMargin minimises the hinge loss.",
    "max_passes": "It is called max_iter, as in scikit-learn.",
    "n_iter_no_change": "The run ends with a pass without mistakes; max_iter and max_updates bound it.",
    "penalty": f"The perceptron has no penalty. {SOFT}",
    "power_t": "The rate is the same in every update: pass eta0=...",
    "shuffle": "Pass order='shuffled' to visit the rows in random order, order='cyclic' to visit them as "
    "they stand.",
    "tol": "The run ends with a pass without mistakes; max_iter and max_updates bound it.",
    "validation_fraction": "No rows are kept back. Choose max_iter by sklearn.model_selection.GridSearchCV.",
}

MARGINS = {
    "alpha": "SoftMargin(C=1 / (alpha * rows), fit_intercept=True) has that penalty.",
    "average": "The optimum is found to a gap that is proved, so there is nothing to average.",
    "dual": "The rows and the multipliers are both solved for; LinearProgram(form='dual') has one program "
    "each.",
    "early_stopping": "Ask for a wider gap=..., or lower max_iter.",
    "eta0": "There is no learning rate here; sx.Perceptron has one.",
    "intercept": "Pass fit_intercept=True, 'lifted' or False.",
    "intercept_scaling": "Pass fit_intercept=True to leave the intercept out of the norm.",
    "learning_rate": "There is no learning rate here; sx.Perceptron has eta0.",
    "loss": "SoftMargin has the hinge loss, MaxMargin and LinearProgram none.",
    "n_iter_no_change": "The run ends at gap=..., or at max_iter.",
    "order": "The optimum does not depend on the order of the rows.",
    "penalty": "The squared norm is the only penalty: SoftMargin(C=...).",
    "power_t": "There is no learning rate here; sx.Perceptron has eta0.",
    "shuffle": "The optimum does not depend on the order of the rows.",
    "tol": "Pass gap=..., the largest relative difference between the two objectives.",
    "validation_fraction": "No rows are kept back. Choose C by sklearn.model_selection.GridSearchCV.",
    "warm_start": "Every fit starts afresh: the optimum does not depend on the start.",
}


class Named:
    """Answers a parameter that an estimator does not have by what to do instead.

    A class says in ``_instead`` what its users may look for. Its ``__init__`` keeps an explicit list of
    parameters, as scikit-learn asks; only names that are not in it come here. ``_renamed`` has the parameters
    that were renamed: their new names, and what their old values are called now. They are accepted for one
    release, with a warning, and read from model files without one.
    """

    _instead: ClassVar[dict[str, str]] = {}
    _renamed: ClassVar[dict[str, tuple[str, dict[Any, Any]]]] = {}
    _known: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        """Note the parameters that ``__init__`` has, and let it take their old names."""
        super().__init_subclass__(**options)
        made = cls.__init__
        cls._known = tuple(inspect.signature(made).parameters)[1:]
        if cls._renamed:

            @functools.wraps(made)
            def init(self: Named, *args: Any, **parameters: Any) -> None:
                made(self, *args, **cls._current(parameters, warn=True))

            cast(Any, cls).__init__ = init

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        """Refuse parameters that ``__init__`` does not have."""
        for name in cls._current(parameters, warn=False):
            if name not in cls._known:
                raise _unknown(cls, name)
        return super().__new__(cls)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Read a pickle or model file, in which parameters may have their old names."""
        cast(Any, super()).__setstate__(self._current(state, warn=False))

    @classmethod
    def _current(cls, given: dict[str, Any], *, warn: bool) -> dict[str, Any]:
        """The parameters by their new names."""
        current = dict(given)
        for old, (name, values) in cls._renamed.items():
            if old not in given or old in cls._known or name in given:
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
        """Set parameters, those of parts as ``part__name``; returns the estimator."""
        parameters = self._current(parameters, warn=True)
        for name in parameters:
            if "__" not in name and name not in self._known:
                raise _unknown(type(self), name)
        return cast(Self, cast(Any, super()).set_params(**parameters))


class NotOffered:
    """A method that the estimators do not have: asking for it says why, and ``hasattr`` says no."""

    def __init__(self, why: str) -> None:
        self.why = why

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError(f"{owner.__name__} has no {self.name}: {self.why}")


def _unknown(kind: type[Named], name: str) -> UnknownParameterError:
    """The error for a parameter that there is not, with what to do instead."""
    known, remedy = kind._known, {**EVERYWHERE, **kind._instead}.get(name)
    if remedy is None:
        near = difflib.get_close_matches(name, known, n=1)
        remedy = f"Is it {near[0]!r}?" if near else f"Its parameters are {', '.join(known)}."
    return UnknownParameterError(f"{kind.__name__} has no parameter {name!r}.", remedy=remedy, parameter=name)
