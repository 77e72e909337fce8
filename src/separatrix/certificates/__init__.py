"""Stage 3, trusted: what a certificate says, and the code that checks it.

A certificate and data flow in; a `Check` flows out. Nothing here solves a problem or imports a solver. To
check a verdict by reading the code, read this package, the reader of the data (`inputs.data` and what it
imports; `distributed` too if the data are a Dask collection), two modules of `rows` (`blocks`, `threads`),
`deadline`, `errors`, `float_environment` and `sparse`. A contract in pyproject.toml and a test enforce this.
"""

from __future__ import annotations

from .check import Check, verify
from .claims import Approximate, Certificate, Multipliers

__all__ = ["Approximate", "Certificate", "Check", "Multipliers", "verify"]
