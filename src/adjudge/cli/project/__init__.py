"""adjudge project: collection projects from the command line, on the server's own database."""

from adjudge.cli.project import access, arms, export, gold, progress, setup

COMMANDS = {
    "create": setup.create,
    "import": setup.import_items,
    "policy": progress.set_policy,
    "state": setup.set_state,
    "status": progress.show_status,
    "arms": arms.run,
    "gold": gold.run,
    "export": export.run,
    "members": access.list_members,
    "member": access.change_account,
    "token": access.make_token,
}
