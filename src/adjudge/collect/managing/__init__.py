"""The requester's side: projects, judges, progress, exports, accounts, panels."""
