"""The exact law of the tokens that one round of verification emits, by following every outcome, and a chi-squared test against it."""
import math
from statistics import NormalDist

from .checks import chi_squared_tail


def emitted_law(target, draft):
    """Returns the probability of every sequence of emitted tokens (accepted ones and the next) of Algorithm 1 of Leviathan et al. 2023, as a
    dictionary. Rows are lists of probabilities: gamma + 1 of the target and gamma of the draft, which do not depend on the tokens."""
    law = {}

    def follow(before, probability):
        position = len(before)
        weights = target[position]
        if position < len(draft):
            for id, (p, q) in enumerate(zip(target[position], draft[position])):
                if min(p, q) > 0:
                    follow((*before, id), probability * min(p, q))
            weights = [max(p - q, 0.0) for p, q in zip(target[position], draft[position])]
            probability *= sum(weights)
        for id, weight in enumerate(weights):
            if weight > 0:
                law[(*before, id)] = law.get((*before, id), 0) + probability * weight / sum(weights)
    follow((), 1.0)
    return law


def p_value(counts, law, total):
    """Returns the p-value of Pearson's test, its degrees of freedom, and the class that deviates most, with its count and expectation. Sequences
    expected less than 10 times share a class; one more joins it, or the two rarest share one, where the degrees of freedom would be odd. A sequence that is impossible
    gives the p-value 0."""
    impossible = [tokens for tokens in counts if tokens not in law]
    if impossible:
        return 0.0, 0, (impossible[0], counts[impossible[0]], 0.0)
    order = sorted(law, key=law.get)
    rare = sum(law[tokens] * total < 10 for tokens in order)
    alone = len(order) - rare
    if (alone + (rare > 0)) % 2 == 0:
        rare += 1 if rare else 2
    while 0 < rare < len(order) and sum(law[tokens] for tokens in order[:rare]) * total < 10:
        rare += 2
    classes = [(tokens, counts.get(tokens, 0), law[tokens] * total) for tokens in order[rare:]]
    if rare:
        classes.append(("rare ones", sum(counts.get(tokens, 0) for tokens in order[:rare]), sum(law[tokens] for tokens in order[:rare]) * total))
    if len(classes) < 3:
        raise ValueError(f"{total} requests are too few: nearly all sequences are expected less than 10 times")
    terms = [(count - mean) ** 2 / mean for _, count, mean in classes]
    return chi_squared_tail(sum(terms), len(classes) - 1), len(classes) - 1, classes[terms.index(max(terms))]


def distance_found(degrees, total, level, power=0.99):
    """Returns a total variation between the classes that the test finds with probability `power` or more. The statistic of a law at distance d is
    noncentral chi-squared, by at least 4 d^2 total (Cauchy and Schwarz), and nearly normal."""
    def critical(low, high):
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if chi_squared_tail(middle, degrees) > level else (low, middle)
        return high
    reached, z, shift = critical(0.0, 20.0 * degrees + 200), NormalDist().inv_cdf(power), 0.0
    while degrees + shift - z * math.sqrt(2 * (degrees + 2 * shift)) < reached:
        shift += 1
    return math.sqrt(shift / total) / 2
