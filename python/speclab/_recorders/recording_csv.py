"""Writes recordings of speclab (docs/recordings.md): one token per line with its natural log-probabilities."""

import math

MISSING = -9999.0  # servers write this where they have no log-probability
ROUNDING = 1e-4


def log_probability(value, what, where):
    """The value as a log-probability. ValueError, with the reason, if it is none."""
    if not isinstance(value, (int, float)) or math.isnan(value) or value > ROUNDING:
        raise ValueError(f"{where}: {what} is {value}; expected a natural logarithm of a probability, at most 0")
    if math.isfinite(value) and value <= MISSING:
        raise ValueError(f"{where}: {what} is {value}, which means missing; ask for every token's log-probability")
    return min(value, 0.0)


class RecordingCsv:
    """Sequences of tokens, written to a text file as they come, each when all of it is checked."""

    def __init__(self, out, entropy=False):
        self.out = out
        self.entropy = entropy
        self.sequences = 0
        self.tokens = 0

    def add(self, tokens, target, draft, entropies=None):
        """Adds a sequence: its tokens (ids, or texts), and for each the log-probabilities under both models."""
        if not len(tokens) == len(target) == len(draft) == len(entropies if self.entropy else tokens):
            raise ValueError(f"sequence {self.sequences}: {len(tokens)} tokens, {len(target)} log-probabilities of the "
                             f"target, {len(draft)} of the draft; expected one for each token")
        lines = [] if self.sequences else ["sequence,position,token,logp,logq" + (",entropy" if self.entropy else "")]
        for i, token in enumerate(tokens):
            where = f"sequence {self.sequences}, token {i}"
            logp = log_probability(target[i], "the target's", where)
            if math.isinf(logp):
                raise ValueError(f"{where}: the target gives it probability 0, so that it cannot have generated it")
            logq = log_probability(draft[i], "the draft's", where)
            fields = [str(self.sequences), str(i), quoted(token), repr(logp), repr(logq)]
            if self.entropy:
                if not -ROUNDING <= entropies[i] < math.inf:
                    raise ValueError(f"{where}: the entropy is {entropies[i]}; expected nats, 0 or more")
                fields.append(repr(max(0.0, entropies[i])))
            lines.append(",".join(fields))
        if tokens:
            self.out.write("\n".join(lines) + "\n")
            self.sequences += 1
            self.tokens += len(tokens)


def quoted(token):
    """An id as it is; a text in quotes, on one line."""
    if isinstance(token, int):
        return str(token)
    return '"' + token.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace('"', '""') + '"'
