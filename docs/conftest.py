"""A page that needs a package beyond those of the tests is left out where that is missing."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("firthmodels") else ["guide/remedies.md"]
