"""LLM judges: the audit of each, the card that binds it, and the gate of a release.

``audit`` makes every check and gives a verdict per judge, ``rates`` has the measures, ``corrected``
the numbers corrected by gold and where they hold, ``panel`` what several judges are worth.
``card`` stores an audit, ``gate`` checks new judgments against it. ``replacement`` is the
alternative annotator test, and ``soft_judgments`` makes shares of a model's samples.
"""
