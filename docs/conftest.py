"""Skip a page that needs an extra package if the package is not installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("firthmodels") else ["guide/remedies.md"]
