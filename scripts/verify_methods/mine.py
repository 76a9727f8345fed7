"""Somebody's own function of verification: what it is given, and whether its decisions and the law of its tokens are right. The help of
scripts/check_kernel.py describes the function and the tests."""
import importlib.util
import inspect
import random
import sys
from array import array
from dataclasses import replace
from pathlib import Path

from speclab_kernels.c_library import SpeclabError

from . import law, made_requests

LEVEL = 1e-6
# Requests, gamma and vocabulary. The last ones are those of GPT-2, which is no multiple of 16, and of Llama 3.
SHAPES = ((1, 3, 11), (6, 1, 5), (24, 9, 37), (48, 3, 1000), (6, 5, 8193), (4, 4, 50257), (4, 4, 128256))
# Gamma, vocabulary, the ids with probability, and the divisor of --requests.
LAWS = ((2, 5, range(5), 1), (1, 17, range(17), 1), (2, 8209, (0, 15, 4096, 8191, 8208), 20))
NAMES = ("target_logits", "target_probs", "draft_logits", "draft_probs", "drafted", "uniforms", "seed", "lengths")
TYPES = {"drafted": "int64", "uniforms": "float64", "lengths": "int64"}
SUFFIXES = {"drafted": "_int32", "uniforms": "_float32", "lengths": "_int32"}


class Wrong(Exception):
    """What a function did that no right one does, as a sentence."""


class NumPy:
    """Makes the arguments as NumPy's arrays."""
    name, dtypes = "NumPy", ("float32", "float16")

    def __init__(self, seed):
        import numpy
        self.module = numpy
        numpy.random.seed(seed)

    def make(self, values, shape, dtype):
        return self.module.array(values).astype(dtype).reshape(shape)

    def full(self, shape, value, dtype):
        return self.module.full(shape, value, dtype)

    def copy(self, values):
        return values.copy()

    def floats(self, values):
        return array("f", values.astype("float32").reshape(-1).tolist())


class Torch:
    """Makes the arguments as torch's tensors."""
    dtypes = ("float32", "bfloat16", "float16")

    def __init__(self, seed, device):
        import torch
        self.module, self.device = torch, device or ("cuda" if torch.cuda.is_available() else "cpu")
        if self.device.startswith("cuda") and not torch.cuda.is_available():
            raise SpeclabError(f"--device {self.device}: torch finds no CUDA device; --device cpu does without")
        self.name = f"torch {torch.__version__} on {torch.cuda.get_device_name(self.device) if self.device.startswith('cuda') else self.device}"
        torch.manual_seed(seed)

    def make(self, values, shape, dtype):
        made = self.module.frombuffer(values, dtype=self.module.float32) if isinstance(values, array) else self.module.tensor(values)
        return made.to(self.device, getattr(self.module, dtype), copy=True).reshape(shape)

    def full(self, shape, value, dtype):
        return self.module.full(shape, value, dtype=getattr(self.module, dtype), device=self.device)

    def copy(self, values):
        return values.clone()

    def floats(self, values):
        return array("f", values.float().reshape(-1).tolist())


