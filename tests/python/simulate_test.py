"""Tests simulation on arrays and functions: it gives the program's numbers, is reproducible, and can be interrupted."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import rules_in_python
import speclab
from speclab import simulate

TARGET, DRAFT = [0.5, 0.3, 0.2], [0.1, 0.3, 0.6]


def test_closed_forms():
    """alpha = .6 in every context, so that Eq. 1 holds. Intervals at confidence 1 - 1e-9."""
    made = simulate(TARGET, DRAFT, 3, c=0.05, confidence=1 - 1e-9)
    assert made.alpha.value == pytest.approx(0.6, abs=1e-6)
    assert speclab.expected_tokens(0.6, 3) in made.tokens_per_target_step
    assert speclab.speedup(0.6, 3, 0.05) in made.speedup
    assert made.counts["rounds"] == 128_000 == sum(made.accepted_lengths)
    for position, (both, given) in enumerate(made.positions):
        assert 0.6 ** (position + 1) in both and 0.6 in given


def test_same_as_the_program():
    """The same seed and sizes give the config's counts, for both engines."""
    config = {
        "title": "t",
        "models": {"target": {"kind": "table", "rows": [TARGET]}, "draft": {"kind": "table", "rows": [DRAFT]}},
        "gamma": 4,
        "seed": 5,
    }
    for trials, length, rule in ((16, 100, "token"), (64, 5000, "token"), (16, 100, "block")):
        simulation = {"trials": trials, "length": length}
        cell = speclab.run({**config, "simulation": simulation, "rule": {"kind": rule}}).cells[0]
        made = simulate(TARGET, DRAFT, 4, rule, seed=5, rounds=trials * length, trials=trials)
        assert made.counts["accepted"] == cell["counts"]["accepted"]
        assert made.engine == cell["engine"]["name"]
        assert (made.estimates["alpha_overlap"] is None) == ("alpha_overlap" not in cell["simulated"]) == (rule == "block")
        found = cell["simulated"]["tokens_per_target_step"]
        assert (made.tokens_per_target_step.low, made.tokens_per_target_step.high) == (found["low"], found["high"])


def test_threads_do_not_matter():
    pair = speclab.models.from_config({"kind": "markov", "vocab": 50}), np.full(50, 1 / 50)
    one, two = (simulate(*pair, 3, rounds=6400, threads=threads) for threads in (1, 2))
    assert one.counts == two.counts and one.estimates == two.estimates


def test_few_trials_have_no_bounds():
    rows = [[0.9, 0.1], [0.2, 0.8]]
    assert simulate(rows, [0.5, 0.5], 2, rounds=1000, trials=4).alpha.high == np.inf


def test_prompt_is_the_context():
    sticks = [[1.0, 0.0], [0.0, 1.0]]
    assert simulate(sticks, [[0.5, 0.5], [0.5, 0.5]], 2, rounds=100, prompt=[1]).alpha.value == 0.5
    assert speclab.sample(sticks, None, tokens=5, samples=3, prompt=[1]).tolist() == [[1] * 5] * 3


def test_progress():
    seen = []
    simulate(TARGET, DRAFT, 5, "block", rounds=400_000, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (400_000, 400_000)
    assert all(done <= total for done, total in seen)
    with pytest.raises(ZeroDivisionError):
        simulate(TARGET, DRAFT, 5, "block", rounds=10**9, progress=lambda done, total: 1 / 0)


def test_progress_without_tqdm_says_how_long_it_takes(capsys, monkeypatch):
    from speclab import _progress

    clock = iter([0.0, 10.0, 10.01, 20.0])
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(clock))
    show = _progress._line("check_generate")
    show(100, 1000)  # 10 s for a tenth
    show(101, 1000)  # too soon to print
    show(1000, 1000)
    lines = capsys.readouterr().err.split("\r")[1:]
    assert len(lines) == 2
    assert "10% of 1000" in lines[0] and "about 90 s left" in lines[0]
    assert "100%" in lines[1] and "left" not in lines[1]


