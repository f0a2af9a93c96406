"""Plain values: what passes between judges, requesters and the services. No database, no web."""
