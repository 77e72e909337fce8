"""``separatrix play``: the playground in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from ..console import say, show


def play(
    port: Annotated[
        int | None,
        typer.Option(
            "--port", "-p", metavar="N", min=0, max=65535, help="The port; 0 takes any that is free."
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            help="Where to listen. Any address but this machine's own needs a token, which is in the link.",
        ),
    ] = "127.0.0.1",
    lesson: Annotated[
        str | None,
        typer.Option(
            "--lesson", "-l", metavar="N", help="Begin with the lesson to this chapter of the course: 0 to 4."
        ),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Watch a perceptron learn from your own points, in the browser, with proofs.

    The page is served by this program on this machine. Nothing is sent anywhere else. Ctrl-C ends it.

    For example:

        separatrix play
        separatrix play --lesson 0
        separatrix play --port 9000 --no-browser
    """
    from ...errors import needs

    with needs("The playground", extra="play"):
        from ...playground.server.listen import listen

    with listen(host, port, lesson=lesson) as place:
        if place.note:
            say(place.note)
        show(f"The playground is at {place.address}", "Ctrl-C ends it.")
        if browser and not place.open_browser():
            say("No browser was found. Open the address above in one.")
        place.serve()
    raise KeyboardInterrupt
