"""Compares recordings of the pair of configs/neural by libllama (model kind gguf) with the forward pass in numpy. Skipped without
numpy, or if speclab was built without libllama.

usage: neural_pair_gguf.py SPECLAB SOURCE
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as error:
    print(f"needs numpy: {error}")
    sys.exit(77)

speclab, source = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(source / "scripts"))
from of_package.llama_numpy import Llama  # noqa: E402
from pair import bpe, drafters  # noqa: E402

# Bound on the mean difference of a text's log-probabilities, in nats: libllama rounds activations to 8 bits if matrices are in q8_0.
MEAN_TOLERANCE = 0.02
models = source / "configs/neural"
prompt = bpe.of(Llama(models / "target.gguf").values).encode("She was not aware that")


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for draft in ("draft", "draft-small"):
        config = {"title": "the pair", "simulation": {"trials": 8, "length": 48, "prompt": prompt},
                  "models": {side: {"kind": "gguf", "file": str(models / f"{file}.gguf")}
                             for side, file in (("target", "target"), ("draft", draft))}}
        (folder / "pair.json").write_text(json.dumps(config), encoding="utf-8")
        done = subprocess.run([speclab, "record", folder / "pair.json", "--out", folder / "pair.csv", "--tokens", "48"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode == 2 and ("libllama" in done.stderr or '"gguf"' in done.stderr):
            print(done.stderr.strip())
            sys.exit(77)
        expect(done.returncode == 0, done.stderr)
        with open(folder / "pair.csv", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        for column, model in (("logp", "target"), ("logq", draft)):
            scorer, differences = drafters.Neural(Llama(models / f"{model}.gguf")), []
            for sequence in sorted({line["sequence"] for line in lines}):
                of_it = [line for line in lines if line["sequence"] == sequence]
                tokens = [int(line["token"]) for line in of_it]
                logs = scorer.rows(prompt, tokens)[np.arange(len(tokens)), tokens]
                differences += list(np.abs(logs - [float(line[column]) for line in of_it]))
            print(f"{model}: log-probabilities differ by {np.mean(differences):.1e} on average, by at most {max(differences):.1e}")
            expect(np.mean(differences) < MEAN_TOLERANCE, f"{model}: {np.mean(differences)}")
print("ok")
