"""Verification by the functions of Hugging Face and of serving engines, from logits to tokens; times include what each does to logits
first.

The files of vLLM and FlashInfer are in --rivals FOLDER, which scripts/gpu/rivals.py made. vLLM's second model runner takes logits of the
draft in slots; with a temperature it writes the target's logits again, as fp32 divided by the temperature
(vllm/v1/worker/gpu/sample/sampler.py, apply_sampling_params). vLLM's first engine takes probabilities of the draft. FlashInfer's functions
take fp32 probabilities of both models.
"""
import ctypes
import inspect
import json
import types
from pathlib import Path

import torch

from . import vllm_files
from .case import TEMPERATURE, Method, accepted_and_following, ends_of


def one_by_one(function):
    """Calls a function of one request for each request of the batch."""
    # Earlier versions of Transformers had a fifth argument, whether the last candidate ended the text; a weight has
    # replaced it.
    more = {"is_done_candidate": False} if "is_done_candidate" in inspect.signature(function).parameters else {}

    def prepare(case):
        gamma = case.drafted.shape[1]

        def run():
            accepted, following = [], []
            for request in range(case.drafted.shape[0]):
                part = slice(request, request + 1)
                tokens, kept = function(case.drafted[part], case.draft[part].float(), gamma, case.target[part].float(), **more)
                accepted.append(kept)
                following.append(tokens[0, -1])
            return torch.stack(accepted), torch.stack(following)
        return run
    return prepare


def model_runner_arguments(case, temperature):
    """The arguments by name that both functions `rejection_sample` of the second model runner take after the target's logits. Requests
    are in the slots of a larger state, in another order."""
    requests, gamma = case.drafted.shape
    device = case.drafted.device
    slots = torch.arange(requests, dtype=torch.int32, device=device).flip(0)
    # The row before each drafted token of a request; the first place is not read.
    sampled = torch.nn.functional.pad(case.drafted, (1, 0)).reshape(-1)
    local = torch.arange(gamma + 1, dtype=torch.int32, device=device).repeat(requests)
    return dict(draft_logits=case.draft.flip(0).contiguous(), draft_sampled=sampled,
                cu_num_logits=torch.arange(requests + 1, dtype=torch.int32, device=device) * (gamma + 1), pos=100 + local.long(),
                idx_mapping=slots, expanded_idx_mapping=slots.repeat_interleave(gamma + 1), expanded_local_pos=local,
                temperature=torch.full((requests,), temperature, device=device),
                seed=torch.arange(requests, dtype=torch.int64, device=device) * 7919 + 12345, num_speculative_steps=gamma)


def following_of(sampled, counts):
    """`accepted` and `following`, from tokens [B, gamma + 1], where the first `counts` are valid."""
    accepted = counts.long() - 1
    return accepted, sampled.gather(1, accepted[:, None])[:, 0]


def by_model_runner(function, temperature, apply_temperature=None, **options):
    """`apply_temperature`: how target logits are divided by the temperature before; None: the function is given them as they are."""
    def prepare(case):
        target = (case.target * temperature).reshape(-1, case.target.shape[2])
        scaled = type(case)(case.target, case.draft * temperature, case.drafted, case.uniforms)
        arguments = model_runner_arguments(scaled, temperature)

        def run():
            arguments["pos"].add_(arguments["num_speculative_steps"] + 1)
            logits = target
            if apply_temperature is not None:
                logits = torch.empty_like(target, dtype=torch.float32).copy_(target)
                apply_temperature(logits, arguments["expanded_idx_mapping"], arguments["temperature"])
            return following_of(*function(logits, **arguments, **options))
        return run
    return prepare


def by_engine_1(function):
    """The bonus token by an exponential race, as its sampler draws it."""
    def prepare(case):
        requests, gamma = case.drafted.shape
        device, vocab = case.drafted.device, case.target.shape[2]
        drafted, ends, lengths = case.drafted.reshape(-1).int(), ends_of(case), [gamma] * requests
        sampling = types.SimpleNamespace(temperature=torch.ones(requests, device=device), all_greedy=False, all_random=True, generators={})

        def run():
            target = case.target.float()
            bonus = target[:, gamma].softmax(-1)
            bonus = bonus.div_(torch.empty_like(bonus).exponential_()).argmax(-1, keepdim=True)
            draft = case.draft.reshape(-1, vocab).softmax(-1, dtype=torch.float32)
            return accepted_and_following(function(drafted, lengths, gamma, ends, draft, target[:, :gamma].reshape(-1, vocab), bonus, sampling))
        return run
    return prepare


