"""The package of kernels/python on the tensors of a case: its operator and its drop-in functions. Like the functions
that they replace (in_rivals.py), these begin with logits."""
import torch

from speclab_kernels import hugging_face, prepare, verify

from .case import TEMPERATURE, Method, accepted_and_following
from .in_rivals import by_engine_1, by_model_runner, one_by_one


def operator(**options):
    def prepare(case):
        drafted = case.drafted.int()

        def run():
            result = verify(case.target, case.draft, drafted, case.uniforms, **options)
            return result.accepted, result.next
        return run
    return prepare


def prepared(case):
    call = prepare(case.target, case.draft, case.drafted.int(), case.uniforms)

    def run():
        results = call()
        return results.accepted, results.next
    return run


def by_flashinfer(function):
    def prepare(case):
        drafted = case.drafted.int()

        def run():
            target, draft = (rows.softmax(-1, dtype=torch.float32) for rows in (case.target, case.draft))
            return accepted_and_following(function(draft, drafted, target)[0])
        return run
    return prepare


def methods():
    from speclab_kernels import flashinfer, vllm, vllm_model_runner
    return [Method("speclab-operator", "torch.ops.speclab.verify", operator(), injected=True),
            Method("speclab-prepared", "the same on tensors that stay where they are", prepared, injected=True),
            Method("speclab-operator-cut", "the same with top-k 50 and top-p 0.95", operator(top_k=50, top_p=0.95), injected=False),
            Method("hf-drop-in", "ours with transformers' arguments, request by request", one_by_one(hugging_face.speculative_sampling),
                   injected=False, waits=True),
            Method("vllm-drop-in", "ours with vLLM's arguments", by_engine_1(vllm.rejection_sample), injected=False),
            Method("model-runner-drop-in", f"ours with the arguments of vLLM's second model runner, at temperature {TEMPERATURE}",
                   by_model_runner(vllm_model_runner.rejection_sample, TEMPERATURE, temperature_applied=False), injected=False),
            Method("flashinfer-drop-in", "ours with FlashInfer's arguments", by_flashinfer(flashinfer.chain_speculative_sampling),
                   injected=False)]
