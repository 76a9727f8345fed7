"""The project's own kernels through the shared library, on the tensors of a case."""
import torch

from speclab_kernels import c_library

from .case import Method


def prepare_with(library, implementation, draft_sums):
    def prepare(case):
        requests = case.drafted.shape[0]
        accepted, following = (torch.empty(requests, dtype=torch.int32, device=case.target.device) for _ in range(2))
        drafted = case.drafted.int()
        sums = {"log_sum_exp": case.draft.float().logsumexp(-1)} if draft_sums else None
        batch = c_library.batch_of(case.target, case.draft, drafted, accepted, following, uniforms=case.uniforms,
                                         implementation=implementation, draft_options=sums)
        workspace = torch.empty(library.workspace_bytes(batch), dtype=torch.uint8, device=case.target.device)
        held = (drafted, sums)

        def run():
            assert held
            library.launch(batch, workspace.data_ptr(), workspace.numel(), torch.cuda.current_stream().cuda_stream)
            return accepted, following
        return run
    return prepare


def methods(library):
    found = [Method(f"speclab-{name}", "libspeclab_kernels.so", prepare_with(library, number, False), injected=True)
             for number, name in enumerate(library.implementations())]
    found.append(Method("speclab-fused-draft-sums", "the same, the draft's log-sum-exp given",
                        prepare_with(library, 0, True), injected=True))
    return found