class Function:
    """A function of a file, and which arguments it takes."""

    def __init__(self, where):
        file, _, name = where.rpartition(":")
        if not Path(file).is_file():
            raise SpeclabError(f"{where}: there is no file {file}: FILE.py:FUNCTION is needed" if file else
                               f"{where}: FILE.py:FUNCTION is needed, with a colon")
        # The prefix keeps a file such as random.py from replacing a module. Decorators such as Triton's look in sys.modules.
        spec = importlib.util.spec_from_file_location(f"own_{Path(file).stem}", file)
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        sys.path.append(str(Path(file).resolve().parent))  # for what the file imports from its folder
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise SpeclabError(f"{where}: {file} cannot be loaded: {type(error).__name__}: {error}") from error
        self.call = getattr(module, name, None)
        if not callable(self.call):
            raise SpeclabError(f"{where}: {file} has no function {name!r}")
        self.parameters = {}
        for parameter, about in inspect.signature(self.call).parameters.items():
            kind = next((kind for kind in NAMES if parameter in (kind, f"{kind}{SUFFIXES.get(kind)}")), None)
            if kind is None and about.default is inspect.Parameter.empty:
                raise SpeclabError(f"{where}: the parameter {parameter} is unknown: {', '.join(NAMES)} are known, and with another type "
                                   f"{', '.join(kind + suffix for kind, suffix in SUFFIXES.items())}")
            if kind is not None:
                self.parameters[parameter] = kind
        kinds = list(self.parameters.values())
        for choice in (NAMES[:2], NAMES[2:4], NAMES[4:5]):
            if sum(kind in choice for kind in kinds) != 1:
                raise SpeclabError(f"{where}: has the parameters {', '.join(self.parameters)}: one of {' and '.join(choice)} is needed")
        self.probabilities = [kind.removesuffix("_probs") for kind in kinds if kind.endswith("_probs")]
        self.injected, self.ragged = "uniforms" in kinds, "lengths" in kinds
        self.signature = f"{where}({', '.join(self.parameters)})"

    def type_of(self, parameter):
        kind = self.parameters[parameter]
        return parameter[len(kind) + 1:] or TYPES[kind]

    def given(self, requests, arrays, dtype, apart, seed):
        """Returns the arguments for requests. `apart`: rows are views of a wider array with a slot more for each request."""
        count, gamma, vocab = len(requests.lengths), requests.gamma, requests.vocab
        found = {}
        for name, kind in self.parameters.items():
            if kind == "seed":
                found[name] = seed
                continue
            if kind in TYPES:
                shape = (count,) if kind == "lengths" else (count, gamma + (kind == "uniforms"))
                found[name] = arrays.make(getattr(requests, kind), shape, self.type_of(name))
                continue
            side, form = kind.split("_")
            shape = (count, gamma + (side == "target"), vocab)
            rows = arrays.make(getattr(requests, side), shape, "float32" if form == "probs" else dtype)
            if apart:
                wide = arrays.full((count, shape[1] + 1, vocab + 64 - vocab % 16), 0.5 if form == "probs" else 9.0,
                                   "float32" if form == "probs" else dtype)
                wide[:, :shape[1], :vocab] = rows
                rows = wide[:, :shape[1], :vocab]
            found[name] = rows
        return found

    def decisions(self, requests, arrays, dtype="float32", apart=False, seed=0):
        """Returns accepted and next of each request. Raises Wrong."""
        given = self.given(requests, arrays, dtype, apart, seed)
        before = {name: arrays.copy(values) for name, values in given.items() if self.parameters[name] != "seed"}
        try:
            result = self.call(**given)
        except Exception as error:
            raise Wrong(f"it raised {type(error).__name__}: {error}") from error
        for name, values in before.items():
            if not bool((given[name] == values).all()):
                raise Wrong(f"it changed the contents of its argument {name}, which its caller may read again")
        return decisions_in(result, requests)


def description(value):
    return f"{type(value).__name__} of shape {list(value.shape)} and {value.dtype}" if hasattr(value, "dtype") else repr(value)[:200]


def decisions_in(result, requests):
    count, gamma = len(requests.lengths), requests.gamma
    parts = result if isinstance(result, (tuple, list)) else (result,)
    shape = (count,) if len(parts) == 2 else (count, gamma + 1)
    if len(parts) > 2 or not all(tuple(getattr(part, "shape", ())) == shape and "int" in str(part.dtype) for part in parts):
        raise Wrong(f"it returned {' and '.join(map(description, parts))}; accepted and next, both [{count}], or tokens [{count}, {gamma + 1}], of "
                    "integers, are needed")
    if len(parts) == 2:
        return [part.tolist() for part in parts]
    accepted, following = [], []
    for request, tokens in enumerate(parts[0].tolist()):
        length = next((place for place, token in enumerate(tokens) if token == -1), gamma + 1)
        drafted = requests.drafted[request * gamma:request * gamma + max(length - 1, 0)]
        if length == 0 or tokens[:length - 1] != drafted or any(token != -1 for token in tokens[length:]):
            raise Wrong(f"request {request} has the tokens {tokens}; drafted tokens, one more token and then -1 are needed, and drafted were "
                        f"{requests.drafted[request * gamma:(request + 1) * gamma]}")
        accepted.append(length - 1)
        following.append(tokens[length - 1])
    return accepted, following


