"""Gold: designed, kept, doubted, edited, and everyone regraded."""
