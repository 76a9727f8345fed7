"""python -m speclab.audit: audits serving engines (docs/engines.md). `speclab.audit` is the function."""

import sys

from .engines._audit import audit
from .engines._command import main

if __name__ == "__main__":
    sys.exit(main())

# Importing this module would otherwise hide the function of the same name.
sys.modules[__name__] = audit  # type: ignore[assignment]
