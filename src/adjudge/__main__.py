"""The command line as a module: ``python -m adjudge``."""

from adjudge.cli import main

if __name__ == "__main__":
    main()
