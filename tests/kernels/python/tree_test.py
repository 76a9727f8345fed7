"""Tests torch.ops.speclab.verify_tree on CPU tensors. Skipped by name if torch is not installed."""
import pytest

torch = pytest.importorskip("torch")

from speclab_kernels import SpeclabError, library, verify, verify_tree  # noqa: E402

torch.set_num_threads(1)
BAND = 1e-5  # single precision's error of the kernel, in units of what refusals leave
TREE = [-1, -1, -1, 0, 0, 1, 3]


def definition(target, draft, drafted, parents, uniforms, replaced):
    """Returns the path, the next token, and the distance of the uniforms from another outcome for one request, by rows of probabilities in float64:
    target [N + 1, V], draft [N, V] or None. It is recursive rejection as published, with a new row after each refusal (SpecInfer, Algorithm 2;
    Sequoia, Algorithm 2)."""
    node, path, margin = -1, [], 1.0
    while True:
        p, unit, following = target[node + 1].clone(), 1.0, None
        children = [child for child, parent in enumerate(parents) if parent == node]
        q = None if draft is None or not children else draft[node + 1].clone()
        for child in children:
            token = int(drafted[child])
            odds = float(p[token]) if q is None else float(p[token] / q[token]) if q[token] > 0 else 0.0
            if odds > 0 and odds != 1:
                margin = min(margin, unit * abs(float(uniforms[child]) - odds))
            if float(uniforms[child]) < odds:
                following = child
                break
            if q is None:
                left = p.clone()
                left[token] = 0
            else:
                left = (p - q).clamp(min=0)
            unit *= float(left.sum())
            p = left / left.sum()
            if q is not None and not replaced:
                unit *= 1 - float(q[token])
                q[token] = 0
                q /= q.sum()
        if following is None:
            break
        node = following
        path.append(node)
    sums = p.cumsum(0)
    goal = float(uniforms[-1]) * float(sums[-1])
    inner = sums[(sums > 0) & (sums < sums[-1])]
    if len(inner):
        margin = min(margin, unit * float((inner - goal).abs().min()))
    return path, int(((sums <= goal) | (p <= 0)).long().argmin()), margin


def traversal(target, draft, drafted, parents, uniforms):
    """Returns the same by traversal as published (Weng et al. 2025, Algorithm 1), for children drawn without replacement."""
    margin, units, rows, reach = [1.0], {-1: 1.0}, {-1: (target[0].clone(), draft[0].clone())}, {-1: 1.0}

    def accepted(node):
        """Returns the last accepted node in the subtree of this node, or None."""
        for child in (child for child, parent in enumerate(parents) if parent == node):
            (p, q), token = rows[node], int(drafted[child])
            reach[child] = min(1.0, reach[node] * float(p[token] / q[token])) if q[token] > 0 else 0.0
            units[child] = units[node]
            rows[child] = target[child + 1].clone(), draft[child + 1].clone() if child + 1 < len(draft) else None
            found = accepted(child)
            if found is not None:
                return found
            left = (reach[node] * p - q).clamp(min=0)
            total = float(left.sum())
            below = total + 1 - reach[node]
            units[node] *= below * (1 - float(q[token]))
            reach[node] = total / below
            q[token] = 0
            rows[node] = (left / total if total > 0 else p), q / q.sum()
        if node < 0:
            return node
        margin.append(units[node] * abs(float(uniforms[node]) - reach[node]))
        return node if float(uniforms[node]) < reach[node] else None

    last = accepted(-1)
    path, node = [], last
    while node >= 0:
        path.insert(0, node)
        node = parents[node]
    p = rows[last][0]
    sums = p.cumsum(0)
    goal = float(uniforms[-1]) * float(sums[-1])
    inner = sums[(sums > 0) & (sums < sums[-1])]
    margin.append(units[last] * reach[last] * float((inner - goal).abs().min()) if len(inner) else 1.0)
    return path, int(((sums <= goal) | (p <= 0)).long().argmin()), min(margin)


