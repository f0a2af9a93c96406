"""Judgments, gold, scales and consensus: frozen, integer-coded, Arrow in and out.

Depends on NumPy, SciPy and Arrow only.
"""
