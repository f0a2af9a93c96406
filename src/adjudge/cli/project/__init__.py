"""adjudge project: collection projects from the command line, on the server's own database."""

from adjudge.cli.project import (
    arms,
    create,
    export,
    gold,
    importing,
    members,
    policy,
    state,
    status,
    token,
)

NAME = "project"
HELP = "Make, fill, watch and take out collection projects, on the database of 'adjudge serve'."
COMMANDS = (create, importing, policy, state, status, arms, gold, export, members, token)
