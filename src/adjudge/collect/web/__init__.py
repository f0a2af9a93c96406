"""The web layer of the collection server: it loads, calls the desk or the office, and shows."""