def batch(requests=40, vocab=12, parents=TREE, siblings="without_replacement", seed=1):
    """Returns logits, tokens drawn from the draft's rows of their parents, and uniforms."""
    generator = torch.Generator().manual_seed(seed)
    nodes = len(parents)
    target = 1.5 * torch.randn(requests, nodes + 1, vocab, generator=generator)
    draft = target[:, :nodes] + torch.randn(requests, nodes, vocab, generator=generator)
    drafted = torch.empty(requests, nodes, dtype=torch.int64)
    for node, parent in enumerate(parents):
        rows = draft[:, parent + 1].softmax(-1)
        for other in range(node):
            if parents[other] == parent and siblings == "without_replacement":
                rows.scatter_(1, drafted[:, other:other + 1], 0.0)
        drafted[:, node] = torch.multinomial(rows, 1, generator=generator)[:, 0]
    return target, draft, drafted, torch.tensor(parents), torch.rand(requests, nodes + 1, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("siblings", ["without_replacement", "independent", "chosen"])
@pytest.mark.parametrize("emulate", [False, True])
def test_decisions_are_the_definitions(siblings, emulate):
    chosen = siblings == "chosen"
    target, draft, drafted, parents, uniforms = batch(siblings=siblings)
    draft = None if chosen else draft
    result = verify_tree(target, draft, drafted, parents, uniforms, target_temperature=0.8, emulate=emulate,
                         siblings="without_replacement" if chosen else siblings)
    near = refused = 0
    for request in range(40):
        p = (target[request].double() / 0.8).softmax(-1)
        q = None if chosen else draft[request].double().softmax(-1)
        path, following, margin = definition(p, q, drafted[request], TREE, uniforms[request], siblings == "independent")
        if margin < (BAND if emulate else 1e-12):
            near += 1
            continue
        tokens = [int(drafted[request, node]) for node in path] + [following]
        assert result.path[request].tolist() == path + [-1] * (7 - len(path))
        assert result.tokens[request].tolist() == tokens + [-1] * (8 - len(tokens))
        assert (int(result.accepted[request]), int(result.next[request])) == (len(path), following)
        assert int(result.counts[request]) == len(tokens)
        refused += path[:1] != [0]
    assert near <= 1 and refused > 5


@pytest.mark.parametrize("emulate", [False, True])
def test_traversal_is_the_definitions(emulate):
    target, draft, drafted, parents, uniforms = batch()
    result = verify_tree(target, draft, drafted, parents, uniforms, method="traversal", emulate=emulate)
    near = longer = 0
    for request in range(40):
        p, q = target[request].double().softmax(-1), draft[request].double().softmax(-1)
        path, following, margin = traversal(p, q, drafted[request], TREE, uniforms[request])
        if margin < (BAND if emulate else 1e-12):
            near += 1
            continue
        assert result.path[request].tolist() == path + [-1] * (7 - len(path))
        assert (int(result.accepted[request]), int(result.next[request])) == (len(path), following)
        longer += len(path)
    assert near <= 2 and longer > 20


def test_traversal_of_a_chain_is_block_verification():
    target, draft, drafted, parents, uniforms = batch(parents=[-1, 0, 1])
    one = verify_tree(target, draft, drafted, parents, uniforms, method="traversal")
    other = verify(target, draft, drafted, uniforms, method="block")
    assert (one.tokens == other.tokens).all() and (one.counts == other.counts).all()


def test_a_chain_is_a_chain():
    target, draft, drafted, parents, uniforms = batch(parents=[-1, 0, 1])
    one, other = verify_tree(target, draft, drafted, parents, uniforms), verify(target, draft, drafted, uniforms)
    assert (one.tokens == other.tokens).all() and (one.counts == other.counts).all() and (one.flags == other.flags).all()


def test_shapes_of_trees_and_rows_of_the_draft():
    """One tree serves all or is written out; the draft has only rows of inner nodes, in another order."""
    target, draft, drafted, parents, uniforms = batch()
    one = verify_tree(target, draft, drafted, parents, uniforms)
    inner = torch.tensor([4, 2, 1, 0])  # positions after nodes 3, 1, 0 and the context
    rows = torch.zeros(7, dtype=torch.int64)
    rows[inner] = torch.arange(4)
    other = verify_tree(target, draft[:, inner].contiguous(), drafted, parents.expand(40, 7).contiguous(), uniforms, draft_row=rows)
    assert all((a == b).all() for a, b in zip(one, other))
    fewer = verify_tree(target, draft, drafted, parents, uniforms, lengths=torch.full((40,), 3))
    assert (fewer.accepted <= 1).all() and (fewer.path[:, 1:] == -1).all()
    shifted = parents.clone()
    shifted[2] = 2
    assert (verify_tree(target, draft, drafted, shifted, uniforms).flags == 32).all()


def test_rows_are_summed_first(monkeypatch):
    """The library is lent a workspace where it wants one, which changes no bit."""
    target, draft, drafted, parents, uniforms = batch(4)
    kernels, lent = library(), []
    run = kernels.tree_on_cpu
    monkeypatch.setattr(kernels, "tree_on_cpu", lambda tree, emulate: (lent.append((tree.workspace, tree.workspace_bytes)), run(tree, emulate)))
    for method in ("recursive_rejection", "traversal"):
        one = verify_tree(target, draft, drafted, parents, uniforms, method=method, emulate=True)
        with monkeypatch.context() as without:
            without.setattr(kernels, "tree_workspace_bytes", lambda tree: 0)
            other = verify_tree(target, draft, drafted, parents, uniforms, method=method, emulate=True)
        assert all((a == b).all() for a, b in zip(one, other))
    assert lent[0][0] % 256 == 0 and lent[0][1] > 0 and lent[2][1] > 0 and lent[1] == lent[3] == (None, 0)


def test_distribution():
    """Null: the first token has the target's distribution. With 3 degrees of freedom a χ² of 45 has the p-value 9e-10. A planted fault, drafting
    with replacement and verifying as without, gives token 0 with 0.444 instead of 0.4: a statistic of about 970."""
    count, generator = 100_000, torch.Generator().manual_seed(3)
    p, q = torch.tensor([0.4, 0.4, 0.1, 0.1]).double(), torch.tensor([0.1, 0.2, 0.4, 0.3]).double()
    rows = [probabilities.log().float().expand(count, n, 4).contiguous() for probabilities, n in ((p, 3), (q, 2))]

    def statistic(replaced):
        drafted = torch.multinomial(q.expand(count, 4), 2, replacement=replaced, generator=generator)
        uniforms = torch.rand(count, 3, dtype=torch.float64, generator=generator)
        first = verify_tree(*rows, drafted, torch.tensor([-1, -1]), uniforms).tokens[:, 0]
        counts = torch.bincount(first, minlength=4).double()
        return float(((counts - count * p) ** 2 / (count * p)).sum())

    assert statistic(False) < 45 and statistic(True) > 500


def test_operator_is_one_for_torch():
    target, draft, drafted, parents, uniforms = batch(2)
    plain = (target, draft, drafted.int(), parents.int().expand(2, 7), None, uniforms, *11 * [None], "recursive_rejection", "without_replacement", "shared",
             False)
    torch.library.opcheck(torch.ops.speclab.verify_tree.default, plain)


def test_mistakes_are_told():
    target, draft, drafted, parents, uniforms = batch(2)
    for pattern, change in (("method is 'block'", {"method": "block"}), ("not independent", {"method": "traversal", "siblings": "independent"}),
                            ("drawn children", {"method": "traversal", "draft": None}), ("siblings is 'drawn'", {"siblings": "drawn"}), ("ties is", {"ties": "all"}), ("parents is", {"parents": parents[:3]}),
                            ("draft is", {"draft": target}), ("drafted", {"drafted": drafted[:, :3]}), ("draft_row is", {"draft_row": parents[:2]}),
                            (r"parents is \[1\]: ", {"parents": parents[:1]}), (r"parents is \[2, 1\]", {"parents": parents[:1].expand(2, 1)}),
                            ("parents is torch.float32", {"parents": parents.float()}),
                            ("uniforms is", {"uniforms": uniforms[:, :3]}), ("one device", {"lengths": torch.ones(2, device="meta")})):
        with pytest.raises(SpeclabError, match=pattern):
            verify_tree(**{"target": target, "draft": draft, "drafted": drafted, "parents": parents, "uniforms": uniforms, **change})
