"""Tests that sweep(executor=...) gives the bytes of run, and reports the error of a worker."""

import concurrent.futures
import json
import multiprocessing

import pytest

import speclab

GRID = {
    "title": "Executor",
    "simulation": {"trials": 64, "length": 100},
    "models": {
        "target": {"kind": "zipf", "vocab": 20},
        "draft": {"kind": "mixture", "alpha": 0.7, "other": {"kind": "zipf", "reversed": True}},
    },
    "sweep": {"/gamma": [1, 3, 5], "/cost/c": [0.02, 0.1]},
}


@pytest.fixture(scope="module")
def pool():
    # A forked process may deadlock if the parent has threads.
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as made:
        yield made


@pytest.mark.parametrize("shards", [1, 2, 5])
def test_shards_give_the_bytes_of_one_process(pool, shards):
    seen = []
    shared = speclab.sweep(GRID, executor=pool, shards=shards, progress=lambda *step: seen.append(step))
    assert shared.to_json() == speclab.sweep(GRID).to_json()
    assert seen[-1] == (shards, shards)


def test_simulations_that_go_on_until_they_are_precise(pool):
    until = {"half_width": 0.01, "relative": True}
    config = {**GRID, "simulation": {"trials": 16, "length": 50, "until": until}}
    alone = speclab.sweep(config)
    assert max(cell["until"]["looks"] for cell in json.loads(alone.to_json())["cells"]) > 2
    assert speclab.sweep(config, executor=pool, shards=3).to_json() == alone.to_json()


def test_a_folder_keeps_what_is_finished(pool, tmp_path):
    first = speclab.sweep(GRID, executor=pool, shards=2, folder=tmp_path)
    journals = sorted((tmp_path / "shards").iterdir())
    again = speclab.sweep(GRID, executor=pool, shards=2, folder=tmp_path)
    assert first.to_json() == again.to_json()
    assert set(journals) < set((tmp_path / "shards").iterdir())
    with pytest.raises(ValueError, match="another config"):
        speclab.sweep({**GRID, "seed": 9}, executor=pool, shards=2, folder=tmp_path)


def test_errors_of_a_worker_arrive(pool):
    with pytest.raises(speclab.ConfigError, match="/gamma"):
        speclab.sweep({**GRID, "sweep": {"/gamma": [1, -3]}}, executor=pool, shards=2)
    with pytest.raises(ValueError, match="executor"):
        speclab.sweep(GRID, shards=2)
    with pytest.raises(ValueError, match="shards"):
        speclab.sweep(GRID, executor=pool, shards=0)


def test_dask():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        assert speclab.sweep(GRID, executor=client.get_executor(), shards=3).to_json() == speclab.sweep(GRID).to_json()
