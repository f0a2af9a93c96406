"""Arms: random assignment, quotas, and the report by arm."""
