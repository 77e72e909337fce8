"""``separatrix play``: serve the playground to a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..console import say, show


def play(
    *,
    port: Annotated[int | None, {"min": 0, "max": 65535}] = None,
    host: str = "127.0.0.1",
    lesson: str | None = None,
    browser: bool = True,
    static: Path | None = None,
    address: str | None = None,
) -> None:
    """Watch a perceptron learn from your own points, in the browser, with proofs.

    This program serves the page on this machine, and sends nothing anywhere else. Press Ctrl-C to stop it.

    For example:

        separatrix play

        separatrix play --lesson 0

        separatrix play --port 9000 --no-browser

        separatrix play --static site --address https://example.org/play/

    Options
    -------
    port, -p N: The port; 0 selects a free one.
    host ADDRESS: The address to listen on. If it can be reached from other machines, the link contains an
        access token.
    lesson, -l N: Start with the lesson for this chapter of the course: 0 to 4.
    browser: Open the page in a browser.
    static DIR: Instead of serving the page, write it into a folder that any web server can serve, without
        Python. Soft margins, linear programs, budgets, films and more than 500 points are left out there.
    address URL: The address at which the folder of --static will be served; shared links open there.
    """
    from ...errors import needs

    if static is not None:
        with needs("The playground", extra="play"):
            from ...playground.static_site import write_site

        size = write_site(static, address)
        show(f"Wrote the playground to {static} ({size / 1e6:.1f} MB).")
        return

    with needs("The playground", extra="play"):
        from ...playground.server.listen import listen

    with listen(host, port, lesson=lesson) as place:
        if place.note:
            say(place.note)
        show(f"The playground is at {place.address}", "Press Ctrl-C to stop it.")
        if browser and not place.open_browser():
            say("No browser was found. Open the address above in a browser.")
        place.serve()
    raise KeyboardInterrupt
