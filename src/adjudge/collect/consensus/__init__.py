"""The live consensus: refitted in the background, and what follows from it."""
