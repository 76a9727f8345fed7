"""Offers verification of draft trees as an operator of torch: torch.ops.speclab.verify_tree, and `verify_tree`, which calls it. On a GPU of compute
capability 9.0 or above it makes one launch on the current stream, for few trees two, and does not wait; on CPU tensors the program that defines the answer runs.
"""
from typing import NamedTuple, Optional, Tuple

import torch
from torch import Tensor

from .c_library import SIBLINGS, TIES, TREE_METHODS, SpeclabError, TreeBatch, batch_of, library, view
from .torch_operator import as_int32, need_known, need_one_device, option_views, run_on, spread_options, workspace_of


class VerifiedTree(NamedTuple):
    """Results for B requests of up to N nodes; int32 on the device of the logits."""
    tokens: Tensor  # [B, N + 1] the tokens of the accepted path, the next one, and -1 after them
    counts: Tensor  # [B] number of tokens among them
    path: Tensor  # [B, N] the accepted nodes, and -1 after them
    accepted: Tensor  # [B] number of accepted nodes
    next: Tensor  # [B] the token after them; -2 if a row that matters is damaged, or the tree is invalid
    flags: Tensor  # [B] bits of speclab_verify_batch.flags


def _outputs(target, drafted):
    requests, nodes = drafted.shape
    shapes = ((requests, nodes + 1), (requests,), (requests, nodes), *3 * [(requests,)])
    return tuple(torch.empty(shape, dtype=torch.int32, device=target.device) for shape in shapes)


@torch.library.custom_op("speclab::verify_tree", mutates_args=())
def _verify_tree(target: Tensor, draft: Optional[Tensor], drafted: Tensor, parents: Tensor, draft_row: Optional[Tensor],
                 uniforms: Optional[Tensor], addresses: Optional[Tensor], seeds: Optional[Tensor], positions: Optional[Tensor],
                 lengths: Optional[Tensor], mask: Optional[Tensor], target_temperature: Optional[Tensor],
                 target_cutoff: Optional[Tensor], target_log_sum_exp: Optional[Tensor], draft_temperature: Optional[Tensor],
                 draft_cutoff: Optional[Tensor], draft_log_sum_exp: Optional[Tensor], method: str, siblings: str,
                 ties: str, emulate: bool) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    requests, nodes = drafted.shape
    rows = 0 if draft is None else draft.shape[1]
    views = option_views(
        target, rows, seeds=seeds, positions=positions, mask=mask, target_temperature=target_temperature, target_cutoff=target_cutoff,
        target_log_sum_exp=target_log_sum_exp, draft_temperature=draft_temperature, draft_cutoff=draft_cutoff,
        draft_log_sum_exp=draft_log_sum_exp)
    outputs = tokens, counts, path, accepted, following, flags = _outputs(target, drafted)
    batch = batch_of(target, draft, drafted, accepted, following, flags=flags, uniforms=uniforms, addresses=addresses, lengths=lengths,
                     tokens=tokens, counts=counts, ties=TIES[ties], draft_rows=rows, **views)
    tree = TreeBatch(batch, parents=view("parents", parents, (requests, nodes), "torch.int32"), siblings=SIBLINGS[siblings],
                     draft_rows=rows, draft_row=view("draft_row", draft_row, (requests, nodes), "torch.int32"), path=path.data_ptr(),
                     tree_method=TREE_METHODS[method])
    kernels = library()

    size = kernels.tree_workspace_bytes(tree)

    def lend(workspace):
        # With it the library sums the rows of few trees before the walk. The size is 0 for all others.
        if size > 0:
            tree.workspace, tree.workspace_bytes = workspace.data_ptr(), size

    def on_cpu():
        whole = torch.empty(size + 256, dtype=torch.uint8)
        aligned = whole[-whole.data_ptr() % 256:]
        lend(aligned)
        kernels.tree_on_cpu(tree, emulate)

    def launch(stream):
        workspace = workspace_of(size, target.device, stream)
        lend(workspace)
        kernels.launch_tree(tree, stream)

    run_on(target.device, on_cpu, launch)
    return outputs


@_verify_tree.register_fake
def _(target, draft, drafted, *others):
    return _outputs(target, drafted)


