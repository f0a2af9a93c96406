"""Estimates from few labels by people and many by any judges.

``estimate`` makes an estimate, ``choosing`` draws the items that people should label next. Behind
them are ``_targets`` and ``_rankings``, what is estimated; ``_sampling``, how gold was drawn;
``_difference``, the estimate from beliefs and gold; and ``_checks``, what can be wrong with gold.
"""
