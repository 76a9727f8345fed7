"""Makes environments that use this Python, for engines that are installed with the tests."""

import sys


def environment(folder, name):
    """Makes FOLDER/NAME/bin/python; returns FOLDER."""
    python = folder / name / "bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return folder