def is_wrong(requests, request, accepted, following, outcomes, band):
    """Whether the definition decides so for no uniform, or the token comes from a row that gives it no probability, by more than `band`."""
    least, most, ranges = outcomes
    low, high = ranges.get(accepted, (0, requests.vocab - 1))
    if not (least <= accepted <= most and low <= following <= high):
        return True
    p = requests.row("target", request, accepted)[following]
    return p == 0 or accepted < requests.lengths[request] and requests.row("draft", request, accepted)[following] - p > band


def explained(requests, request, accepted, following, outcomes, injected):
    """Returns a wrong decision with its rows and uniforms, in lines."""
    least, most, ranges = outcomes
    gamma, length = requests.gamma, requests.lengths[request]
    right = f"{least} to {most}" if least < most else f"{least}, next {' to '.join(str(id) for id in dict.fromkeys(ranges[least]))}"
    name = f" ({requests.names[request]})" if requests.names else ""
    lines = [f"request {request}{name}: accepted {accepted}, next {following}; right is accepted {right}"]
    uniforms = [f", uniform {u:.6g}" for u in requests.uniforms[request * (gamma + 1):(request + 1) * (gamma + 1)]] if injected else [""] * (gamma + 1)
    for position in range(min(max(accepted, most) + 1, length)):
        token = requests.drafted[request * gamma + position]
        p, q = (requests.row(side, request, position)[token] for side in ("target", "draft"))
        lines.append(f"position {position}: drafted {token}, target {p:.6g}, draft {q:.6g}, ratio {p / q if q else 0:.6g}{uniforms[position]}")
    if 0 <= accepted <= length:
        rows = [requests.row(side, request, accepted) for side in ("target", "draft")[:1 + (accepted < length)]]
        weights = rows[0] if len(rows) == 1 else [max(p - q, 0.0) for p, q in zip(*rows)]
        total = sum(weights) or 1.0
        for id in dict.fromkeys((following, *(ranges.get(accepted, ()) if injected else ()))):
            if 0 <= id < requests.vocab:
                below = sum(weights[:id]) / total
                lines.append(f"next token {id}: from {below:.6g} to {below + weights[id] / total:.6g} of the sum of weights{uniforms[-1]}")
        if requests.vocab <= 37:
            lines += [f"{side}: {' '.join(f'{p:.4f}' for p in row)}" for side, row in zip(("target", "draft"), rows)]
    return lines


class Report:
    """Prints a line for each test, and the first failure of all in full."""

    def __init__(self, show=print):
        self.show, self.failures = show, 0

    def add(self, test, detail, lines=()):
        self.show(f"{'FAILED' if lines else 'passed'}  {test}: {detail}")
        for line in lines if lines and not self.failures else ():
            self.show(f"        {line}")
        self.failures += bool(lines)


def check_decisions(report, test, function, arrays, made, dtypes, band, layouts=(False,), seed=0):
    """Adds the test of decisions on requests whose logits are rounded to each dtype, without and with gaps between rows."""
    total = judged = wrong = 0
    lines = []
    for dtype in dtypes:
        requests = made
        for side in {"target", "draft"} - set(function.probabilities):
            requests = replace(requests, **{side: arrays.floats(arrays.make(getattr(requests, side), (-1,), dtype))})
        requests = made_requests.with_probabilities(requests, function.probabilities)
        outcomes = made_requests.allowed(requests, band if function.injected else None)
        for apart in layouts:
            total += len(outcomes)
            judged += sum(least == most and ranges[least][0] == ranges[least][1] for least, most, ranges in outcomes)
            place = [f"with {dtype}{' and gaps between rows' if apart else ''}:"]
            try:
                found = list(zip(*function.decisions(requests, arrays, dtype, apart, seed)))
            except Wrong as error:
                wrong += len(outcomes)
                lines = lines or [*place, str(error)]
                continue
            bad = [i for i in range(len(found)) if is_wrong(requests, i, *found[i], outcomes[i], band)]
            wrong += len(bad)
            if bad and not lines:
                lines = [*place, *explained(requests, bad[0], *found[bad[0]], outcomes[bad[0]], function.injected)]
    report.add(test, f"{wrong} of {total} requests are wrong" if lines else f"{total} requests, {judged} of them have one outcome", lines)


