"""A short model of a GPU of compute capability 9.0: what scripts/kernel_code.py predicts from the code of the verification kernels. A kernel has the
attributes of kernel_code.Kernel. Device says which of its numbers were measured."""
from dataclasses import dataclass, replace
from math import ceil

THREADS = 256
# Few requests have clusters of more blocks than every device supports (kernels/verify/cluster_layout.hpp).
FEW_REQUESTS, LARGE_CLUSTER = 8, 16
TILE = 8192
HELD = TILE // THREADS  # ids of a tile that one thread holds
LOAD_BYTES = 16
# One multiprocessor of compute capability 9.0.
REGISTERS, SHARED_BYTES, RESIDENT_THREADS, RESERVED_SHARED = 65536, 233472, 2048, 1024


@dataclass(frozen=True)
class Device:
    """Times in microseconds. Of the H200, bandwidth and launches were measured, and `fetch` is fitted to the times of `fused` at eight sizes
    (kernels/results/nvidia-h200.md), all by the kernels of before: the largest deviation is 13%. All else is assumed."""
    name: str = "NVIDIA H200"  # as the driver says it, or how that begins
    multiprocessors: int = 132
    clock_mhz: float = 1755
    bandwidth_gbs: float = 4300  # of copies
    memory_latency: float = 0.9
    launch: float = 3.3
    dependent_launch: float = 1.1
    decisions: float = 3.0  # dependent reads of sums, token and logits, and logarithms in double
    fetch: float = 0.0021  # of an instruction that a block executes once
    executed: float = 0.227  # share of the last launch's instructions that a block executes, as the profiler counted them
    tile_end: float = 0.3  # of a block: reductions and what it writes
    finish: float = 3.5  # fence, counter, choice of a tile, the tile again, the draw
    thresholds: float = 6.0  # of a row: two times three rounds among what is near the largest logit
    line_cycles: float = 4.0  # of a warp's load of one id a lane, 16 bytes apart: four lines of the first cache


DEVICES = (Device(), Device(name="NVIDIA H100", bandwidth_gbs=3000))


