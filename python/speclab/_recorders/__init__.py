"""Recorders of models outside speclab. These modules import nothing of the package, so that scripts/record_*.py can use
them without it."""