def check_law(report, function, arrays, gamma, vocab, live, total, seed):
    """Adds the test of the law of tokens that `total` requests with the same rows emit."""
    source = random.Random(seed)
    target, draft = (array("f", [-made_requests.INFINITY] * (rows * vocab)) for rows in (gamma + 1, gamma))
    for row in range(gamma + 1):
        for id in live:
            target[row * vocab + id] = z = source.uniform(-1, 1)
            if row < gamma:
                draft[row * vocab + id] = z + source.uniform(-1.5, 1.5)
        if row < gamma:  # the target has an id that the draft lacks
            draft[row * vocab + live[row]] = -made_requests.INFINITY
    one = made_requests.with_probabilities(made_requests.Requests(gamma, vocab, target, draft, [], [], [gamma]), function.probabilities)
    rows = {side: [one.row(side, 0, position) for position in range(gamma + (side == "target"))] for side in ("target", "draft")}
    exact = law.emitted_law(rows["target"], rows["draft"])
    counts, calls, size = {}, 0, min(4096, 1 + (1 << 20) // vocab)
    test = f"law, V = {vocab:,}, gamma = {gamma}"
    for first in range(0, total, size):
        count = min(size, total - first)
        drafts = [source.choices(range(vocab), row, k=count) for row in rows["draft"]]
        drafted = [token for tokens in zip(*drafts) for token in tokens]
        many = replace(one, target=one.target * count, draft=one.draft * count, drafted=drafted, lengths=[gamma] * count,
                       uniforms=made_requests.uniforms_of(source, count * (gamma + 1)))
        try:
            found = function.decisions(many, arrays, seed=(seed << 20) + calls)
        except Wrong as wrong:
            return report.add(test, "no decisions", [str(wrong)])
        calls += 1
        for request, (accepted, following) in enumerate(zip(*found)):
            tokens = (*drafted[request * gamma:request * gamma + accepted], following)
            counts[tokens] = counts.get(tokens, 0) + 1
    p, degrees, (tokens, seen, mean) = law.p_value(counts, exact, total)
    wrong = p <= LEVEL / len(LAWS)
    detail = f"{total:,} requests, p {f'= {p:.2g}' if p > 1e-300 else '< 1e-300'}"
    if degrees:
        detail += f"; finds a total variation of {law.distance_found(degrees, total, LEVEL / len(LAWS)):.3f}"
    said = tokens if isinstance(tokens, str) else list(tokens)
    report.add(test, detail, [f"the emitted tokens {said} came {seen:,} times; {mean:,.1f} times are expected"] if wrong else ())


def check(function, arrays, dtypes, requests=100_000, band=2e-5, seed=1, layouts=(False, True), shapes=SHAPES, laws=LAWS, show=print):
    """Prints all tests of a Function, and returns the number that failed."""
    report = Report(show)
    check_decisions(report, "edges", function, arrays, made_requests.edge_requests(4, 21, seed), dtypes, band)
    for count, gamma, vocab in shapes:
        made = made_requests.random_requests(count, gamma, vocab, function.ragged, seed)
        check_decisions(report, f"decisions, B = {count}, gamma = {gamma}, V = {vocab:,}", function, arrays, made, dtypes, band, layouts, seed)
    for number, (gamma, vocab, live, part) in enumerate(laws):
        check_law(report, function, arrays, gamma, vocab, live, -(-requests // part), seed + number)
    return report.failures
