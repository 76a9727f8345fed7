"""Tests scripts/check_kernel.py, which judges a function of verification: right ones pass, and each planted fault is found. NumPy is enough; what
needs torch is skipped by name.

False alarms: decisions of a right function differ from the definition's only for uniforms within the band. Each of the 18 tests of laws of right
functions, 30 with those marked as slow, rejects with probability 3.3e-7.
"""
import functools
import itertools
import math
import os
import random
import re
import subprocess
import sys

import pytest

pytest.importorskip("numpy")

from conftest import SOURCE  # noqa: E402
from verify_methods import law, made_requests, mine  # noqa: E402

# All functions get the same requests, which take longer to make than to judge.
for maker in ("random_requests", "edge_requests"):
    setattr(made_requests, maker, functools.cache(getattr(made_requests, maker)))
SHAPES = mine.SHAPES[:4]
REQUESTS = 4_000
CHECK = SOURCE / "scripts/check_kernel.py"

RIGHT = """
import numpy as np

def softmax(logits):
    weights = np.exp(logits.astype(np.float64) - logits.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)

def verify(target_logits, draft_logits, drafted, uniforms, lengths):
    accepted, following = [], []
    for p, q, ids, u, length in zip(softmax(target_logits), softmax(draft_logits), drafted, uniforms, lengths):
        k = 0
        while k < length and u[k] < p[k, ids[k]] / q[k, ids[k]]:
            k += 1
        weights = p[k] if k == length else np.maximum(p[k] - q[k], 0)
        sums = weights.cumsum()
        accepted.append(k)
        following.append(min(np.searchsorted(sums, u[-1] * sums[-1], side="right"), len(sums) - 1))
    return np.array(accepted), np.array(following)

def own(target_logits, draft_logits, drafted, seed):
    uniforms = np.random.default_rng(seed).random((len(drafted), drafted.shape[1] + 1))
    return verify(target_logits, draft_logits, drafted, uniforms, [drafted.shape[1]] * len(drafted))

def padded(target_logits, draft_logits, drafted_int32, uniforms_float32, lengths_int32):
    assert drafted_int32.dtype == lengths_int32.dtype == np.int32 and uniforms_float32.dtype == np.float32
    accepted, following = verify(target_logits, draft_logits, drafted_int32, uniforms_float32.astype(float), lengths_int32)
    tokens = np.full((len(accepted), drafted_int32.shape[1] + 1), -1)
    for row, k, ids, token in zip(tokens, accepted, drafted_int32, following):
        row[:k + 1] = [*ids[:k], token]
    return tokens

def of_probabilities(target_probs, draft_probs, drafted, uniforms, lengths):
    assert abs(target_probs.sum(-1) - 1).max() < 1e-4
    with np.errstate(divide="ignore"):
        return verify(np.log(target_probs, dtype=float), np.log(draft_probs, dtype=float), drafted, uniforms, lengths)
"""
# What the fault changes in RIGHT, and whether functions with their own randomness show it.
FAULTS = {
    "the residual is forgotten": ("np.maximum(p[k] - q[k], 0)", "p[k]", True),
    "the bonus is the draft's": ("p[k] if k == length", "q[k - 1] if k == length and k else p[k] if k == length", True),
    "uniforms that equal the ratio accept": ("u[k] < p[k, ids[k]]", "u[k] <= p[k, ids[k]]", False),
    "the next position's row decides": ("< p[k, ids[k]]", "< p[k + 1, ids[k]]", True),
    "the residual is of the row before": ("np.maximum(p[k] - q[k], 0)", "np.maximum(p[k - 1] - q[k - 1], 0)", True),
    "the residual's sum is taken for 1": ("u[-1] * sums[-1]", "u[-1]", True),
    "lengths are ignored": ("lengths):\n        k = 0", "[len(ids) for ids in drafted]):\n        k = 0", False),
    "ids of weight 0 are drawn at uniform 0": ('side="right"', 'side="left"', False),
    "softmax in the logits' format": ("logits.astype(np.float64)", "logits", False),
}


def function(folder, text, name, number=itertools.count()):
    file = folder / f"written_{next(number)}.py"
    file.write_text(text)
    return mine.Function(f"{file}:{name}")


