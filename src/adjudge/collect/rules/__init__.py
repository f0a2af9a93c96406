"""What is decided, and by which rule: pure functions on plain values, no database, no clock."""
