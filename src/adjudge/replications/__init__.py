"""One file a paper: its published values beside those obtained here; nothing is tuned to agree."""
