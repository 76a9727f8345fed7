"""Trains and applies a byte-level BPE tokenizer (Sennrich et al. 2016). Bytes and the splitting into words are GPT-2's, which libllama
calls "gpt-2"."""

import collections
import heapq
import re
import unicodedata

END = "<|endoftext|>"  # token 0: begins and ends a document


def byte_letters():
    """GPT-2's printable letter for each byte: the byte's own if Latin-1 prints it, else a letter from 256 on."""
    letters, others = {}, 0
    for byte in range(256):
        if 0x21 <= byte <= 0x7E or 0xA1 <= byte <= 0xAC or 0xAE <= byte <= 0xFF:
            letters[byte] = chr(byte)
        else:
            letters[byte] = chr(256 + others)
            others += 1
    return letters


LETTERS = byte_letters()
BYTES = {letter: byte for byte, letter in LETTERS.items()}


def words(text, single_digits=False):
    """Splits text as GPT-2 does. Python's re knows no Unicode categories, so the characters of this text are listed.
    `single_digits`: every digit is a word, and the text between digits is split on its own, which libllama calls
    "smollm"."""
    above = sorted({c for c in text if ord(c) > 127})
    escape = "".join
    letter = "A-Za-z" + escape(re.escape(c) for c in above if unicodedata.category(c)[0] == "L")
    number = "0-9" + escape(re.escape(c) for c in above if unicodedata.category(c)[0] == "N")
    pattern = re.compile(rf"'(?:s|t|re|ve|m|ll|d)| ?[{letter}]+| ?[{number}]+| ?[^\s{letter}{number}]+|\s+(?!\S)|\s+")
    parts = re.split(f"([{number}])", text) if single_digits else [text]
    return [word for part in parts for word in pattern.findall(part)]


def spelled(word):
    return "".join(LETTERS[byte] for byte in word.encode("utf-8"))


def train(text, size):
    """The merges for a vocabulary of this size: the most frequent pair first; among equals, the first by spelling."""
    counted = collections.Counter(spelled(word) for word in words(text))
    parts = [list(word) for word in counted]
    counts = list(counted.values())
    pairs, where = collections.Counter(), collections.defaultdict(set)
    for i, word in enumerate(parts):
        for pair in zip(word, word[1:]):
            pairs[pair] += counts[i]
            where[pair].add(i)
    queue = [(-count, pair) for pair, count in pairs.items()]
    heapq.heapify(queue)
    merges = []
    while len(merges) < size - 257 and queue:
        count, pair = heapq.heappop(queue)
        if pairs[pair] != -count:
            continue  # a merge has changed this count since
        merges.append(pair)
        changed = set()
        for i in where.pop(pair):
            for old in zip(parts[i], parts[i][1:]):
                pairs[old] -= counts[i]
                changed.add(old)
            parts[i] = merged(parts[i], pair)
            for new in zip(parts[i], parts[i][1:]):
                pairs[new] += counts[i]
                where[new].add(i)
                changed.add(new)
        for other in changed:
            if pairs[other] > 0 and other != pair:
                heapq.heappush(queue, (-pairs[other], other))
        del pairs[pair]
    return merges


def merged(word, pair):
    out, i = [], 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
            out.append(word[i] + word[i + 1])
            i += 2
        else:
            out.append(word[i])
            i += 1
    return out


class Tokenizer:
    """A tokenizer. Without other tokens, token 0 is END, then come the 256 bytes, then one token for each merge."""

    def __init__(self, merges, tokens=None, single_digits=False):
        self.merges = [tuple(pair) for pair in merges]
        self.single_digits = single_digits
        self.tokens = tokens or [END] + [LETTERS[byte] for byte in range(256)] + [a + b for a, b in self.merges]
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        self.ranks = {pair: i for i, pair in enumerate(self.merges)}
        self.known = {}

    def word(self, word):
        if word not in self.known:
            parts = list(spelled(word))
            while len(parts) > 1:
                best = min(zip(parts, parts[1:]), key=lambda pair: self.ranks.get(pair, len(self.ranks)))
                if best not in self.ranks:
                    break
                parts = merged(parts, best)
            self.known[word] = [self.ids[part] for part in parts]
        return self.known[word]

    def encode(self, text):
        return [i for word in words(text, self.single_digits) for i in self.word(word)]

    def decode(self, ids):
        return bytes(BYTES[letter] for i in ids if i for letter in self.tokens[i]).decode("utf-8", errors="replace")


def of(values):
    """The pair's tokenizer, from the keys of its GGUF file."""
    return Tokenizer([pair.split(" ") for pair in values["tokenizer.ggml.merges"]])
