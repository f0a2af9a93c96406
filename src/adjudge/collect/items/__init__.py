"""Items in the store: put there, counted, closed. Everything that changes an item is here."""
