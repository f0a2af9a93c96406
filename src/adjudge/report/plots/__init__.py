"""Charts of results, made with Altair in the colours of the light theme."""
