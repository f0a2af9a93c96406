"""A client that soon gives up a scheduler that is lost; to reach one it has all its time.

``python impatient.py WORDS`` is the command line with such a client.
"""

from __future__ import annotations

from distributed import Client

from adjudge.cli import main

LOOKED = 1.0  # seconds that a lost scheduler is looked for: ten otherwise, in which nothing happens

_reconnect = Client._reconnect


async def look_briefly(client: Client) -> None:
    """Look for a scheduler that was connected and is no more."""
    client._timeout = LOOKED
    await _reconnect(client)


if __name__ == "__main__":
    Client._reconnect = look_briefly
    main()
