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

COMMANDS = {
    "create": create.COMMAND,
    "import": importing.COMMAND,
    "policy": policy.COMMAND,
    "state": state.COMMAND,
    "status": status.COMMAND,
    "arms": arms.COMMAND,
    "gold": gold.COMMAND,
    "export": export.COMMAND,
    "members": members.COMMAND,
    "token": token.COMMAND,
}
