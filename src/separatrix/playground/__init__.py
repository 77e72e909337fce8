"""The playground: a local page that shows, step by step, how a perceptron learns (extra ``play``).

The page sends points and settings as JSON, which `api.requests` reads as typed values. `compute` asks the
library, in a process of its own (`server.workers`), and the page draws the answer (`api.answers`). The page
itself only adds up the regions of a kernel at a step, from the kernel values and coefficients of the answer,
because one picture per step would be too much to send. `server.service` decides which requests are let in.
"""

from __future__ import annotations

from ..errors import needs

with needs("The playground", extra="play"):
    from .server.service import create_app

__all__ = ["create_app"]
