"""The web layer of the collection server: it parses, calls a service, and shows."""
