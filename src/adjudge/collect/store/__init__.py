"""The store of collecting: tables, migrations, transactions on SQLite or PostgreSQL."""
