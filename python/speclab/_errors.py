"""Errors of inputs."""

from __future__ import annotations

from . import _core


class ConfigError(ValueError):
    """A config, a rule's parameters or a file that cannot be used.

    The message has file, JSON path, value and remedy, as the program prints them.

    Attributes:
        path: JSON pointer of the faulty value ("/models/target/kind"); empty if there is none.
        file: the file that was read; empty for a dict.
    """

    def __init__(self, sentence: str, path: str = "", file: str = "") -> None:
        super().__init__(sentence)
        self.path = path
        self.file = file


_core.set_config_error(ConfigError)
