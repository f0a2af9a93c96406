"""LLM judges: how good each version is, and whether it may replace people.

``alignment`` measures every version of a model, ``soft_judgments`` makes shares of its samples,
``replacement`` tests whether models may replace people and simulates the power of that test, and
``panel`` puts people and models side by side for the report.
"""