def judged(judge, seed=1, shapes=SHAPES, laws=mine.LAWS, **options):
    """Returns the lines that are printed; the last entry is the number of failures."""
    lines = []
    failures = mine.check(judge, mine.NumPy(seed), mine.NumPy.dtypes, REQUESTS, seed=seed, shapes=shapes, laws=laws, show=lines.append, **options)
    assert failures == sum(line.startswith("FAILED") for line in lines) and len(lines) >= 1 + len(shapes) + len(laws)
    return [*lines, failures]


@pytest.mark.parametrize("name", ["verify", "own", "padded", "of_probabilities"])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_right_functions_pass(tmp_path, name, seed):
    found = judged(function(tmp_path, RIGHT, name), seed, shapes=mine.SHAPES[:5] if seed == 1 else SHAPES)
    assert found[-1] == 0, found


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(tmp_path, fault):
    before, after, shown = FAULTS[fault]
    assert RIGHT.count(before) == 1
    text = RIGHT.replace(before, after)
    found = judged(function(tmp_path, text, "verify"), laws=())
    assert found[-1] and any(line.startswith("        request ") for line in found[:-1]), found
    failed = [line for line in judged(function(tmp_path, text, "own"), shapes=(), laws=mine.LAWS[:2])[:-1] if line.startswith("FAILED")]
    assert any("law" in line for line in failed) == shown, failed


def test_rows_with_gaps(tmp_path):
    """A function that reads rows as if they were dense is found; without gaps it passes."""
    dense = RIGHT.replace("softmax(target_logits)", "softmax(as_if_dense(target_logits))") + """
def as_if_dense(rows):
    return rows if rows.base is None else rows.base.reshape(-1)[:rows.size].reshape(rows.shape)
"""
    found = judged(function(tmp_path, dense, "verify"), laws=())
    assert found[-1] and "gaps between rows" in " ".join(found[:-1])
    assert judged(function(tmp_path, dense, "verify"), laws=(), layouts=(False,))[-1] == 0


def test_ids_of_16_bits_are_found(tmp_path):
    """In the case with the vocabulary of Llama 3 a right next token is above 65,535, with any seed and without given uniforms, too."""
    assert mine.SHAPES[-1][2] == 128_256
    place = "np.array(accepted), np.array(following)"
    assert RIGHT.count(place) == 1
    found = judged(function(tmp_path, RIGHT.replace(place, "np.array(accepted), np.array(following) % 65536"), "own"), laws=(), shapes=mine.SHAPES[-1:], layouts=(False,))
    assert found[-1] == 1 and "V = 128,256: " in found[1] and found[1].startswith("FAILED"), found


@pytest.mark.parametrize(("change", "argument"), [
    ("target_logits[...] = 0", "target_logits"), ("draft_logits[0, -1, -1] += 1", "draft_logits"), ("drafted += 1", "drafted"),
    ("uniforms += 1", "uniforms"), ("lengths[0] = 0", "lengths")])
def test_changed_arguments_are_found(tmp_path, change, argument):
    changing = RIGHT.replace("    return np.array(accepted)", f"    {change}\n    return np.array(accepted)")
    found = judged(function(tmp_path, changing, "verify"), laws=(), shapes=SHAPES[:1])
    assert found[-1] == 2 and f"it changed the contents of its argument {argument}, " in "\n".join(found[:-1]), found


@pytest.mark.parametrize(("body", "said"), [
    ("return np.zeros(3), np.zeros(3)", r"ndarray of shape \[3\] and float64 .* accepted and next, both \[11\]"),
    ("return drafted", r"returned ndarray of shape \[11, 4\] and int64"),
    ("return None", r"returned None"),
    ("raise IndexError('of mine')", r"raised IndexError: of mine"),
    ("return np.full((len(drafted), drafted.shape[1] + 1), 7)", r"request 0 has the tokens \[7, 7, 7, 7, 7\]"),
    ("return np.full(len(drafted), 9), np.zeros(len(drafted), int)", r"accepted 9, next 0; right is accepted 0"),
    ("return np.zeros(len(drafted), int), np.full(len(drafted), 99999)", r"accepted 0, next 99999"),
    ("return np.zeros(len(drafted), int), np.full(len(drafted), -2)", r"accepted 0, next -2"),
])
def test_what_came_back_is_named(tmp_path, body, said):
    text = f"import numpy as np\ndef verify(target_logits, draft_logits, drafted):\n    {body}\n"
    found = judged(function(tmp_path, text, "verify"), laws=())
    assert re.search(said, "\n".join(found[:-1])), found


