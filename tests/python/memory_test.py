"""Tests that objects whose methods are models, rules, drafters or policies are freed."""

import gc
import weakref

import pytest

import speclab
from speclab import models

ROWS = [0.5, 0.5], [0.25, 0.75]


class OfItself:
    """Has a model that is its own method."""

    def __init__(self):
        self.model = models.from_function(self.row)
        self.mixed = models.from_config({"kind": "mixture", "epsilon": 0.5, "other": {"kind": "zipf", "vocab": 2}}, target=self.model)

    def row(self, tokens):
        return [0.5, 0.5]


def freed(reference):
    gc.collect()
    return reference() is None


def test_an_object_that_is_its_own_model():
    made = OfItself()
    gc.collect()
    assert made.model([1]).tolist() == [0.5, 0.5] and made.mixed([1])[0] > 0.5
    reference = weakref.ref(made)
    del made
    assert freed(reference)


def test_a_model_made_from_another_keeps_it():
    made = OfItself()
    mixed, reference = made.mixed, weakref.ref(made)
    del made
    assert not freed(reference) and mixed([1])[0] > 0.5
    del mixed
    assert freed(reference)


class Failing:
    """A role whose error, which it keeps, leads back to it by the handle in a frame."""

    error = None

    def __call__(self, *arguments):
        raise ZeroDivisionError(*arguments)

    def row(self, row):
        raise ZeroDivisionError(row)


@pytest.mark.parametrize("call", [
    lambda made: speclab.prove(made, *ROWS),
    lambda made: speclab.prove(speclab.rule(plain=made.row)(lambda draw, *rows: (0, 0)), *ROWS),
    lambda made: speclab.prove("token", *ROWS, policy=made),
    lambda made: speclab.prove("token", ROWS[0], speclab.drafter(made)),
    lambda made: speclab.simulate(*ROWS, 2, made, rounds=64),
], ids=["rule", "plain", "policy", "drafter", "simulate"])
def test_roles_that_keep_their_error(call):
    made = Failing()
    try:
        call(made)
    except ZeroDivisionError as error:
        made.error = error
    assert made.error is not None
    reference = weakref.ref(made)
    del made
    assert freed(reference)
