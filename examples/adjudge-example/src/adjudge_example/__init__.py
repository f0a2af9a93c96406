"""A model and a format for adjudge."""
