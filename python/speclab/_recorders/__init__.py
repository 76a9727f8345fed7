"""Recorders of models outside speclab. The modules import nothing of the package, so that scripts/record_*.py, which
run without it, read them from here."""
