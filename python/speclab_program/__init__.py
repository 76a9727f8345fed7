"""The command `speclab` of the Python package. It is a package of its own, because `import speclab` takes NumPy with it."""
import os
import sys


def main() -> None:
    """Becomes the program that the package speclab carries; `speclab plot` then draws with this Python."""
    program = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "speclab/_program/bin/speclab")
    os.environ.setdefault("SPECLAB_PYTHON", sys.executable)
    os.execv(program, ["speclab", *sys.argv[1:]])
