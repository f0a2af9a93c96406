"""Passwords that cost little to keep: at a real one's price, many tests would do little else."""

from __future__ import annotations

from argon2 import PasswordHasher

from adjudge.collect.services import accounts

REAL = accounts._HASHER  # what a server keeps them with; tests/collect/services/test_accounts.py


def hash_quickly() -> None:
    """Keep passwords in this process by argon2 still, but with as little work as it allows."""
    accounts._HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