def verify_tree(target: Tensor, draft: Optional[Tensor], drafted: Tensor, parents: Tensor, uniforms: Optional[Tensor] = None, *,
                method="recursive_rejection", siblings="without_replacement", draft_row: Optional[Tensor] = None, addresses: Optional[Tensor] = None, seeds=None,
                positions=None, lengths: Optional[Tensor] = None, mask: Optional[Tensor] = None, target_temperature=None,
                target_cutoff=None, target_log_sum_exp=None, draft_temperature=None, draft_cutoff=None, draft_log_sum_exp=None,
                ties="shared", emulate=False) -> VerifiedTree:
    """Verifies trees of N drafted tokens, the nodes, exactly. Node -1 is the context.

    target      [B, N + 1, V] logits in float32, bfloat16 or float16, the last dimension dense: row 0 after the context, row i + 1 after
                node i
    draft       [B, R, V] in any of these formats: the children of node i were drawn from row i + 1, or from the row that draft_row names;
                rows of leaves are not read, and R is at most N. None if children were chosen (the likeliest, say) and not drawn
    drafted     [B, N] integers: the token of each node; an id outside the vocabulary is rejected
    parents     [N], one tree for all, or [B, N]: the parent of each node, from -1 to its own number - 1. Siblings are tried in the order of
                their numbers
    uniforms    [B, N + 1] float64 in [0, 1): one for each node, then one for the next token; or addresses, or seeds and positions, as
                in `verify`. If none is given, uniforms come from torch's generator
    method      "recursive_rejection", from the root to the leaves, or "traversal", from the leaves to the root (Weng et al. 2025), which
                accepts more tokens on average, reads more rows, and requires children drawn without replacement
    siblings    how the children of a node were drawn: "without_replacement", each from the row without the siblings before it, or
                "independent"
    draft_row   [N] or [B, N]: entry i is the number of the draft's row after node i - 1; entries of leaves are not read
    lengths     [B] nodes of each request, up to N
    mask        int32 [B, words] or [B, N + 1, words], as in `verify`
    *_temperature, *_cutoff, *_log_sum_exp
                for rows: a number, [B], or [B, N + 1] for the target and [B, R] for the draft
    ties        as in `verify`
    emulate     on the CPU, run the kernel's source in an emulator, thread by thread, as `implementation` of `verify` does

    Raises SpeclabError with the library's sentence if arguments do not fit."""
    need_one_device(target, draft=draft, drafted=drafted, parents=parents, draft_row=draft_row, uniforms=uniforms, addresses=addresses,
                    lengths=lengths, mask=mask)
    if target.dim() != 3 or drafted.dim() != 2 or target.shape[1] != drafted.shape[1] + 1:
        raise SpeclabError(f"target is {tuple(target.shape)} and drafted {tuple(drafted.shape)}: [B, N + 1, V] and [B, N] are needed")
    requests, rows, vocab = target.shape
    if draft is not None and (draft.dim() != 3 or not 0 < draft.shape[1] < max(rows, 2)):
        raise SpeclabError(f"draft is {tuple(draft.shape)}: [B, R, V] with R from 1 to N = {rows - 1} is needed")
    need_known(method=(method, TREE_METHODS), siblings=(siblings, SIBLINGS), ties=(ties, TIES))
    if uniforms is None and addresses is None and seeds is None and positions is None:
        uniforms = torch.rand(requests, rows, dtype=torch.float64, device=target.device)

    def by_node(name, value):
        # A tensor [N] is one tree for all requests.
        if value is None:
            return None
        if tuple(value.shape) not in ((rows - 1,), (1, rows - 1), (requests, rows - 1)):
            raise SpeclabError(f"{name} is {list(value.shape)}: [{rows - 1}] or [{requests}, {rows - 1}] is needed")
        return as_int32(name, value).expand(requests, rows - 1)

    options = spread_options(
        target, 0 if draft is None else draft.shape[1], seeds=seeds, positions=positions, mask=mask, target_temperature=target_temperature,
        target_cutoff=target_cutoff, target_log_sum_exp=target_log_sum_exp, draft_temperature=draft_temperature,
        draft_cutoff=draft_cutoff, draft_log_sum_exp=draft_log_sum_exp)
    return VerifiedTree(*_verify_tree(
        target, draft, as_int32("drafted", drafted).contiguous(), by_node("parents", parents), by_node("draft_row", draft_row), uniforms,
        addresses, lengths=None if lengths is None else as_int32("lengths", lengths), method=method, siblings=siblings, ties=ties,
        emulate=bool(emulate), **options))
