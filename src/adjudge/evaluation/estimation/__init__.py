"""Estimates from few gold labels and many labels by any judges.

``estimate`` makes an estimate, ``choosing`` draws the items to label next. ``_targets`` and
``_rankings`` define what is estimated, ``_sampling`` how gold was drawn, and ``_difference`` the
estimators.
"""
