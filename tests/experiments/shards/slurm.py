"""Tests an array job of a real Slurm: shards that are killed, and one that fails once, are submitted again, and the merged result
is that of one process.

usage: slurm.py SPECLAB_BINARY SOURCE_DIR

Starts its own munged, slurmctld and slurmd (Debian's slurm-wlm and munge) in a temporary folder, on free ports, and ends them.
Ends with 77 (skipped) if they are not installed or do not start.
"""

import contextlib
import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SHARDS, SLOTS, KILLED, FAILING = 8, 2, (3, 6), 5
CONFIG = """{"title": "Slurm", "experiment": "iid", "alpha": 0.7, "simulation": {"trials": 64, "length": 800000},
 "sweep": {"/gamma": [1, 2, 3, 4, 5, 6, 7, 8]}}"""
# Not everybody's PATH contains /usr/sbin.
os.environ["PATH"] += ":/usr/sbin:/sbin"


def skip(reason: str) -> None:
    print("skipped:", reason)
    sys.exit(77)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def until(what: str, seconds: float, done) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.05)


@contextlib.contextmanager
def cluster(folder: pathlib.Path):
    """Runs Slurm on this machine with SLOTS processors; yields the environment that its programs need."""
    host, user = socket.gethostname().split(".")[0], getpass.getuser()
    for name in ("state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    munge = folder / "munge.socket"
    (folder / "slurm.conf").write_text(f"""
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={munge}
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MailProg=/bin/true
SwitchType=switch/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={SLOTS} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""")
    (folder / "cgroup.conf").write_text("CgroupAutomount=no\nIgnoreSystemd=yes\nConstrainCores=no\nConstrainRAMSpace=no\n")
    env = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
    running = []

    def start(*command: str) -> None:
        running.append(subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    try:
        start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge}", f"--pid-file={folder}/munged.pid",
              f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed", "--num-threads=2")
        try:
            until("munged", 10, munge.exists)
            start("slurmctld", "-D", "-i", "-f", env["SLURM_CONF"])
            start("slurmd", "-D", "-f", env["SLURM_CONF"])

            def idle() -> bool:
                answer = subprocess.run(["sinfo", "--noheader", "--format=%T"], env=env, capture_output=True, text=True)
                return answer.stdout.strip() == "idle"

            until("an idle node", 30, idle)
        except AssertionError as error:
            logs = "\n".join(log.read_text(errors="replace")[-1500:] for log in sorted(folder.glob("*.log")))
            skip(f"Slurm does not start here: {error}\n{logs}")
        yield env
    finally:
        for process in reversed(running):
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def processes_of(out: pathlib.Path, shard: int) -> list[int]:
    """Returns the processes that run a shard in this folder."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            if str(out).encode() in words and f"{shard}/{SHARDS}".encode() in words and b"run" in words:
                found.append(int(entry.name))
    return found


def main() -> None:
    speclab = sys.argv[1]
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo") if not shutil.which(name)]
    if missing:
        skip(f"no {', '.join(missing)} here (Debian: apt install slurm-wlm munge)")
    if not os.path.isdir("/sys/fs/cgroup"):
        skip("/sys/fs/cgroup is not mounted, which slurmd needs")
    with tempfile.TemporaryDirectory(prefix="slurm") as name, cluster(pathlib.Path(name)) as env:
        folder = pathlib.Path(name)
        config, out, alone = folder / "config.json", folder / "out", folder / "alone"
        config.write_text(CONFIG)
        # The first process of one shard finds a journal of another run, and fails.
        other = folder / "other"
        subprocess.run([speclab, "run", config, "--set", "simulation.length=1000", "--shard", f"{FAILING}/{SHARDS}", "--out", other, "-q"],
                       check=True)
        journal, = (other / "shards").glob("*.jsonl")
        foreign = out / "shards" / f"{FAILING}-of-{SHARDS}.foreign.jsonl"

        submit = subprocess.Popen([speclab, "submit", config, "--shards", str(SHARDS), "--scheduler", "slurm", "--out", out, "--pilot", "0", "-q"],
                                  env=env, stderr=subprocess.PIPE, text=True)
        try:
            until("the first shard", 30, lambda: processes_of(out, 1))
            shutil.copy(journal, foreign)
            killed = []

            def kill(shard: int) -> bool:
                for process in processes_of(out, shard):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                        killed.append(shard)
                return shard in killed

            until("shard 3", 60, lambda: kill(KILLED[0]))
            until("the error of shard 5", 60, (out / "shards" / f"{FAILING}-of-{SHARDS}.error").exists)
            foreign.unlink()
            until("shard 6", 60, lambda: kill(KILLED[1]))
            messages = submit.communicate(timeout=120)[1]
        finally:
            submit.terminate()
        assert submit.returncode == 0, messages
        assert f"3 of {SHARDS} shards are not complete; submitted again" in messages, messages
        assert messages.count("submitted job") == 2, messages
        subprocess.run([speclab, "run", config, "--out", alone, "-q"], check=True)
        for file in ("result.json", "results.csv"):
            assert (out / file).read_bytes() == (alone / file).read_bytes(), file
        processes = sorted(path.name.split(".")[0] for path in (out / "shards").glob("*.jsonl"))
        assert len(set(processes)) == SHARDS, processes
    print(f"{SHARDS} shards on {SLOTS} processors of Slurm; {len(KILLED)} killed, one failed, all submitted again; the bytes of one process")


main()
