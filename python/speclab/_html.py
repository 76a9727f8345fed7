"""Results in notebooks."""

from html import escape


class Shown:
    """A result that a notebook shows as its text."""

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"