def by_flashinfer(library):
    """Softmax and chain sampling of FlashInfer through libflashinfer.so; its package casts logits to fp32 before."""
    pointers, numbers = ctypes.c_void_p, ctypes.c_uint32
    library.softmax.argtypes = [pointers, pointers, numbers, numbers, pointers, ctypes.c_uint64, pointers]
    library.chain_speculative_sampling.argtypes = [*[pointers] * 6, *[numbers] * 3, *[pointers] * 3]

    def checked(status):
        if status != 0:
            raise RuntimeError(f"FlashInfer: CUDA error {status}")

    def prepare(case):
        requests, gamma = case.drafted.shape
        device, vocab = case.drafted.device, case.target.shape[2]
        drafted = case.drafted.int()
        workspace = torch.empty(1 << 20, dtype=torch.uint8, device=device)  # the size that flashinfer/sampling.py allocates
        seed = torch.full((1,), 12345, dtype=torch.int64, device=device)
        offset = torch.zeros(1, dtype=torch.int64, device=device)
        tokens = torch.empty(requests, gamma + 1, dtype=torch.int32, device=device)
        counts = torch.zeros(2, requests, dtype=torch.int32, device=device)

        def probabilities(logits, stream):
            logits = logits.float()
            found = torch.empty_like(logits)
            checked(library.softmax(logits.data_ptr(), found.data_ptr(), logits.numel() // vocab, vocab, workspace.data_ptr(), workspace.numel(),
                                    stream))
            return found

        def run():
            stream = torch.cuda.current_stream().cuda_stream
            target, draft = (probabilities(logits, stream) for logits in (case.target, case.draft))
            offset.add_(4 * (gamma + 2))
            checked(library.chain_speculative_sampling(
                draft.data_ptr(), drafted.data_ptr(), target.data_ptr(), tokens.data_ptr(), counts[0].data_ptr(), counts[1].data_ptr(), requests,
                gamma, vocab, seed.data_ptr(), offset.data_ptr(), stream))
            return accepted_and_following(tokens)
        return run
    return prepare


def versions(folder):
    file = folder / "versions.json"
    return json.loads(file.read_text()) if file.is_file() else {}


def methods(folder, device):
    """The methods that are installed. For each other method it prints a sentence with the reason."""
    found = []
    try:
        from transformers.generation.utils import _speculative_sampling
        found.append(Method("hf-loop", "Hugging Face's _speculative_sampling, request by request",
                            one_by_one(_speculative_sampling), injected=False, waits=True))
    except ImportError as error:
        print(f"Hugging Face's function is left out: {error}")
    folder = Path(folder) if folder else vllm_files.installed()
    if folder is None:
        print("vLLM and FlashInfer are left out: --rivals is not given, and vllm is not installed")
        return found
    version = versions(folder).get("vllm", "")
    try:
        engine_1, runner, gumbel = vllm_files.load(folder, vllm_files.ENGINE_1, vllm_files.MODEL_RUNNER, vllm_files.GUMBEL)
        found += [
            Method("vllm-engine-1", f"vLLM {version}, {vllm_files.ENGINE_1}", by_engine_1(engine_1.rejection_sample), injected=False),
            Method("vllm-model-runner", f"vLLM {version}, {vllm_files.MODEL_RUNNER}", by_model_runner(runner.rejection_sample, 1.0),
                   injected=False),
            Method("vllm-model-runner-temperature", f"the same at temperature {TEMPERATURE}",
                   by_model_runner(runner.rejection_sample, TEMPERATURE, gumbel.apply_temperature), injected=False)]
    except (ImportError, OSError) as error:
        print(f"vLLM is left out: {error}")
    try:
        if device != "cuda":
            raise OSError("its kernels need a GPU")
        library = ctypes.CDLL(str(folder / "libflashinfer.so"))
        found.append(Method("flashinfer-chain", f"FlashInfer {versions(folder).get('flashinfer_python', '')}, softmax and chain sampling",
                            by_flashinfer(library), injected=False))
    except OSError as error:
        print(f"FlashInfer is left out: {error}")
    return found
