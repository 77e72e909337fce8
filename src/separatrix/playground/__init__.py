"""The playground: a local page that shows a perceptron think, on points of one's own (extra ``play``).

In: points and settings, as JSON that `codec` checks against the types of `requests`. `engine` asks the
library, in a process of its own (`workers`), and the answer (`answers`) is all that the page draws. Only the
regions of a kernel at a step are added up there, from the kernel values and coefficients of the answer: one
picture for each step would be too much to send. `server` lets in whom it should.
"""

from __future__ import annotations

from ..errors import needs

with needs("The playground", extra="play"):
    from .server.service import create_app

__all__ = ["create_app"]
