"""Says when a program can be interrupted."""

import re
import time


def catches(pid, number):
    """Tells whether a process has a handler for a signal. The program sets its own first of all, but loading it takes time."""
    caught = re.search(r"SigCgt:\s*(\w+)", open(f"/proc/{pid}/status").read())
    return caught is not None and int(caught[1], 16) >> (number - 1) & 1 == 1


def wait_for(job, number):
    """Returns half a second after the program began to catch the signal."""
    while not catches(job.pid, number):
        assert job.poll() is None, "ended by itself"
        time.sleep(0.01)
    time.sleep(0.5)
    assert job.poll() is None, "ended by itself"
