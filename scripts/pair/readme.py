"""Refreshes the table of files in a README: name, bytes and the first digits of SHA-256, which a test compares."""

import hashlib
import re


def refresh(readme, files):
    """Writes the numbers of the files into their rows, which begin with the name; without a README, prints rows."""
    text = readme.read_text(encoding="utf-8") if readme.exists() else ""
    for file in files:
        content = file.read_bytes()
        row = f"| `{file.name}` | {len(content):,} | `{hashlib.sha256(content).hexdigest()[:16]}` |"
        text, found = re.subn(rf"(?m)^\| `{re.escape(file.name)}` \|[^|]*\|[^|]*\|", row, text)
        if not found:
            print(row)
    if text:
        readme.write_text(text, encoding="utf-8")
