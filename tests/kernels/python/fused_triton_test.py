"""Tests speclab_kernels.fused_triton: its decisions in Triton's interpreter, program by program in NumPy, and its code for sm_90, which Triton
compiles without a device. Skipped by name if torch or triton is not installed."""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TRITON_INTERPRET", "1")

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

import cases  # noqa: E402
from speclab_kernels import fused_triton as fused  # noqa: E402
from speclab_kernels import triton_cutoffs, verify  # noqa: E402
from speclab_kernels.triton_cutoffs import HUGGING_FACE, VLLM  # noqa: E402

torch.set_num_threads(1)
BAND = 1e-5
TILE = 16
pytestmark = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning", "ignore:divide by zero:RuntimeWarning",
                                        "ignore:overflow:RuntimeWarning")


def batch(lengths, vocab, seed, dtype=torch.float32, bonus_rows=True):
    """Returns flat rows of requests of several lengths: target, draft, drafted, ends, uniforms of the drafted tokens and of the next one."""
    generator = torch.Generator().manual_seed(seed)
    target, draft = [], []
    for length in lengths:
        rows = 2 * torch.randn(length + 1, vocab, generator=generator)
        target.append(rows if bonus_rows else rows[:length])
        draft.append(rows[:length] + torch.randn(length, vocab, generator=generator))
    target, draft = torch.cat(target).to(dtype), torch.cat(draft).to(dtype)
    drafted = torch.multinomial(draft.float().softmax(-1), 1, generator=generator)[:, 0].int()
    uniforms = torch.rand(len(drafted), dtype=torch.float64, generator=generator)
    following = torch.rand(len(lengths), dtype=torch.float64, generator=generator)
    return target, draft, drafted, torch.tensor(lengths).cumsum(0).int(), uniforms, following


def expected(lengths, target, draft, drafted, uniforms, following, target_is, draft_is, temperature, options=None, order=HUGGING_FACE):
    """Returns tokens and margins by `cases.definition`."""
    made, start = [], 0
    for b, length in enumerate(lengths):
        rows = target[start + b:start + b + length + 1].double()
        q = None if draft is None else draft[start:start + length].double()
        heat = temperature[b] if temperature else 1.0
        if target_is == fused.LOGITS:
            if heat == 0:
                rows = torch.nn.functional.one_hot(rows.argmax(-1), rows.shape[1]).double()
            else:
                rows = rows / heat
                if options:
                    keep = torch.stack([cases.kept_ids(row, *(option[b] for option in options), min_p_first=order == VLLM) for row in rows])
                    rows = rows.masked_fill(~keep, float("-inf"))
                rows = rows.softmax(-1)
        if q is not None and draft_is == fused.LOGITS:
            q = (q / (heat or 1)).softmax(-1)
        if heat == 0:
            q = None
        both = torch.cat((uniforms[start:start + length], following[b:b + 1]))
        made.append(cases.definition(rows, q, drafted[start:start + length], both))
        start += length
    return made


def compare(result, made, max_near=1):
    near = 0
    for row, count, (tokens, margin) in zip(result[0].tolist(), result[1].tolist(), made):
        if margin < BAND:
            near += 1
            continue
        assert row == tokens + [-1] * (len(row) - len(tokens)) and count == len(tokens)
    assert near <= max_near


LENGTHS = [3, 0, 1, 4, 2, 3, 3, 4]


@pytest.mark.parametrize("target_is,draft_is,dtype", [
    ("logits", "logits", torch.float32), ("logits", "logits", torch.bfloat16), ("logits", "logits", torch.float16),
    ("logits", "probabilities", torch.float32), ("probabilities", "probabilities", torch.float32),
    ("probabilities", "logits", torch.float32), ("logits", "none", torch.float32)])
def test_decisions_are_the_definitions(target_is, draft_is, dtype):
    kinds = {"none": fused.NONE, "logits": fused.LOGITS, "probabilities": fused.PROBABILITIES}
    target, draft, drafted, ends, uniforms, following = batch(LENGTHS, 50, 3, dtype)
    drafted[3], drafted[10] = -1, 50  # the first drafted tokens of their requests
    target = target.softmax(-1) if target_is == "probabilities" else target
    draft = draft.softmax(-1) if draft_is == "probabilities" else None if draft_is == "none" else draft
    given = (target, draft, drafted, uniforms, following, kinds[target_is], kinds[draft_is])
    result = fused.verify(target, draft, drafted, ends, 4, uniforms, following, target_is=kinds[target_is], draft_is=kinds[draft_is],
                          tile=TILE)
    compare(result, expected(LENGTHS, *given, None))
    assert (result[2] & fused.TOKEN_OUT_OF_RANGE).any()


