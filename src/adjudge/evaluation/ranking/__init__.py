"""Rankings of search systems under the judges' noise: ``rank`` has ``rank_systems``."""
