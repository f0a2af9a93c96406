"""The five papers behind adjudge, run again: published values next to those obtained here.

One module or folder per paper. Each has ``TITLE``, ``SOURCE`` and ``replicate(options)``, which
returns a ``Replication``; ``results`` turns that into a page, CSV files and pictures.
"""