def blocks_at_once(registers, shared):
    by_registers = REGISTERS // ((registers + 7) // 8 * 8 * THREADS)
    by_shared = SHARED_BYTES // (shared + RESERVED_SHARED)
    return min(by_registers, by_shared, RESIDENT_THREADS // THREADS)


def loads_by_id(device, tiles, vocab, logit_bytes):
    """What rows cost beside their bytes that are read id by id, since 16 bytes do not divide them: loads of the first cache."""
    if vocab * logit_bytes % LOAD_BYTES == 0:
        return 0
    return tiles * TILE / 32 * device.line_cycles / device.clock_mhz / device.multiprocessors


def kernel_time(device, kernel, tiles, tile_bytes, blocks, prefetched, trips=1):
    """Of a kernel that goes through tiles: bytes over the bandwidth, instructions over what the multiprocessors issue, or
    loads that wait for the memory, so many times a tile, whichever is longest; then the last block's end."""
    by_bytes = tiles * tile_bytes / device.bandwidth_gbs / 1e3
    # Eight warps a block; four instructions of a multiprocessor in a cycle, of which two thirds are counted on.
    tile_work = kernel.an_id * HELD * 1.15 * (THREADS / 32) / 4 * 1.5 / device.clock_mhz
    by_instructions = tiles * tile_work / device.multiprocessors
    slots = min(blocks, device.multiprocessors * kernel.blocks)
    memory = trips * device.memory_latency
    by_latency = tiles / slots * ((max(memory, tile_work) if prefetched else memory + tile_work) + device.tile_end)
    return max(by_bytes, by_instructions, by_latency) + device.memory_latency + device.tile_end


def fused_time(device, statistics, following, requests, gamma=4, vocab=128256, logit_bytes=2, alpha=0.7):
    """Microseconds of fused verification by the token rule, as kernels/verify/fused_layout.hpp launches it. Each wave of blocks of the last
    launch makes the acceptance draws before it weighs."""
    tiles = -(-vocab // TILE)
    tile_bytes = vocab * logit_bytes / tiles
    row_tiles = requests * 2 * gamma * tiles
    each = min(8, tiles, max(1, row_tiles // 2048))
    each = 1 << (each.bit_length() - 1)
    first = kernel_time(device, statistics, row_tiles, tile_bytes, requests * 2 * gamma * -(-tiles // each), each > 1)
    rejecting = 1 - alpha ** gamma
    tiles_each = -(-tiles // min(tiles, max(1, 528 // requests)))
    next_blocks = requests * -(-tiles // tiles_each)
    # Both rows of a residual; the loads of a step are on their way while the step before is weighed.
    trips = max(1, 2 * HELD * logit_bytes / LOAD_BYTES / following.loads)
    second = kernel_time(device, following, requests * tiles, tile_bytes * (1 + rejecting), next_blocks, trips > 1, trips)
    before = device.decisions + device.fetch * device.executed * following.instructions
    waves = ceil(next_blocks / (device.multiprocessors * following.blocks))
    by_id = loads_by_id(device, row_tiles + requests * tiles * (1 + rejecting), vocab, logit_bytes)
    return device.launch + first + device.dependent_launch + before * waves + second + device.finish + by_id


def cutoffs_time(device, kernel, requests, gamma=4, vocab=128256, logit_bytes=2, readings=2):
    """Microseconds of the launch that finds cut-offs, as kernels/verify/cutoffs.hpp does: two readings of each row for top-k and
    top-p, and thresholds; for min-p alone one."""
    tiles, rows = -(-vocab // TILE), requests * (gamma + 1)
    sharing = max(1, min(8, tiles, 528 // rows))
    sharing = 1 << (sharing.bit_length() - 1)
    both = replace(kernel, an_id=kernel.an_id / 2)
    reading = kernel_time(device, both, readings * rows * tiles, vocab * logit_bytes / tiles, rows * sharing, True)
    rounds = max(1, rows * sharing / (device.multiprocessors * kernel.blocks))
    return device.launch + reading + (device.thresholds * rounds if readings > 1 else 0)


def slowest_chain(expected, requests, gamma, alpha):
    """The outcome, in the mean, of the slowest of so many chains that run side by side: the most positions that one of them comes to."""
    tried = sum(1 - (1 - alpha**k) ** requests for k in range(gamma))
    return {**expected, "tried": tried, "accepted": tried - 1, "refused": 1, "leaves": 1 - (1 - alpha**gamma) ** requests}


def tree_time(device, walk, statistics, requests, vocab, launch, bytes_read, expected, chosen, slowest=None):
    """Microseconds of the launch that verifies trees, as kernels/verify/tree.hpp and traversal.hpp do, for the outcome that is expected:
    rows are summed where children are tried, and weighed for a leaf and after refusals; of chosen children once, if all were refused.
    A block waits for the memory once a row pair and once a leaf, since all its tiles are on their way together
    (kernels/verify/retained_row.hpp); other tiles that are weighed lie in shared memory. `slowest(n)`: the outcome of the
    slowest of n requests, which the launch ends with; where nobody says it, the mean outcome stands for it, and the time is too short. On an
    H100 launches took 1.0 to 4.8 times the time of this model (kernels/results/nvidia-h100.md)."""
    def tile_work(an_id):
        return an_id * HELD * 1.15 * (THREADS / 32) / 4 * 1.5 / device.clock_mhz

    tiles = -(-vocab // TILE)
    if requests <= FEW_REQUESTS and tiles >= LARGE_CLUSTER:
        launch = {**launch, "cluster": LARGE_CLUSTER, "blocks": requests * LARGE_CLUSTER,
                  "dynamic_shared": launch["dynamic_shared"] * launch["cluster"] // LARGE_CLUSTER}
    tiles_each = -(-tiles // launch["cluster"])
    slots = device.multiprocessors * blocks_at_once(walk.registers, walk.shared + launch["dynamic_shared"])

    def request(outcome):
        """Work of a block for one request, and that and what it waits for."""
        summed = outcome["tried"] * (1 if chosen else 2)
        weighed = outcome["leaves"] + (outcome["rejecting"] if chosen else outcome["refused"])
        work = tiles_each * (summed * tile_work(statistics.an_id) + weighed * tile_work(walk.an_id))
        waiting = ((outcome["tried"] + outcome["leaves"]) * device.memory_latency + tiles_each * (summed + weighed) * device.tile_end
                   + (outcome["accepted"] + outcome["refused"]) * device.decisions)
        return work, waiting + work

    at_once = min(launch["blocks"], slots) // launch["cluster"]
    work, mean = request(expected)
    last = mean if slowest is None else request(slowest(at_once))[1]
    by_bytes = bytes_read / device.bandwidth_gbs / 1e3
    by_instructions = launch["blocks"] * work / device.multiprocessors
    by_latency = max(0, launch["blocks"] / slots - 1) * mean + last
    return device.launch + max(by_bytes, by_instructions, by_latency) + device.finish


# Readings of a row in the launch that finds cut-offs, by workload of `speclab bench kernels`.
CUTOFF_READINGS = {"cut-offs": 2, "min-p": 1}
FORMATS = {"bf16": ("Bf16", 2), "f16": ("F16", 2), "f32": ("float", 4)}


def predicted_fused(device, by_name, point, method):
    name, logit_bytes = FORMATS[point["dtype"]]
    size = {"gamma": point["gamma"], "vocab": point["vocab"], "logit_bytes": logit_bytes}
    time = fused_time(device, by_name[f"fused::Statistics<{name}>"], by_name[f"fused::Next<{name}>"], point["requests"],
                      alpha=point["alpha"], **size)
    if any(launch["kernel"] == "cut-offs" for launch in method["launches"]):
        # Instructions are counted in F16 alone.
        kernel = replace(by_name[f"Cutoffs<{name}>"], an_id=by_name["Cutoffs<F16>"].an_id)
        before = cutoffs_time(device, kernel, point["requests"], readings=CUTOFF_READINGS[point["workload"]], **size)
        time += before - device.launch + device.dependent_launch
    return time


def predicted_tree(device, by_name, point, method):
    name, _ = FORMATS[point["dtype"]]
    kernel = {"tree": "Walk", "traversal": "Traverse"}[method["method"]]
    return tree_time(device, by_name[f"tree::{kernel}<{name}>"], by_name[f"fused::Statistics<{name}>"], point["requests"], point["vocab"],
                     method["launches"][0], method["bytes_read"], method["expected"], point["workload"].startswith("chosen"))


def predicted_cluster(device, by_name, point, method):
    """A chain is a tree without branches, and the launch walks down it in the same way (kernels/verify/cluster.hpp)."""
    name, _ = FORMATS[point["dtype"]]
    return tree_time(device, by_name[f"cluster::Lazy<{name}>"], by_name[f"fused::Statistics<{name}>"], point["requests"], point["vocab"],
                     method["launches"][0], method["bytes_read"], method["expected"], False,
                     lambda requests: slowest_chain(method["expected"], requests, point["gamma"], point["alpha"]))


PREDICTED = {"fused": predicted_fused, "cluster": predicted_cluster, "tree": predicted_tree, "traversal": predicted_tree}


def predictions_at(kernels, points):
    """Of every method that the model is about, on each device, at points of `speclab bench kernels --dry-run --json`."""
    by_name = {kernel.name: kernel for kernel in kernels}
    return [{"device": device.name, **{key: point[key] for key in ("workload", "requests", "gamma", "vocab", "dtype", "alpha")},
             "method": method["method"], "predicted_us": round(PREDICTED[method["method"]](device, by_name, point, method), 1),
             "bytes_us": round((method["bytes_read"] + method["bytes_written"]) / device.bandwidth_gbs / 1e3, 1)}
            for device in DEVICES for point in points for method in point["methods"] if method["method"] in PREDICTED and "left_out" not in method]
