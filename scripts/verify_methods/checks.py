"""Tests whether a method's tokens have the target's distribution. Uses only Python, so that the test itself is tested without torch."""
import math
import random

# These sizes give even degrees of freedom, for which the tail of chi-squared is a finite sum.
VOCAB = 17
GAMMA = 2
# Maximum number of tests in a run. A false alarm in any of them has probability 1e-6.
TESTS = 1000
LEVEL = 1e-6 / TESTS


def softmax(logits):
    largest = max(logits)
    masses = [math.exp(z - largest) for z in logits]
    total = sum(masses)
    return [mass / total for mass in masses]


def chi_squared_tail(statistic, degrees):
    """P(X >= statistic) for an even number of degrees of freedom: the Poisson sum."""
    half = statistic / 2
    return min(1.0, math.fsum(math.exp(k * math.log(half) - math.lgamma(k + 1) - half) for k in range(degrees // 2))) if half > 0 else 1.0


def law_p_values(target_rows, drafted, accepted, following):
    """One p-value per position. If all drafted tokens before a position were accepted, its token (accepted, or the one after the
    accepted ones) has the target's distribution there. Arguments are lists over requests; rows do not depend on tokens here."""
    values = []
    for position, row in enumerate(target_rows):
        counts = [0] * len(row)
        for tokens, kept, last in zip(drafted, accepted, following):
            if kept > position:
                counts[tokens[position]] += 1
            elif kept == position:
                counts[last] += 1
        total = sum(counts)
        if total * min(row) < 5:
            raise ValueError(f"position {position}: {total} samples are too few for a chi-squared test")
        statistic = sum((count - total * p) ** 2 / (total * p) for count, p in zip(counts, row))
        values.append(chi_squared_tail(statistic, len(row) - 1))
    return values


def rows(seed):
    """Logits of GAMMA + 1 target rows and GAMMA draft rows, so different that about a third of the tokens is rejected."""
    source = random.Random(seed)
    target = [[source.uniform(-1, 1) for _ in range(VOCAB)] for _ in range(GAMMA + 1)]
    draft = [[z + source.uniform(-1.5, 1.5) for z in row] for row in target[:GAMMA]]
    return target, draft


def draws(row, count, seed):
    return random.Random(seed).choices(range(len(row)), weights=row, k=count)


def plain(target, draft, count, seed, resample_target=False):
    """Algorithm 1 of Leviathan et al. 2023 over rows of probabilities; or, as a planted fault, with the target instead
    of the residual after a rejection. Returns drafted, accepted, following."""
    source = random.Random(seed)
    drafted = list(zip(*(draws(row, count, seed + 1 + i) for i, row in enumerate(draft))))
    residuals = [p if resample_target else [max(a - b, 0.0) for a, b in zip(p, q)] for p, q in zip(target, draft)]
    weights = residuals + [target[-1]]
    accepted = []
    for tokens in drafted:
        kept = 0
        while kept < len(tokens) and source.random() < target[kept][tokens[kept]] / draft[kept][tokens[kept]]:
            kept += 1
        accepted.append(kept)
    following = [source.choices(range(len(target[0])), weights=weights[kept])[0] for kept in accepted]
    return drafted, accepted, following


def check_the_check(samples=20000):
    """Raises AssertionError unless a correct method passes and a planted fault fails."""
    target, draft = ([softmax(row) for row in side] for side in rows(1))
    good = min(law_p_values(target, *plain(target, draft, samples, 2)))
    bad = min(law_p_values(target, *plain(target, draft, samples, 2, resample_target=True)))
    assert good > LEVEL, f"correct verification fails its test: p = {good}"
    assert bad < LEVEL, f"resampling the target is not found: p = {bad}"
    # Known quantiles of chi-squared: 95% for 2 and for 10 degrees of freedom.
    assert abs(chi_squared_tail(5.991464547, 2) - 0.05) < 1e-9 and abs(chi_squared_tail(18.30703805, 10) - 0.05) < 1e-9
    return good, bad