def test_calls_of_neural_models_show_their_progress():
    import inspect

    hf = pytest.importorskip("speclab.hf")
    assert all(inspect.signature(call).parameters["progress"].default is True for call in (hf.check_generate, hf.record))


def interrupted(call):
    """Seconds of processor time that a call takes that is interrupted .2 s after its start."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.process_time()
    with pytest.raises(KeyboardInterrupt):
        call()
    return time.process_time() - start


def test_keyboard_interrupt():
    assert interrupted(lambda: simulate(TARGET, DRAFT, 5, "block", rounds=10**10)) < 5
    assert interrupted(lambda: simulate(TARGET, DRAFT, 5, "token", rounds=10**11)) < 5
    config = {"title": "t", "models": {"target": {"kind": "table", "rows": [TARGET]}, "draft": {"kind": "table", "rows": [DRAFT]}},
              "rule": {"kind": "block"}, "simulation": {"trials": 1000, "length": 10_000_000}}
    assert interrupted(lambda: speclab.run(config)) < 5
    # The interrupt does not affect the next call.
    assert simulate(TARGET, DRAFT, 2, rounds=64).counts["rounds"] == 64


def test_other_threads_run_meanwhile():
    count = 0
    stop = threading.Event()

    def work():
        nonlocal count
        while not stop.is_set():
            count += 1
            time.sleep(0.001)

    thread = threading.Thread(target=work)
    thread.start()
    simulate(TARGET, DRAFT, 5, "block", rounds=2_000_000)
    stop.set()
    thread.join()
    assert count > 20


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (dict(target=[0.5, 0.6]), ValueError, "target: the row sums to 1.1"),
        (dict(target=[1.5, -0.5]), ValueError, "target: the row holds -0.5"),
        (dict(draft=[0.5, 0.5, 0.0]), ValueError, "draft: 3 tokens"),
        (dict(draft=[[0.5, 0.5]] * 3), ValueError, "draft: 3 rows over 2 tokens"),
        (dict(target=[float("nan"), 1]), ValueError, "target: the row holds NaN"),
        (dict(target="rows"), TypeError, "target"),
        (dict(target=None), TypeError, "target"),
        (dict(target=lambda tokens: [0.5, 0.6]), ValueError, "target"),
        (dict(target=lambda tokens: [0.5, 0.5] if not tokens else [1.0]), ValueError, "1 probabilities; expected 2"),
        (dict(gamma=65), ValueError, "gamma: 65"),
        (dict(gamma=1.5), TypeError, "gamma"),
        (dict(gamma=True), TypeError, "gamma"),
        (dict(seed=-1), ValueError, "seed"),
        (dict(rounds=0), ValueError, "rounds"),
        (dict(trials=0), ValueError, "trials"),
        (dict(prompt=[2]), ValueError, "prompt: 2"),
        (dict(confidence=1), ValueError, "confidence"),
        (dict(c=-1), ValueError, "c: "),
        (dict(threads=10**6), ValueError, "threads"),
        (dict(rule="tokn"), speclab.ConfigError, "token"),
        (dict(rule={"kind": "lenient", "lenience": 2}), speclab.ConfigError, "lenience"),
        (dict(rule=3), TypeError, "rule"),
        (dict(progress=3), TypeError, "progress"),
    ],
)
def test_refused(change, error, words):
    arguments = dict(target=[0.5, 0.5], draft=[0.25, 0.75], gamma=2, rounds=64)
    with pytest.raises(error, match=words):
        simulate(**{**arguments, **change})


def test_threads_of_python():
    """Proofs, simulations and tests give the same results from several threads at once as alone."""
    from concurrent.futures import ThreadPoolExecutor

    def work(seed):
        proof = speclab.prove("token", TARGET, DRAFT, 2)
        counts = simulate(TARGET, DRAFT, 3, rules_in_python.token, seed=seed, rounds=640).counts
        return proof.law, counts, speclab.verify([[TARGET, TARGET]], [[DRAFT]], [[1]], seed=seed).tokens.tolist()

    alone = [work(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, [*range(4)] * 3)) == alone * 3
