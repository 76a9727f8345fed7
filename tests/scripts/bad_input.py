"""Tests that scripts refuse missing and damaged files, and values out of range, with one line that names them and exit code 2, and write nothing.

usage: bad_input.py SPECLAB SOURCE
"""

import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is missing")
    sys.exit(77)

source = pathlib.Path(sys.argv[2])
SCRIPTS, PAIR, RECORDING = source / "scripts", source / "configs/neural", source / "configs/recorded/austen.csv"
sys.path.insert(0, str(SCRIPTS))
from of_package.whole_file import whole_file  # noqa: E402


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def run(script, *words):
    return subprocess.run([sys.executable, "-B", SCRIPTS / script, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def refused(out, said, script, *words):
    out.write_bytes(b"older")
    done = run(script, *words)
    expect(done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, f"{script} {words}: {done}")
    expect("usage:" in done.stderr or done.stderr.count("\n") == 1, f"{script} {words}: one line: {done}")
    expect(out.read_bytes() == b"older" and not list(out.parent.glob("*.part")), f"{script} {words}: a file was written")


def novels(*lines):
    """Rdata.rdb with one novel."""
    record = b"X\n" + struct.pack(">III", 3, 0, 0) + struct.pack(">I", 5) + b"UTF-8" + struct.pack(">II", 16, len(lines))
    record += b"".join(struct.pack(">II", 9, len(line.encode())) + line.encode() for line in lines)
    return struct.pack(">I", len(record)) + zlib.compress(record)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    out, draft = folder / "out.npz", PAIR / "draft-small.gguf"
    pair, few = (PAIR / "target.gguf", draft, RECORDING, out), ("--contexts", 2, "--tokens", 5)
    done = run("record_logits.py", *pair, *few)
    expect(done.returncode == 0, done)
    with np.load(out) as made:
        expect(made["target"].shape == made["draft"].shape and len(made["target"]) == 2 and np.isfinite(made["target"]).all(), "logits")
    lines = RECORDING.read_text(encoding="utf-8").splitlines()
    token = lines[0].split(",").index("token")

    def changed(value):
        fields = lines[2].split(",")
        fields[token] = value
        file = folder / f"token{value}.csv"
        file.write_text("\n".join([*lines[:2], ",".join(fields), *lines[3:]]) + "\n", encoding="utf-8")
        return file

    (folder / "short.csv").write_text("\n".join(lines[:6]) + "\n", encoding="utf-8")
    (folder / "long.csv").write_text("sequence,token\n" + "1" * 200000 + ",1\n", encoding="utf-8")
    (folder / "latin.csv").write_bytes(b"sequence,position,token\n0,0,\xe9\n")
    (folder / "cut.gguf").write_bytes(draft.read_bytes()[:-100])
    for option, value in (("--parts", 0), ("--parts", "x"), ("--contexts", 0), ("--contexts", 10000), ("--tokens", 0), ("--tokens", 97)):
        refused(out, option, "record_logits.py", *pair, option, value)
    for recording, said in ((changed("-1"), "token-1.csv:3"), (changed("2048"), "token2048.csv:3"), (changed("x"), "tokenx.csv:3"), (folder / "short.csv", "short.csv"),
                            (folder / "latin.csv", "latin.csv"), (folder / "long.csv", "long.csv"), (folder / "none.csv", "none.csv"), (draft, "draft-small.gguf")):
        refused(out, said, "record_logits.py", PAIR / "target.gguf", draft, recording, out)
    for models, said in (((folder / "none.gguf", draft), "none.gguf"), ((PAIR / "target.gguf", folder / "cut.gguf"), "cut.gguf"),
                         ((RECORDING, draft), "austen.csv")):
        refused(out, said, "record_logits.py", *models, RECORDING, out)

    text, packed = folder / "novels.txt", folder / "Rdata.rdb"
    packed.write_bytes(novels("EMMA", "by Jané") * 2)
    expect(run("extract_austen.py", packed, text).returncode == 0 and text.read_text(encoding="utf-8") == "EMMA\nby Jané\n" * 2, "novels")
    for content in (packed.read_bytes()[:-5], packed.read_bytes()[:2], b"", b"hello, world"):
        packed.write_bytes(content)
        refused(text, "Rdata.rdb", "extract_austen.py", packed, text)
    refused(text, "nowhere", "extract_austen.py", folder / "nowhere", text)
    for content in (b"", b"hello", b"Trie Language Model\3" + bytes(20)):
        packed.write_bytes(content)
        refused(text, "Rdata.rdb", "sphinx_to_arpa.py", packed, text)

    (folder / "results.csv").write_text("number,measured,simulated\nTTFT p50,1,2\n", encoding="utf-8")
    expect(run("serving/percentiles.py", folder).stdout.endswith("TTFT p50,1,2\n"), "percentiles")
    done = run("serving/percentiles.py", folder, folder / "nowhere")
    expect(done.returncode and not done.stdout and done.stderr.count("\n") == 1 and "nowhere" in done.stderr, done)

    # A link stays one, and the file that it names is replaced.
    (folder / "link").symlink_to(text)
    with whole_file(folder / "link") as file:
        file.write("newer")
        expect(text.read_bytes() == b"older", "the old file stays until the new one is complete")
    expect((folder / "link").is_symlink() and text.read_bytes() == b"newer", "a link")
    for keep in (False, True):
        try:
            with whole_file(text, keep=keep) as file:
                file.write("half")
                raise ValueError
        except ValueError:
            expect(text.read_bytes() == b"newer" and (folder / "novels.txt.part").exists() == keep, f"keep {keep}")

    # Results that another tree does not have.
    (folder / "scripts/gpu").mkdir(parents=True)
    (folder / "scripts/gpu/step_shares.py").write_bytes((SCRIPTS / "gpu/step_shares.py").read_bytes())
    done = subprocess.run([sys.executable, "-B", folder / "scripts/gpu/step_shares.py"], stderr=subprocess.PIPE, text=True, check=False)
    expect(done.returncode and done.stderr.count("\n") == 1 and "nvidia-h200.csv" in done.stderr, done)
print("ok")
