"""Runs the examples in docstrings, and checks that everything public has a docstring and types."""

import doctest
import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import speclab

# `python -m` runs the module speclab.audit; imports get the function of this name.
MODULES = [name for _, name, _ in pkgutil.iter_modules(speclab.__path__) if name not in ("_core", "audit")] + ["engines._audit", "engines._server_audit"]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(f"speclab.{name}")
    names = {**vars(speclab), **vars(module), "np": np}
    result = doctest.testmod(module, globs=names, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def public_functions():
    for holder in (speclab, speclab.models):
        for name in holder.__all__:
            value = getattr(holder, name)
            if inspect.isfunction(value):
                yield value
            elif inspect.isclass(value):
                for member in vars(value).values():
                    if inspect.isfunction(member) and not member.__name__.startswith("_"):
                        yield member


@pytest.mark.parametrize("function", sorted({*public_functions()}, key=lambda f: f.__qualname__), ids=lambda f: f.__qualname__)
def test_public_functions_are_described(function):
    assert function.__doc__, "no docstring"
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty, "no type of the result"
    if "." not in function.__qualname__:
        # It needs models of real size.
        assert ">>>" in function.__doc__ or function.__name__ == "exact", "no example"
        assert len(signature.parameters) < 2 or "Args:" in function.__doc__


def test_everything_listed_is_there():
    assert sorted(speclab.__all__) == speclab.__all__
    for name in speclab.__all__:
        assert hasattr(speclab, name)
