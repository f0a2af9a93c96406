"""The figures, one a file: each takes results and gives an Altair chart in the colours of light."""
