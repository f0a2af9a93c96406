"""Models as judges: how good each version is, and whether it may stand in for people.

``alignment`` measures every version of a model, ``soft_judgments`` makes shares of its samples,
``replacement`` tests whether models may replace people, ``power`` says how many people and items
that test takes, and ``panel`` puts people and models side by side for the report.
"""
