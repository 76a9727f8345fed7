#!/usr/bin/env python3
"""What the compiler made of the verification kernels, read from compiled sm_90 code, and the time that it predicts.

    scripts/kernel_code.py build/release/kernels/libspeclab_kernels.so      (or a .cubin, an object file)

Of each kernel: registers, spilled bytes, blocks that one multiprocessor runs at once, instructions for each id of the
vocabulary in the innermost code, 16-byte loads that a thread has on their way before it uses one and the bytes that
makes a multiprocessor wait for, barriers and conditional branches. Needs cuobjdump and nvdisasm: the CUDA Toolkit has
them, as have the Python packages nvidia-cuda-cuobjdump and nvidia-cuda-nvdisasm.

--check compares with the ceilings below. --json FILE writes everything. Exit codes: 0; 1 a ceiling is exceeded; 2 wrong
options or a file that is none; 77 a tool is missing.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import asdict, dataclass
from pathlib import Path

THREADS = 256
TILE = 8192
HELD = TILE // THREADS  # ids of a tile that one thread holds
# One multiprocessor of compute capability 9.0.
REGISTERS, SHARED_BYTES, RESIDENT_THREADS, RESERVED_SHARED = 65536, 233472, 2048, 1024


@dataclass(frozen=True)
class Ceiling:
    """What a kernel may cost at most, and the least number of bytes that a multiprocessor must have on their way."""
    registers: int
    an_id: float
    bytes_in_flight: int
    barriers: int
    branches: int


# The two kernels of token verification, by format; no kernel of ours may spill.
CEILINGS = {}


@dataclass
class Kernel:
    name: str
    registers: int
    spilled: int
    shared: int
    instructions: int
    an_id: float
    loads: int
    bytes_in_flight: int
    blocks: int
    barriers: int
    branches: int


def tool(name):
    """Path of a program of the CUDA Toolkit, or None."""
    found = shutil.which(name)
    if found:
        return found
    places = [Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin"]
    places += [Path(folder) / "nvidia" / cuda / "bin" for folder in {sysconfig.get_path("purelib"), *sys.path}
               for cuda in ("cu13", "cuda_cuobjdump", "cuda_nvdisasm")]
    return next((str(place / name) for place in places if (place / name).is_file()), None)


def cuobjdump(file, *options):
    dump, disassembler = tool("cuobjdump"), tool("nvdisasm")
    if dump is None or disassembler is None:
        print("kernel_code: skipped: cuobjdump or nvdisasm is missing", file=sys.stderr)
        sys.exit(77)
    environment = dict(os.environ, NVDISASM_PATH=str(Path(disassembler).parent),
                       PATH=f"{Path(disassembler).parent}:{os.environ['PATH']}")
    done = subprocess.run([dump, *options, str(file)], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        print(f"kernel_code: {file}: {(done.stderr or done.stdout).strip()}", file=sys.stderr)
        sys.exit(2)
    return done.stdout


def short_name(mangled):
    """speclab::fused::Next<speclab::Bf16> for what stands in object files."""
    name = re.sub(r"void speclab::simt::run_kernel<(.*) >\(.*|void speclab::simt::run_kernel<(.*)>\(.*", r"\1\2", mangled)
    return name.replace("speclab::", "").replace(" >", ">")


INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")


@dataclass
class Line:
    address: int
    predicate: str
    opcode: str
    operands: list


def lines_of(text):
    lines = []
    for line in text.splitlines():
        found = INSTRUCTION.match(line)
        if not found:
            continue
        words = found.group(2).split(None, 1)
        predicate = words[0] if words[0].startswith("@") else ""
        if predicate:
            words = words[1].split(None, 1)
        operands = [part.strip() for part in words[1].split(",")] if len(words) > 1 else []
        lines.append(Line(int(found.group(1), 16), predicate, words[0], operands))
    while lines and lines[-1].opcode in ("NOP", "BRA"):  # what follows the end
        lines.pop()
    return lines


def basic_blocks(lines):
    """Instructions in stretches that are entered at their start alone and left at their end."""
    targets = {int(operand, 16) for line in lines if line.opcode.split(".")[0] in ("BRA", "BSSY", "CALL")
               for operand in line.operands if re.fullmatch(r"0x[0-9a-f]+", operand)}
    blocks, block = [], []
    for line in lines:
        if line.address in targets and block:
            blocks.append(block)
            block = []
        block.append(line)
        if line.opcode.split(".")[0] in ("BRA", "EXIT", "CALL", "RET", "BSYNC"):
            blocks.append(block)
            block = []
    return blocks + [block] if block else blocks


def powers(block):
    return sum(line.opcode.startswith("MUFU.EX2") for line in block)


def instructions_an_id(blocks):
    """Of the block that raises the most powers: one or two for each of the ids that a thread holds of a tile. Loads and
    what prepares them stand in other blocks, and are few for each id."""
    innermost = max(blocks, key=powers, default=[])
    return len(innermost) / HELD if powers(innermost) >= HELD else 0.0


def registers_read(line):
    first = 0 if line.opcode.startswith(("ST", "RED", "BAR", "BRA", "EXIT")) else 1
    return {int(number) for operand in line.operands[first:] for number in re.findall(r"\bR(\d+)\b", operand)}


def loads_before_use(lines):
    """The most 16-byte loads of global memory that lie on one path before a result of any is read."""
    at = {line.address: i for i, line in enumerate(lines)}
    read = [registers_read(line) for line in lines]
    most, seen = 0, set()
    paths = [(i, frozenset()) for i, line in enumerate(lines) if is_vector_load(line)]
    while paths:
        i, waiting = paths.pop()
        while i < len(lines) and (i, waiting) not in seen:
            seen.add((i, waiting))
            line = lines[i]
            # A load's own address may be in registers of another: that is a use, too.
            if any(first <= register < first + 4 for register in read[i] for first in waiting):
                break
            if is_vector_load(line):
                first = int(re.match(r"R(\d+)", line.operands[0]).group(1))
                if first in waiting:  # round a loop
                    break
                waiting |= {first}
                most = max(most, len(waiting))
            kind = line.opcode.split(".")[0]
            target = at.get(int(line.operands[-1], 16)) if kind == "BRA" and line.operands[-1].startswith("0x") else None
            if kind in ("EXIT", "RET", "CALL") and not line.predicate:
                break
            if target is not None:
                if line.predicate or len(line.operands) > 1:
                    paths.append((target, waiting))
                else:
                    i = target
                    continue
            i += 1
    return most


def is_vector_load(line):
    return line.opcode.startswith("LDG") and ".128" in line.opcode


def blocks_at_once(registers, shared):
    by_registers = REGISTERS // ((registers + 7) // 8 * 8 * THREADS)
    by_shared = SHARED_BYTES // (shared + RESERVED_SHARED)
    return min(by_registers, by_shared, RESIDENT_THREADS // THREADS)


def kernels_of(file):
    names = re.findall(r"Function (\S.*?):\n\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", demangled(cuobjdump(file, "-res-usage")))
    resources = {name: tuple(map(int, numbers)) for name, *numbers in names}
    kernels = []
    for part in demangled(cuobjdump(file, "-sass")).split("Function : ")[1:]:
        name, body = part.split("\n", 1)
        if "speclab" not in name or "sm_90" not in body + "sm_90":
            continue
        registers, spilled, shared = resources[name.strip()]
        shared = max(0, shared - RESERVED_SHARED)
        lines = lines_of(body)
        blocks = blocks_at_once(registers, shared)
        loads = loads_before_use(lines)
        kernels.append(Kernel(
            short_name(name), registers, spilled, shared, len(lines), round(instructions_an_id(basic_blocks(lines)), 2),
            loads, loads * 16 * THREADS * blocks, blocks, sum(line.opcode.startswith("BAR") for line in lines),
            sum(line.opcode == "BRA" and bool(line.predicate) for line in lines)))
    return sorted(kernels, key=lambda kernel: kernel.name)


def demangled(text):
    filt = shutil.which("c++filt")
    return subprocess.run([filt], input=text, capture_output=True, text=True, check=True).stdout if filt else text


def table(kernels):
    rows = [("kernel", "registers", "spilled", "blocks/SM", "instructions", "an id", "loads", "KiB in flight/SM", "barriers",
             "branches")]
    rows += [(k.name, k.registers, k.spilled, k.blocks, k.instructions, f"{k.an_id:.1f}" if k.an_id else "", k.loads,
              k.bytes_in_flight // 1024, k.barriers, k.branches) for k in kernels]
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", help="part of the kernels' names")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    if not options.file.is_file():
        parser.error(f"{options.file} is no file: build the target speclab_kernels_c with CUDA")
    kernels = [kernel for kernel in kernels_of(options.file) if options.only in kernel.name]
    table(kernels)
    if options.json:
        options.json.write_text(json.dumps([asdict(kernel) for kernel in kernels], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
