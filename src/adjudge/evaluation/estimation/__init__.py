"""Estimates that can be defended: few labels by people, many by any judges.

``estimate`` is the whole, ``choosing`` which items people should label next, ``sentences`` what a
report says. Behind them stand ``_targets`` and ``_rankings``, what is estimated; ``_expansion``,
how it is a sum over items; ``_sampling``, how gold was drawn; ``_difference``, the estimate from
beliefs and gold; ``_levels``, what topics and places change of beliefs; ``_rogan_gladen``, another
way; and ``_checks``, what can be wrong with gold.
"""
