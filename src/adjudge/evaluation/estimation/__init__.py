"""Estimates that can be defended: few labels by people, many by any judges.

One idea a file: ``targets`` and ``rankings`` are what is estimated, ``expansion`` how it is a sum
over items, ``sampling`` how gold was drawn, ``crossfit`` what is believed of items without their
own gold, ``levels`` and ``kinds`` what topics and places change of that, ``difference`` the
estimate from both (classical and prediction-powered), ``rogan_gladen`` and ``clustered`` the other
ways, ``checks`` what can be wrong, ``choosing`` which items people should label next, and
``estimate`` the whole.
"""
