"""Diagnosis of judges and items: whom to keep, train or drop, and what to ask next.

``diagnose`` makes a diagnosis, ``advice`` has the thresholds by which judges are kept or dropped,
``judge_tables`` the tables of judges and of their features, ``families`` the families of judges,
and ``next_judges`` who should judge an item next.
"""