@pytest.mark.parametrize(("head", "said"), [
    ("target, draft_logits, drafted", "the parameter target is unknown: target_logits, target_probs"),
    ("target_logits_float32, draft_logits, drafted", "the parameter target_logits_float32 is unknown"),
    ("target_logits, draft_logits, drafted=[", "cannot be loaded: SyntaxError"),
    ("target_logits, draft_logits", "one of drafted is needed"),
    ("target_logits, target_probs, draft_logits, drafted", "one of target_logits and target_probs is needed"),
])
def test_other_parameters_are_refused(tmp_path, head, said):
    with pytest.raises(mine.SpeclabError, match=said):
        function(tmp_path, f"def verify({head}): pass", "verify")
    function(tmp_path, "def verify(target_logits, draft_logits, drafted, stream=None): pass", "verify")


def run(*arguments):
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, CHECK, *arguments], capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout + done.stderr


def test_wrong_options(tmp_path):
    (tmp_path / "mine.py").write_text(RIGHT)
    for arguments, said in ((["nowhere.py:verify"], "there is no file nowhere.py"), ([f"{tmp_path}/mine.py:other"], "has no function 'other'"),
                            ([f"{tmp_path}/mine.py:verify", "--dtypes", "bfloat16"], "float32, float16 are known to NumPy"),
                            ([f"{tmp_path}/mine.py:verify", "--requests", "5"], "--requests is 20000 or more")):
        code, text = run(*arguments)
        assert code == 2 and said in text, text


def test_law_is_that_of_the_enumerator():
    speclab = pytest.importorskip("speclab")
    p, q, gamma = [0.5, 0.3, 0.2], [0.1, 0.3, 0.6], 2
    found = law.emitted_law([p] * (gamma + 1), [q] * gamma)
    proof = speclab.prove("token", p, q, gamma, exact=False)
    completed = dict.fromkeys(itertools.product(range(3), repeat=gamma + 1), 0.0)
    for tokens, probability in found.items():
        for rest in itertools.product(range(3), repeat=gamma + 1 - len(tokens)):
            completed[(*tokens, *rest)] += probability * math.prod(p[id] for id in rest)
    assert max(abs(completed[tokens] - float(proof.law.get(tokens, 0))) for tokens in completed) < 1e-12
    assert abs(sum(len(tokens) * probability for tokens, probability in found.items()) - float(proof.expected_emitted)) < 1e-12


def test_chi_squared_test_keeps_its_level_and_power():
    """In 400 tests at level 0.05, 20 false alarms are expected, and 50 are 7 standard deviations more. A law at the distance that is printed for power
    0.99 is missed in 4 of 400 tests, and 18 are 7 standard deviations more. Degrees of freedom are even, as the tail needs."""
    for classes, total in ((11, 2000), (12, 2000), (12, 130), (40, 350)):
        uneven = {(id,): 2 * (id + 1) / (classes * (classes + 1)) for id in range(classes)}
        counts = {tokens: round(probability * total) for tokens, probability in uneven.items()}
        p, degrees, _ = law.p_value(counts, uneven, total)
        assert degrees % 2 == 0 and 2 <= degrees < classes and p > 0.5
    source = random.Random(1)
    exact = {(id,): 1 / 12 for id in range(12)}
    total, level = 2000, 0.05
    distance = law.distance_found(10, total, level)
    shift = 2 * distance / 12
    moved = [1 / 12 + (shift if id % 2 else -shift) for id in range(12)]

    def alarms(weights):
        count = 0
        for _ in range(400):
            drawn = source.choices(range(12), weights, k=total)
            count += law.p_value({(id,): drawn.count(id) for id in range(12)}, exact, total)[0] <= level
        return count
    assert alarms([1.0] * 12) < 50
    assert 400 - alarms(moved) < 18


def test_too_few_requests_are_refused():
    with pytest.raises(ValueError, match="5 requests are too few"):
        law.p_value({(0,): 5}, {(0,): 0.5, (1,): 0.3, (2,): 0.2}, 5)


def test_uniforms_of_single_precision():
    made = made_requests.random_requests(3, 2, 9, True, 4)
    assert all(u * 2**24 == int(u * 2**24) for u in made.uniforms)
    assert any(length < 2 for length in made.lengths)


