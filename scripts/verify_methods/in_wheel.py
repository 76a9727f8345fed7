"""The package of kernels/python on the tensors of a case: its operator, its kernels in Triton, and its drop-in functions, the last beside
the functions whose place they take where those packages are installed and a GPU runs them."""
import types

import torch

from speclab_kernels import hugging_face, verify

from .in_torch import Method, one_by_one


def operator(**options):
    def prepare(case):
        drafted = case.drafted.int()

        def run():
            result = verify(case.target, case.draft, drafted, case.uniforms, **options)
            return result.accepted, result.next
        return run
    return prepare


def ends_of(case):
    requests, gamma = case.drafted.shape
    return torch.arange(1, requests + 1, dtype=torch.int32, device=case.drafted.device) * gamma


def accepted_and_following(tokens):
    accepted = (tokens >= 0).sum(1) - 1
    return accepted, tokens.gather(1, accepted[:, None])[:, 0]


def in_triton(case):
    from speclab_kernels import fused_triton
    requests, gamma = case.drafted.shape
    flat = [rows.reshape(-1, rows.shape[2]) for rows in (case.target, case.draft)]
    drafted, ends = case.drafted.reshape(-1).int(), ends_of(case)
    uniforms, following = case.uniforms[:, :gamma].reshape(-1), case.uniforms[:, gamma].contiguous()

    def run():
        return accepted_and_following(fused_triton.verify(*flat, drafted, ends, gamma, uniforms, following)[0])
    return run


def by_vllm(function):
    """vLLM's arguments stand ready: probabilities of the draft, logits of the target in single precision, bonus tokens."""
    def prepare(case):
        requests, gamma = case.drafted.shape
        device = case.drafted.device
        vocab = case.target.shape[2]
        target = case.target[:, :gamma].float().reshape(-1, vocab)
        draft = case.draft.float().softmax(-1).reshape(-1, vocab)
        drafted, ends = case.drafted.reshape(-1).int(), ends_of(case)
        bonus = torch.multinomial(case.target[:, gamma].float().softmax(-1), 1)
        sampling = types.SimpleNamespace(temperature=torch.ones(requests, device=device), all_greedy=False, all_random=True, generators={})
        lengths = [gamma] * requests

        def run():
            return accepted_and_following(function(drafted, lengths, gamma, ends, draft, target, bonus, sampling))
        return run
    return prepare


def by_flashinfer(function):
    def prepare(case):
        target, draft = (rows.float().softmax(-1) for rows in (case.target, case.draft))
        drafted = case.drafted.int()
        return lambda: accepted_and_following(function(draft, drafted, target)[0])
    return prepare


def methods():
    from speclab_kernels import flashinfer, vllm
    found = [Method("speclab-operator", "torch.ops.speclab.verify", operator(), injected=True),
             Method("speclab-operator-cut", "the same with top-k 50 and top-p 0.95", operator(top_k=50, top_p=0.95), injected=False),
             Method("hf-drop-in", "ours with transformers' arguments, request by request", one_by_one(hugging_face.speculative_sampling),
                    injected=False, waits=True),
             Method("vllm-drop-in", "ours with vLLM's arguments", by_vllm(vllm.rejection_sample), injected=False),
             Method("flashinfer-drop-in", "ours with FlashInfer's arguments", by_flashinfer(flashinfer.chain_speculative_sampling),
                    injected=False)]
    try:
        from speclab_kernels import fused_triton  # noqa: F401
        found.append(Method("speclab-triton", "ours in Triton", in_triton, injected=True))
    except ImportError as error:
        print(f"our kernels in Triton are left out: {error}")
    if torch.cuda.is_available():
        found += originals()
    return found


def originals():
    found = []
    for name, module, attribute, prepare in (
            ("vllm-original", "vllm.v1.sample.rejection_sampler", "rejection_sample", by_vllm),
            ("flashinfer-original", "flashinfer.sampling", "chain_speculative_sampling", by_flashinfer)):
        try:
            function = getattr(__import__(module, fromlist=[attribute]), attribute)
        except Exception as error:  # engines refuse to be imported in many ways
            print(f"{name} is left out: {type(error).__name__}: {error}")
            continue
        found.append(Method(name, f"{module}.{attribute}", prepare(function), injected=False))
    return found