def test_decisions_are_the_kernels():
    """Decisions are those of fused.hpp in the emulator, flags included, on rows that both layouts can describe."""
    target, draft, drafted, ends, uniforms, following = batch([2] * 12, 70, 4)
    drafted[5] = -1
    draft[0, drafted[0]] = float("-inf")
    target[4, 3] = float("nan")
    target[7 * 3:7 * 3 + 2, 1] = float("inf")
    draft[2 * 9, 5] = float("nan")
    theirs = verify(target.reshape(12, 3, 70), draft.reshape(12, 2, 70), drafted.reshape(12, 2),
                    torch.cat((uniforms.reshape(12, 2), following[:, None]), 1), implementation="fused")
    tokens, counts, flags = fused.verify(target, draft, drafted, ends, 2, uniforms, following, tile=TILE)
    assert (tokens == theirs.tokens).all() and (counts == theirs.counts).all() and (flags == theirs.flags).all()
    assert set(flags.tolist()) >= {0, fused.DAMAGED_ROW, fused.DRAFT_WITHOUT_MASS, fused.TOKEN_OUT_OF_RANGE}


def test_equal_rows_and_zero_residual():
    """Equal rows are accepted whatever the uniforms are; a rejection without residual samples the target."""
    target, _, drafted, ends, uniforms, following = batch([2] * 4, 40, 5)
    draft = target.reshape(4, 3, 40)[:, :2].reshape(-1, 40)
    tokens, counts, flags = fused.verify(target, draft, drafted, ends, 2, uniforms.clamp(max=0.999), following, tile=TILE)
    assert (counts == 3).all() and (flags == 0).all()
    tokens, counts, flags = fused.verify(target, draft, drafted, ends, 2, torch.ones_like(uniforms) * 1.5, following, tile=TILE)
    assert (counts == 1).all() and (flags == fused.ZERO_RESIDUAL).all() and (tokens[:, 0] >= 0).all()


@pytest.mark.parametrize("order", [HUGGING_FACE, VLLM])
def test_sampling_options(order):
    """Each request has its temperature, top-k, top-p and min-p, for the target alone; temperature 0 takes the lowest of the largest."""
    target, draft, drafted, ends, uniforms, following = batch(LENGTHS, 50, 6)
    temperature = [1.0, 0.5, 0.0, 1.5, 0.7, 1.0, 0.0, 2.0]
    top_k, top_p, min_p = [5, 50, 3, 0, 20, 7, 1, 50], [1, .5, .9, .8, .9, 1, 1, .3], [0, 0, .1, .05, .1, 0, 0, 0.0]
    target[5, [9, 30]] = target[5].max() + 1  # a tie at temperature 0
    options = (top_k, top_p, min_p)
    result = fused.verify(target, draft, drafted, ends, 4, uniforms, following, temperature=torch.tensor(temperature),
                          top_k=torch.tensor(top_k), top_p=torch.tensor(top_p), min_p=torch.tensor(min_p), order=order, tile=TILE)
    compare(result, expected(LENGTHS, target, draft, drafted, uniforms, following, fused.LOGITS, fused.LOGITS, temperature, options,
                             order))


def test_strided_numbers_are_refused():
    target, draft, drafted, ends, uniforms, following = batch([2, 2], 30, 7)
    with pytest.raises(ValueError, match="last stride of next_uniforms is 2"):
        fused.verify(target, draft, drafted, ends, 2, uniforms, following.repeat_interleave(2)[::2], tile=TILE)


def test_draft_rows_in_slots_and_given_bonus():
    """The layout is that of vLLM's engines: drafts of request b are in row slots[b] of a larger tensor; bonus tokens were sampled elsewhere."""
    target, draft, drafted, ends, uniforms, following = batch([2, 2, 2], 30, 7, bonus_rows=False)
    slots = torch.tensor([4, 0, 2])
    wide = torch.full((5, 3, 30), float("nan"))
    wide[slots, :2] = draft.reshape(3, 2, 30)
    bonus = torch.tensor([5, 6, 7])
    flat = fused.verify(target, draft, drafted, ends, 2, uniforms, following, bonus, tile=TILE)
    slotted = fused.verify(target, wide, drafted, ends, 2, uniforms, following, bonus, slots=slots, tile=TILE)
    for one, other in zip(flat, slotted):
        assert (one == other).all()
    whole = fused.verify(target, draft, drafted, ends, 2, torch.zeros_like(uniforms), following, bonus, tile=TILE)[0]
    assert whole.tolist() == torch.cat((drafted.reshape(3, 2), bonus[:, None]), 1).tolist()


