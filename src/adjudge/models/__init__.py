"""One file a published model: its settings and fit()."""
