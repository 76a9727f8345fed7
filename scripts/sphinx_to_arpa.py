#!/usr/bin/env python3
"""Writes a binary n-gram model of CMU Sphinx as an ARPA file.

usage: sphinx_to_arpa.py MODEL.lm.bin OUT.arpa

The format ("Trie Language Model") is that of sphinxbase 5prealpha (lm_trie.c, ngram_model_trie.c). Sphinx's own
converter cannot write en-us.lm.bin as ARPA, because six of its bigrams belong to no word: sphinx_lm_convert of
Debian's sphinxbase-utils 0.8+5prealpha+1-16 ends with "Assertion `raw_ngram_idx == base->n_counts[i - 1]' failed",
and PocketSphinx 5.1.1 crashes. This script leaves these bigrams out.
"""
import math
import struct
import sys

from of_package.whole_file import one_line, whole_file

MAGIC = b"Trie Language Model"
LOG10 = math.log10(1.0001)  # logarithms are to the base 1.0001
SMALLEST = -90  # the format's value for zero is far below this; ARPA has -99


def log10(value):
    return "-99" if value * LOG10 < SMALLEST else repr(value * LOG10)


class Reader:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, size):
        if self.at + size > len(self.data):
            raise ValueError("the file ends too early")
        self.at += size
        return self.data[self.at - size : self.at]

    def values(self, kind, count):
        size = struct.calcsize("<" + kind)
        return struct.unpack(f"<{count}{kind}", self.take(size * count))


class Layer:
    """The n-grams of one length beyond 1, packed in bits. Those that share their last words stand together, by
    the word before. An entry has that word, the 16-bit numbers of its back-off weight and its probability, and
    where the entries with one more word before begin; of the longest n-grams the word and the probability."""

    def __init__(self, reader, counts, length):
        self.count = counts[length - 1]
        self.longest = length == len(counts)
        self.word_bits = counts[0].bit_length()
        self.next_bits = 0 if self.longest else counts[length].bit_length()
        self.bits = self.word_bits + (16 if self.longest else 32 + self.next_bits)
        self.probabilities = [log10(value) for value in reader.values("f", 1 << 16)]
        self.backoffs = [] if self.longest else [log10(value) for value in reader.values("f", 1 << 16)]

    def read(self, reader):
        self.memory = reader.take(((1 + self.count) * self.bits + 7) // 8 + 8)

    def entry(self, index):
        """Word, log10 of probability and back-off weight, where the next layer's entries begin."""
        start = index * self.bits
        packed = int.from_bytes(self.memory[start // 8 : (start + self.bits + 7) // 8], "little") >> start % 8
        word = packed & ((1 << self.word_bits) - 1)
        packed >>= self.word_bits
        if self.longest:
            return word, self.probabilities[packed & 0xFFFF], None, 0
        first = (packed >> 32) & ((1 << self.next_bits) - 1)
        return word, self.probabilities[packed >> 16 & 0xFFFF], self.backoffs[packed & 0xFFFF], first


def ngrams(layers, words, length, ends, depth=2):
    """Lines of the n-grams of one length. `ends` gives the last words and the range of entries before them."""
    layer = layers[depth - 2]
    for last_words, first, end in ends:
        if depth == length:
            for index in range(first, end):
                word, probability, backoff, _ = layer.entry(index)
                line = f"{probability}\t{words[word]} {last_words}"
                yield line if backoff is None else f"{line}\t{backoff}"
        else:
            entries = [layer.entry(index) for index in range(first, end + 1)]
            below = ((f"{words[entry[0]]} {last_words}", entry[3], following[3]) for entry, following in zip(entries, entries[1:]))
            yield from ngrams(layers, words, length, below, depth + 1)


def write(source, target):
    with open(source, "rb") as file:
        reader = Reader(file.read())
    if reader.take(len(MAGIC)) != MAGIC:
        raise ValueError("not a binary n-gram model of CMU Sphinx")
    (order,) = reader.values("B", 1)
    counts = reader.values("I", order)
    if order > 1:
        reader.take(4)  # skips the kind of quantisation; there is only one
    layers = [Layer(reader, counts, length) for length in range(2, order + 1)]
    unigrams = list(struct.iter_unpack("<ffI", reader.take(12 * (1 + counts[0]))))
    for layer in layers:
        layer.read(reader)
    (size,) = reader.values("I", 1)
    words = [word.decode() for word in reader.take(size).split(b"\0")[:-1]]
    if len(words) != counts[0]:
        raise ValueError(f"{len(words)} words; expected {counts[0]}")

    listed = [counts[0]]
    first, end = unigrams[0][2], unigrams[-1][2]
    for layer in layers:
        listed.append(end - first)
        first, end = layer.entry(first)[3], layer.entry(end)[3]

    with whole_file(target) as out:
        out.write("\\data\\\n" + "".join(f"ngram {n}={count}\n" for n, count in enumerate(listed, 1)))
        out.write("\n\\1-grams:\n")
        for word, (probability, backoff, _) in zip(words, unigrams):
            out.write(f"{log10(probability)}\t{word}\t{log10(backoff) if order > 1 else 0}\n")
        for length in range(2, order + 1):
            ends = ((word, one[2], two[2]) for word, one, two in zip(words, unigrams, unigrams[1:]))
            out.write(f"\n\\{length}-grams:\n")
            out.writelines(line + "\n" for line in ngrams(layers, words, length, ends))
        out.write("\n\\end\\\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with one_line():
        try:
            write(*sys.argv[1:])
        except (IndexError, ValueError) as error:
            raise ValueError(f"{sys.argv[1]}: is damaged, or of another format ({error}); take it from the package again") from None
