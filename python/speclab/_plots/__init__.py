"""Figures of results, for `speclab plot` and `Result.plot`: plain data (figure) and the drawing by matplotlib (plane, picture).
Nothing of the package is imported, so that the program runs it without its extension module."""
