"""The process: it can be stopped from its first moment, before anything heavy is imported."""

import os
import signal
import sys


def main() -> None:
    """Start the command line."""
    signal.signal(signal.SIGINT, _stop)
    signal.signal(signal.SIGTERM, _end)
    from adjudge.cli import main as run

    run()


def _stop(*_: object) -> None:
    """Ctrl-C while the command line is still being imported: there is nothing to clean up."""
    sys.stderr.write("stopped\n")
    sys.stderr.flush()
    os._exit(130)


def _end(*_: object) -> None:
    os._exit(143)


if __name__ == "__main__":
    main()
