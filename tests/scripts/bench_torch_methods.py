"""Tests the methods that bench_torch.py times, with a stub in place of torch. Arguments: PROGRAM SOURCE."""
import sys
import types
from pathlib import Path

SCRIPTS = Path(sys.argv[2]) / "scripts"
sys.path.insert(0, str(SCRIPTS))
torch = types.ModuleType("torch")
torch.Tensor = object
torch.stack = list
sys.modules["torch"] = torch

from verify_methods import case, in_rivals, sizes  # noqa: E402


class Tensor:
    """A stub tensor: any part or format of it is a tensor again."""
    shape = (3, 4)

    def __getitem__(self, _):
        return self

    def float(self):
        return self


def as_before(candidate_input_ids, candidate_logits, candidate_length, new_logits, is_done_candidate):
    """The parameters of transformers.generation.utils._speculative_sampling from 4.40 on: none has a default."""
    assert is_done_candidate is False
    return called(candidate_input_ids, candidate_logits, candidate_length, new_logits)


def as_now(candidate_input_ids, candidate_logits, candidate_length, new_logits, assistant_ensemble_weight=None):
    """The parameters from 5.23 on: a weight of False would accept everything."""
    assert assistant_ensemble_weight is None
    return called(candidate_input_ids, candidate_logits, candidate_length, new_logits)


def called(candidate_input_ids, candidate_logits, candidate_length, new_logits):
    assert candidate_length == 4
    assert all(isinstance(each, Tensor) for each in (candidate_input_ids, candidate_logits, new_logits))
    calls.append(1)
    return Tensor(), 2


for function in (as_before, as_now):
    calls = []
    accepted, following = in_rivals.one_by_one(function)(case.Case(*(Tensor() for _ in range(4))))()
    assert len(calls) == len(accepted) == len(following) == 3

# --only takes names between commas.
in_speclab = (SCRIPTS / "verify_methods" / "in_speclab.py").read_text()
in_wheel = (SCRIPTS / "verify_methods" / "in_wheel.py").read_text()
names = list(sizes.PER_ID)
assert not [name for name in names if "," in name], names
assert all(f'"{name}"' in in_speclab for name in names if name.startswith("speclab-fused-")), names
assert all(f'"{name}"' in in_wheel for name in ("speclab-operator", "speclab-operator-cut")) and "speclab-operator" in names
print("the arguments of Hugging Face's function, before and now; names without commas")

# step_shares.py predicts a measured time that is left out within 9%, and from 16 requests on within 3%, as docs/gpu.md says.
sys.path.insert(0, str(SCRIPTS / "gpu"))
import step_shares  # noqa: E402

for method in ("fused", "baseline"):
    times = step_shares.measured(method)
    assert len(times) == 9
    for size in sorted(times)[1:-1]:
        predicted = step_shares.time_of({other: time for other, time in times.items() if other != size}, size)
        assert abs(predicted / times[size] - 1) < (0.03 if size >= 16 * step_shares.VOCAB else 0.09), (method, size, predicted, times[size])
    assert step_shares.time_of(times, 2 * max(times)) > 1.8 * times[max(times)] and step_shares.time_of(times, 1) > 0
