"""Tests that shells run the output of `submit --print` correctly: whatever the names of the program, the config and the folder and the
values of options, the program is started with exactly these arguments, and nothing else is started.

usage: quoting.py SPECLAB_BINARY SOURCE_DIR [CASES]

A stand-in replaces the program and writes its arguments. Scripts run in those of sh, dash and bash that are installed.
"""

import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

SHARDS, SEED = 3, 31
NASTY = [b" ", b"'", b'"', b"$", b"`", b"\n", b"\\", b"*", b"?", b"[a]", b"-", b"--out", b"~", b"#", b"&", b"|", b";", b"<", b">", b"(", b")",
         b"!x", b"=", b"%", b"%A", b"{}", b"{.}", b"{a,b}", b"{=system('touch PWNED')=}", b"$(touch PWNED)", b"`touch PWNED`", b";touch PWNED;",
         b"\ntouch PWNED\n", b"\n#SBATCH --wrap=x\n", b"'$(touch PWNED)'", b'"$(touch PWNED)"', b"$$", b"$(HOME)", b"${IFS}", b"$HOME", b"\t",
         b"\r", b"\x01", b"\x1b[31m", b"\x7f", b"\x81", b"\xff", "é".encode(), "数".encode(), "😀".encode(), "\x85".encode(),
         "\u2028".encode(), "\u202e".encode(), "\ufeff".encode(), b": ", b"- ", b"a", b"b", b"\\n", b"\\033", b"$'\\n'", b"\\", b"\n"]
STAND_IN = """#!/bin/sh
printf '%s\\0' "$#" "$@" >>"$RECORD"
"""


def nasty(rng: random.Random, most: int = 5) -> bytes:
    name = b"".join(rng.choice(NASTY) for _ in range(rng.randint(1, most)))
    return b"a" + name if name.startswith(b".") else name


class Bench:
    def __init__(self, folder: pathlib.Path, speclab: str) -> None:
        self.work, self.record = folder / "work", folder / "record"
        self.work.mkdir()
        # The program itself is in a folder with such a name.
        self.program = os.fsencode(folder) + b"/it's $(touch PWNED) \n\x1b\xff/speclab"
        os.mkdir(os.path.dirname(self.program))
        shutil.copy(speclab, self.program)
        self.tools = folder / "tools"
        self.tools.mkdir()
        (self.tools / "speclab").write_text(STAND_IN)
        (self.tools / "speclab").chmod(0o755)

    def printed(self, words: list[bytes], scheduler: str) -> bytes:
        done = subprocess.run([self.program, b"submit", b"--print", b"--scheduler=" + scheduler.encode(), *words], cwd=self.work, capture_output=True)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def replace_program(self) -> None:
        os.unlink(self.program)
        shutil.copy(self.tools / "speclab", self.program)

    def run(self, shell: str, script: bytes, **variables: str) -> list[list[bytes]]:
        """Returns the arguments of every call of the stand-in."""
        self.record.unlink(missing_ok=True)
        file = self.work.parent / "script"
        file.write_bytes(script)
        environment = {"PATH": f"{self.tools}:{os.environ['PATH']}", "HOME": "/nonexistent", "RECORD": str(self.record), **variables}
        done = subprocess.run([shell, file], cwd=self.work, env=environment, capture_output=True)
        assert done.returncode == 0, (shell, script, done.stderr)
        words, calls = self.record.read_bytes().split(b"\0")[:-1], []
        while words:
            count = int(words.pop(0))
            calls.append(words[:count])
            words = words[count:]
        return calls


def option(name: bytes, value: bytes) -> list[bytes]:
    return [name + b"=" + value] if value.startswith(b"-") else [name, value]


def check_slurm(text: bytes) -> None:
    """Checks that sbatch can read every #SBATCH line without quotes, and that these lines precede the first command."""
    lines = text.split(b"\n")
    assert lines[0] == b"#!/bin/sh"
    for line in lines[1:]:
        if not line.startswith(b"#SBATCH "):
            break
        assert re.fullmatch(rb"#SBATCH --(job-name|array|output|mem)=[-\w+=./:,@%]+", line), line


def main() -> None:
    speclab, source = sys.argv[1:3]
    names = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    shells = [shell for shell in ("sh", "dash", "bash") if shutil.which(shell)]
    rng = random.Random(SEED)
    config = pathlib.Path(source, "configs/first.json").read_bytes()
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(pathlib.Path(scratch), speclab)
        cases = []
        for _ in range(names):
            file = nasty(rng) + b".json"
            (pathlib.Path(os.fsdecode(bench.work)) / os.fsdecode(file)).write_bytes(config)
            title = b"title=t" + nasty(rng).decode(errors="ignore").encode()
            words, expected = [], [b"run", b"./" + file if file.startswith(b"-") else file]
            out = b"out/" + os.path.splitext(file)[0]
            if rng.random() < 0.5:
                out = nasty(rng)
                words += [b"--set=" + title, b"--seed=7", b"--out=" + out]
                expected += [b"--set", title, b"--seed", b"7"]
            expected += [*option(b"--out", out), b"--quiet", b"--shard"]
            words += [b"--shards=%d" % SHARDS, b"--", file]
            cases.append((expected, {name: bench.printed(words, name) for name in ("local", "slurm")}))
        bench.replace_program()
        of = [b"%d/%d" % (shard + 1, SHARDS) for shard in range(SHARDS)]
        for expected, text in cases:
            check_slurm(text["slurm"])
            for shell in shells:
                assert bench.run(shell, text["local"]) == [[*expected, one] for one in of], text["local"]
                assert bench.run(shell, text["slurm"], SLURM_ARRAY_TASK_ID="2", SLURM_ARRAY_JOB_ID="7") == [[*expected, of[1], b"--threads", b"1"]], text["slurm"]
        made = [name for _, _, names in os.walk(os.fsencode(scratch)) for name in names if b"PWNED" in name and not name.endswith((b".json", b".log"))]
        assert not made, made
        # Values that sbatch cannot read in a #SBATCH line are refused.
        done = subprocess.run([speclab, "submit", f"{source}/configs/first.json", "--shards", "2", "--scheduler", "slurm", "--print", "--time", "1\n#SBATCH --x"],
                              capture_output=True)
        assert done.returncode == 2 and b"--time" in done.stderr and not done.stdout, done
    print(f"{names} names, two schedulers, {' '.join(shells)}")


main()