def test_compiles_for_sm_90():
    """Bounds registers and spills of each kernel as Triton's own compiler makes it. It runs as another program: in this one Triton interprets."""
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True,
                          env={**os.environ, "TRITON_INTERPRET": "0", "PYTHONPATH": os.pathsep.join(sys.path[:3])})
    assert done.returncode == 0, done.stderr
    forms = json.loads(done.stdout)
    for form, kernels in forms.items():
        for name, use in kernels.items():
            print(f"{form}: {name}: {use['REG']} registers, {use['LOCAL'] + use['STACK']} bytes spilled, {use['bytes']} bytes")
            assert use["LOCAL"] == 0 and use["STACK"] == 0
    # Most programs have 256 threads: with 128 registers or fewer two of them fit on a multiprocessor. So does one of the 512 threads that find
    # cut-offs.
    assert forms["logits"]["sum_tiles"]["REG"] <= 64 and forms["logits"]["weigh_tiles"]["REG"] <= 128
    assert forms["logits"]["find_cutoffs"]["REG"] <= 128


def compile_form(target_is, draft_is, dtype, absent=("seeds", "steps"), bonus_rows=1):
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    runner = "seeds" not in absent
    types = {"slots": "*i64", "seeds": "*i64", "steps": "*i64", "bonus": None if bonus_rows else "*i64", "target": dtype, "rows": dtype,
             "draft": "*fp32" if draft_is == fused.PROBABILITIES else dtype if draft_is else None,
             **dict.fromkeys(("uniforms", "next_uniforms", "weights", "log_sums"), "*fp64"),
             "bins": "*i64", **dict.fromkeys(("near", "temperatures", "target_cutoffs", "draft_cutoffs", "parts", "cutoffs", "top_p", "min_p"), "*fp32"),
             **dict.fromkeys(("ends", "drafted", "places", "decisions", "tokens", "counts", "flags_out", "top_k"), "*i32"),
             **dict.fromkeys(absent)}
    aligned = ("TARGET_STRIDE", "ROW_STRIDE", "SLOT_STRIDE", "STRIDE", "vocab")
    constants = {"BONUS_ROWS": bonus_rows, "TARGET": target_is, "DRAFT": draft_is, "BLOCK": fused.TILE, "TILES": 16, "PADDED_WIDTH": 8,
                 "RUNNER": runner, "SCALED": False,
                 "MIN_P_FIRST": False, "UNUSED": 0 if dtype == "*fp32" else 16 if dtype == "*bf16" else 13, "NEAR": triton_cutoffs.NEAR,
                 "BINS": triton_cutoffs.BINS, "GROUPS": 256,
                 **{name: None for name, kind in types.items() if kind is None}}
    found = {}
    kernels = [(fused.sum_tiles, fused.WARPS), (fused.weigh_tiles, fused.WARPS), (fused.draw, fused.WARPS)]
    if "target_cutoffs" not in absent:
        kernels.append((triton_cutoffs.find_cutoffs, triton_cutoffs.WARPS))
    for kernel, warps in kernels:
        names = kernel.arg_names
        signature = {name: "constexpr" if name in constants else types.get(name, "i32") for name in names}
        attributes = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(names)
                      if signature[name].startswith("*") or name in aligned}
        compiled = triton.compile(ASTSource(kernel, signature, {name: constants[name] for name in names if name in constants}, attributes),
                                  target=GPUTarget("cuda", 90, 32), options={"num_warps": warps})
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(compiled.asm["cubin"])
            file.flush()
            tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
            said = subprocess.run([tool, "-res-usage", file.name], capture_output=True, text=True, check=True).stdout
        found[kernel.__name__] = {name: int(value) for name, value in re.findall(r"(REG|STACK|LOCAL):(\d+)", said)}
        found[kernel.__name__]["bytes"] = len(compiled.asm["cubin"])
    return found


def compile_all():
    given = ("seeds", "steps")
    plain = (*given, "slots", "draft_cutoffs", "target_cutoffs", "temperatures")
    logits, probabilities = fused.LOGITS, fused.PROBABILITIES
    return {"logits": compile_form(logits, logits, "*bf16", (*given, "slots", "draft_cutoffs")),
            "every option": compile_form(logits, logits, "*fp16"),
            "vLLM's arguments": compile_form(logits, probabilities, "*fp32", (*given, "slots", "draft_cutoffs", "target_cutoffs"), 0),
            "the model runner's arguments": compile_form(logits, logits, "*bf16",
                                                         ("uniforms", "next_uniforms", "draft_cutoffs", "target_cutoffs")),
            "certain drafts": compile_form(logits, fused.NONE, "*bf16", plain),
            "FlashInfer's arguments": compile_form(probabilities, probabilities, "*fp32", plain)}


if __name__ == "__main__":
    print(json.dumps(compile_all()))
