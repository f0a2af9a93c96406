"""Models of comparisons: which of two items is better, and who can be trusted to say."""
