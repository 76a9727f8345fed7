"""What every adapter shares: its options, and the file of emitted sequences. An adapter runs in its engine's environment and needs
nothing of speclab. It calls `run` with a function of the settings, which yields (token ids of the engine, drafted, accepted) for
each sequence in order; counts are the engine's own, None where it has none.
"""
import argparse
import ctypes
import dataclasses
import json
import pathlib
import signal
import sys
import time


@dataclasses.dataclass(frozen=True)
class Settings:
    folder: pathlib.Path  #: of scripts/table_models.py: target.gguf, draft.gguf, target/, draft/
    prompt: list  #: ids of the engine
    sequences: int
    tokens: int  #: of each sequence
    gamma: int  #: drafted tokens; 0: plain decoding
    way: str  #: one of the adapter's ways to verify or draft
    temperature: float
    top_k: int  #: 0: all
    top_p: float
    slots: int  #: sequences decoded at once
    seed: int

    def seed_of(self, sequence):
        """Far from those of neighbours: some generators give similar streams for seeds that are close."""
        return (self.seed * 1_000_003 + sequence * 7919 + 1) % 2**31


def run(engine, version, ways, decode):
    parser = argparse.ArgumentParser(description=f"Decodes table models by {engine}; scripts/engines/audit.py calls this.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path, help="JSON lines for speclab check --samples")
    parser.add_argument("--way", choices=ways, default=ways[0])
    for name, kind, default in (("sequences", int, 1000), ("tokens", int, 3), ("gamma", int, 2), ("temperature", float, 1.0),
                                ("top-k", int, 0), ("top-p", float, 1.0), ("slots", int, 8), ("seed", int, 1)):
        parser.add_argument(f"--{name}", type=kind, default=default)
    given = vars(parser.parse_args())
    if sys.platform == "linux":  # ends with the audit, however that ends
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)
    out = given.pop("out")
    settings = Settings(prompt=[0], **given)
    for needed in ("target.gguf", "draft.gguf", "target", "draft"):
        if not (settings.folder / needed).exists():
            sys.exit(f"{settings.folder / needed}: not there; make it by scripts/table_models.py")
    drafted = accepted = emitted = 0
    start = time.monotonic()
    with out.open("w", encoding="utf-8") as file:
        for ids, of_draft, kept in decode(settings):
            ids = [int(id) for id in ids]
            if len(ids) != settings.tokens:
                sys.exit(f"{engine} emitted {len(ids)} tokens, {ids}, not {settings.tokens}")
            file.write(json.dumps({"tokens": ids}) + "\n")
            emitted += len(ids)
            drafted, accepted = (None if total is None or more is None else total + more
                                 for total, more in ((drafted, of_draft), (accepted, kept)))
    print(json.dumps({"engine": engine, "version": version, "drafted": drafted, "accepted": accepted, "emitted": emitted,
                      "seconds": round(time.monotonic() - start, 1)}))
