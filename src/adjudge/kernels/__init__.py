"""Numba loops over arrays: they know nothing of names, tables or files.

Sums are kept in integers (fixed point), so that they do not depend on the order in which they
were added: neither threads, nor blocks, nor engines, nor the order of rows changes the result.
"""