def page_blocks(language):
    """Returns the blocks of one language of the page's section."""
    section = (SOURCE / "docs/kernels-python.md").read_text(encoding="utf-8").split("## Your own kernel\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(rf"^```{language}\n(.*?)^```", section, flags=re.S | re.M)


def assert_printed(block, text):
    """Each line of the page is printed, in order; "..." stands for any lines."""
    printed = iter(text.splitlines())
    for line in block.splitlines():
        assert line == "..." or line in printed, f"{line!r} is not in its place in\n{text}"


@pytest.mark.parametrize("code", [1, pytest.param(0, marks=pytest.mark.slow)])
def test_recipe_in_c(tmp_path, monkeypatch, code):
    monkeypatch.chdir(tmp_path)
    [source] = page_blocks("c")
    _, wrapper = page_blocks("python")
    (tmp_path / "by_c.py").write_text(wrapper)
    command = re.search(r"mine\.c: (.*) \*/", source)[1].split()
    assert source.count("<= target[") == 1
    (tmp_path / "mine.c").write_text(source if code else source.replace("<= target[", "< target["))
    if subprocess.run(command).returncode != 0:
        pytest.skip("there is no C compiler")
    found, printed = run("by_c.py:verify", *([] if code else ["--requests", "20000"]))
    assert found == code, printed
    if code:
        assert_printed(page_blocks("text")[1], printed)


def test_recipe_in_torch(tmp_path):
    pytest.importorskip("torch")
    wrapper, _ = page_blocks("python")
    place = "draft[each, accepted]"
    assert wrapper.count(place) == 1
    for text, code in ((wrapper, 0), (wrapper.replace(place, "draft[each, accepted - 1]"), 1)):
        (tmp_path / "mine.py").write_text(text)
        found, printed = run(f"{tmp_path}/mine.py:verify", "--device", "cpu", *([] if code else ["--requests", "20000"]))
        assert found == code, printed
        if code:
            assert_printed(page_blocks("text")[0], printed)


OWN_IN_TORCH = """
import torch

def verify(target_logits, draft_probs, drafted, seed):
    torch.manual_seed(seed)
    gamma, p = drafted.shape[1], target_logits.float().softmax(-1)
    each, ids = torch.arange(len(drafted)), drafted[..., None]
    ratio = (p[:, :gamma].gather(2, ids) / draft_probs.gather(2, ids))[..., 0]
    accepted = (torch.rand_like(ratio) < ratio).int().cumprod(1).sum(1)
    weights = (p[each, accepted] - torch.nn.functional.pad(draft_probs, (0, 0, 0, 1))[each, accepted]).clamp(min=0)
    following = (weights / torch.empty_like(weights).exponential_()).argmax(-1)
    tokens = torch.where(torch.arange(gamma) < accepted[:, None], drafted, -1)
    return torch.cat((tokens, torch.full_like(tokens[:, :1], -1)), 1).scatter(1, accepted[:, None], following[:, None])
"""


def test_own_randomness_in_torch_and_bench_torch(tmp_path):
    """An exponential race in place of uniforms, as vLLM draws; bench_torch.py checks and times it as the method `mine`."""
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    (tmp_path / "mine.py").write_text(OWN_IN_TORCH)
    judge = mine.Function(f"{tmp_path}/mine.py:verify")
    lines = []
    assert mine.check(judge, mine.Torch(1, "cpu"), mine.Torch.dtypes, REQUESTS, shapes=SHAPES, show=lines.append) == 0, lines
    bench = [sys.executable, SOURCE / "scripts/bench_torch.py", "--device", "cpu", "--library", os.environ["SPECLAB_KERNELS_LIBRARY"], "--only",
             "speclab-operator", "--requests", "2", "--vocabs", "1000", "--repeats", "2", "--draws", "1", "--samples", "5000", "--mine"]
    for text, code, verdict in ((OWN_IN_TORCH, 0, "passed"), (OWN_IN_TORCH.replace(" - torch.nn", " - 0 * torch.nn"), 1, "WRONG")):
        (tmp_path / "mine.py").write_text(text)
        done = subprocess.run([*bench, f"{tmp_path}/mine.py:verify"], capture_output=True, text=True)
        assert done.returncode == code and f"mine: {verdict}" in done.stdout and re.search(r"^mine +\d", done.stdout, flags=re.M), done.stdout + done.stderr
