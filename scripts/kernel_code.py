#!/usr/bin/env python3
"""Reads the compiled sm_90 code of the verification kernels.

    scripts/kernel_code.py build/cuda/kernels/libspeclab_kernels.so      (or a .cubin, an object file)

For each kernel it prints registers, bytes of stack (which includes spilled registers), blocks that one multiprocessor runs at once,
instructions per id in the innermost code, 16-byte loads that a thread has in flight before it uses one, the bytes that a multiprocessor
then has in flight, barriers and conditional branches.

--check compares speclab's kernels with the ceilings below. Needs cuobjdump and nvdisasm: the CUDA Toolkit has them, and so have the Python
packages nvidia-cuda-cuobjdump and nvidia-cuda-nvdisasm, which scripts/test.sh installs.
Exit codes: 0; 1 a ceiling is exceeded; 2 wrong options or no such file; 77 a tool is missing, or the file has no sm_90 code.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

THREADS = 256
HELD = 8192 // THREADS  # ids of a tile that one thread holds
# One multiprocessor of compute capability 9.0.
REGISTERS, SHARED_BYTES, RESIDENT_THREADS, RESERVED_SHARED = 65536, 233472, 2048, 1024


@dataclass(frozen=True)
class Ceiling:
    """Upper bounds for a kernel, and the smallest number of KiB that a multiprocessor must have in flight. None: not checked."""
    registers: int
    an_id: float | None  # instructions
    in_flight: int | None
    barriers: int
    branches: int
    stack: int = 0  # bytes, for spilled registers or for indexed arrays
    fences: int = 0  # exact number: one less is a race, one more costs time; a barrier of a cluster has one
    copies: int = 0  # minimum, of 16 bytes each into shared memory


# The cut-offs' instructions per id are those of the largest logit, the sum and the count of near logits. Only in F16 is each of them in one
# basic block. Kernels of rows whose format is known only at run time (AnyLogit) have too many paths to count their bytes in flight. A
# multiprocessor needs 29 KiB in flight for the bandwidth of the memory; kernels that read few rows have less. Clusters copy the tiles of a
# row to shared memory, two of each row at a time: 64 KiB per block for 2-byte formats, however many registers there are.
CEILINGS = {
    "fused::Statistics<Bf16>": Ceiling(64, 7.5, 128, 2, 115),
    "fused::Statistics<F16>": Ceiling(64, 7.5, 128, 2, 115),
    "fused::Statistics<float>": Ceiling(128, 7.5, 128, 2, 155),
    "fused::Statistics<AnyLogit>": Ceiling(128, 7.5, None, 2, 260),
    "fused::Next<Bf16>": Ceiling(64, 18.5, 32, 13, 500, fences=2),
    "fused::Next<F16>": Ceiling(64, 18.5, 32, 13, 500, fences=2),
    "fused::Next<float>": Ceiling(64, 21, 32, 13, 500, fences=2),
    "fused::Next<AnyLogit>": Ceiling(80, 21.5, None, 13, 680, fences=2),
    "fused::NextOfBlock<Bf16>": Ceiling(80, 18.5, 24, 16, 600, fences=2),
    "fused::NextOfBlock<F16>": Ceiling(80, 18.5, 24, 16, 600, fences=2),
    "fused::NextOfBlock<float>": Ceiling(80, 21, 24, 16, 670, fences=2),
    "fused::NextOfBlock<AnyLogit>": Ceiling(80, 21.5, None, 16, 780, fences=2),
    "Cutoffs<Bf16>": Ceiling(128, None, 32, 14, 480, fences=8),
    "Cutoffs<F16>": Ceiling(128, 14.5, 64, 14, 480, fences=8),
    "Cutoffs<float>": Ceiling(128, None, 64, 14, 620, fences=8),
    "Cutoffs<AnyLogit>": Ceiling(232, 17, None, 14, 1050, fences=8),
    "cluster::Lazy<Bf16>": Ceiling(128, 19, None, 18, 760, fences=9, copies=12),
    "cluster::Lazy<F16>": Ceiling(128, 19, None, 18, 760, fences=9, copies=12),
    "cluster::Lazy<float>": Ceiling(128, 21, None, 18, 760, fences=9, copies=24),
    "tree::Walk<Bf16>": Ceiling(128, 19, None, 16, 680, fences=6, copies=12),
    "tree::Walk<F16>": Ceiling(128, 19, None, 16, 680, fences=6, copies=12),
    "tree::Walk<float>": Ceiling(128, 21, None, 16, 700, fences=6, copies=24),
    "tree::Walk<AnyLogit>": Ceiling(168, 19, None, 16, 800, fences=5),
    "tree::Traverse<Bf16>": Ceiling(128, 19, None, 15, 690, fences=3, copies=12),
    "tree::Traverse<F16>": Ceiling(128, 19, None, 15, 690, fences=3, copies=12),
    "tree::Traverse<float>": Ceiling(128, 21, None, 15, 710, fences=3, copies=24),
    "tree::Traverse<AnyLogit>": Ceiling(168, 19, None, 15, 830, fences=3),
}


# In these kernels only `merge` sums products, so that a contracted sum is a fault; other kernels contract some on purpose.
MERGES_ALONE = {name for name in CEILINGS if "Statistics" in name or "Cutoffs" in name}


@dataclass
class Kernel:
    name: str
    registers: int
    stack: int
    instructions: int
    an_id: float
    loads: int
    copies: int
    bytes_in_flight: int
    blocks: int
    barriers: int
    branches: int
    fences: int
    contracted: int


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
    if "does not contain device code" in done.stderr + done.stdout:
        return ""
    if done.returncode != 0:
        print(f"kernel_code: {file}: {(done.stderr or done.stdout).strip()}", file=sys.stderr)
        sys.exit(2)
    return done.stdout


def short_name(mangled):
    """A short name, such as Next<Bf16>, for a name in object files, such as speclab::fused::Next<speclab::Bf16>."""
    name = re.sub(r"void speclab::simt::run_kernel<(.*) >\(.*|void speclab::simt::run_kernel<(.*)>\(.*", r"\1\2", mangled)
    return name.replace("speclab::", "").replace(" >", ">")


# Powers in a step of 16 bytes: two for each of four floats, or of eight ids of 2 bytes.
WEIGHED_IN_A_STEP = (8, 16)
INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")


@dataclass
class Line:
    address: int
    predicate: str
    opcode: str
    operands: list

    @cached_property
    def registers_read(self):
        first = 0 if self.opcode.startswith(("ST", "RED", "BAR", "BRA", "EXIT")) else 1
        return {int(number) for operand in self.operands[first:] for number in re.findall(r"\bR(\d+)\b", operand)}


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
    while lines and lines[-1].opcode in ("NOP", "BRA"):  # padding after the end
        lines.pop()
    return lines


def basic_blocks(lines):
    """Sequences of instructions that are entered only at their start and left only at their end."""
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
    """Instructions per id, in the block that raises the most powers. If a row is summed, that block raises one power for each id of a
    tile that a thread holds, and the block that takes maxima counts as well. If a residual is weighed step by step, it raises two powers
    for each id of a step. Loads and their preparation are in other blocks, and are few per id."""
    innermost = max(blocks, key=powers, default=[])
    raised = powers(innermost)
    if raised in WEIGHED_IN_A_STEP:
        return len(innermost) / (raised / 2)
    if raised < HELD - 2:
        return 0.0
    maxima = max(blocks, key=lambda block: sum(line.opcode.startswith("FMNMX") for line in block))
    return (len(innermost) + (0 if maxima is innermost else len(maxima))) / HELD


def contracted(block):
    """The number of sums of products with a power of two, sum + weight * 2^x, whose product is not rounded. Two threads that merge the
    same two sums in opposite order then differ in the last bit, and blocks of a cluster could wait for one another forever.
    --fmad=false prevents this (`merge` in kernels/verify/tile.hpp)."""
    raised, count = set(), 0
    for line in block:
        written = re.match(r"R(\d+)", line.operands[0]) if line.operands else None
        factors = {int(number) for operand in line.operands[1:3] for number in re.findall(r"\bR(\d+)\b", operand)}
        count += line.opcode.startswith("FFMA") and bool(factors & raised)
        if written:
            number = int(written.group(1))
            keeps = line.opcode.startswith("MUFU.EX2") or (line.opcode.startswith("FMUL") and number in factors & raised)
            raised = raised | {number} if keeps else raised - {number}
    return count


def loads_before_use(lines):
    """The largest number of 16-byte loads from global memory on one path before the result of any of them is read."""
    at = {line.address: i for i, line in enumerate(lines)}
    most, seen = 0, set()
    paths = [(i, frozenset()) for i, line in enumerate(lines) if is_vector_load(line)]
    while paths:
        i, waiting = paths.pop()
        while i < len(lines) and (i, waiting) not in seen:
            seen.add((i, waiting))
            line = lines[i]
            # The address of a load may be in registers that another load writes: this is a use, too.
            if waiting and any(first <= register < first + 4 for register in line.registers_read for first in waiting):
                break
            if is_vector_load(line):
                first = int(re.match(r"R(\d+)", line.operands[0]).group(1))
                if first in waiting and not is_alternative(lines[i - 1], line):  # one iteration of a loop
                    break
                waiting |= {first}
                most = max(most, len(waiting))
            kind = line.opcode.split(".")[0]
            target = at.get(int(line.operands[-1], 16)) if kind == "BRA" and line.operands[-1].startswith("0x") else None
            if kind in ("EXIT", "RET", "CALL") and not line.predicate:
                break
            if target is not None:
                if line.predicate or len(line.operands) > 1:
                    # A jump over a single load only leaves it out, and there are too many of these paths.
                    if not (0 < target - i <= 6 and any(map(is_vector_load, lines[i:target]))):
                        paths.append((target, waiting))
                else:
                    i = target
                    continue
            i += 1
    return most


def is_alternative(before, line):
    """Whether two loads into the same registers exclude each other, as those of aligned and of shifted rows do."""
    return is_vector_load(before) and before.operands[0] == line.operands[0] and before.predicate.replace("!", "") == line.predicate.replace("!", "") != ""


def is_vector_load(line):
    return line.opcode.startswith("LDG.") and ".128" in line.opcode


def blocks_at_once(registers, shared):
    by_registers = REGISTERS // ((registers + 7) // 8 * 8 * THREADS)
    by_shared = SHARED_BYTES // (shared + RESERVED_SHARED)
    return min(by_registers, by_shared, RESIDENT_THREADS // THREADS)


def kernels_of(file):
    names = re.findall(r"Function (\S+):\n\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", cuobjdump(file, "-res-usage", "-arch", "sm_90"))
    resources = {name: tuple(map(int, numbers)) for name, *numbers in names}
    readable = dict(zip(resources, demangled("\n".join(resources)).splitlines()))
    kernels = []
    for part in cuobjdump(file, "-sass", "-arch", "sm_90").split("Function : ")[1:]:
        symbol, body = part.split("\n", 1)
        registers, stack, shared = resources[symbol.strip()]
        name = readable[symbol.strip()]
        if "speclab" not in name:
            continue
        shared = max(0, shared - RESERVED_SHARED)
        lines = lines_of(body)
        blocks = blocks_at_once(registers, shared)
        # Kernels of rows whose format is known only at run time have too many paths to follow.
        loads = 0 if "AnyLogit" in name else loads_before_use(lines)
        kernels.append(Kernel(
            short_name(name), registers, stack, len(lines), round(instructions_an_id(basic_blocks(lines)), 2),
            loads, sum(line.opcode.startswith("LDGSTS") and ".128" in line.opcode for line in lines), loads * 16 * THREADS * blocks, blocks,
            sum(line.opcode.startswith("BAR") for line in lines),
            sum(line.opcode == "BRA" and bool(line.predicate) for line in lines),
            sum(line.opcode.startswith("MEMBAR") for line in lines), sum(map(contracted, basic_blocks(lines)))))
    return sorted(kernels, key=lambda kernel: kernel.name)


def demangled(text):
    filt = shutil.which("c++filt")
    return subprocess.run([filt], input=text, capture_output=True, text=True, check=True).stdout if filt else text


def print_table(rows):
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))).rstrip())


def print_kernels(kernels):
    rows = [("kernel", "registers", "stack", "blocks/SM", "instructions", "an id", "loads", "KiB in flight/SM", "barriers",
             "branches")]
    rows += [(k.name, k.registers, k.stack, k.blocks, k.instructions, f"{k.an_id:.1f}" if k.an_id else "", k.loads,
              k.bytes_in_flight // 1024, k.barriers, k.branches) for k in kernels]
    print_table(rows)


def exceeded(kernels):
    """Sentences about kernels above their ceilings, and about missing kernels."""
    by_name = {kernel.name: kernel for kernel in kernels}
    found = [f"{name}: not in the file" for name in CEILINGS if name not in by_name]
    for name, most in CEILINGS.items():
        kernel = by_name.get(name)
        if kernel is None:
            continue
        for what, value, allowed in (("registers", kernel.registers, most.registers), ("bytes of stack", kernel.stack, most.stack),
                                     ("instructions an id", kernel.an_id, most.an_id), ("barriers", kernel.barriers, most.barriers),
                                     ("branches", kernel.branches, most.branches)):
            if allowed is not None and value > allowed:
                found.append(f"{name}: {value} {what}, at most {allowed} are allowed")
        if kernel.fences != most.fences:
            found.append(f"{name}: {kernel.fences} fences, {most.fences} are meant")
        if kernel.contracted and name in MERGES_ALONE:
            found.append(f"{name}: {kernel.contracted} products are contracted with their sums: --fmad=false is missing")
        if kernel.an_id == 0 and most.an_id is not None:
            found.append(f"{name}: its innermost code was not found, so that it cannot be counted")
        if kernel.copies < most.copies:
            found.append(f"{name}: {kernel.copies} copies to shared memory, {most.copies} are needed")
        if most.in_flight is not None and kernel.bytes_in_flight < most.in_flight * 1024:
            found.append(f"{name}: {kernel.bytes_in_flight // 1024} KiB in flight, {most.in_flight} are needed")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", help="part of the kernels' names")
    parser.add_argument("--check", action="store_true", help="compare with the ceilings")
    options = parser.parse_args()
    if not options.file.is_file():
        parser.error(f"{options.file} is no file")
    kernels = kernels_of(options.file)
    if not kernels:
        print(f"kernel_code: skipped: {options.file} has no GPU code (built without nvcc)", file=sys.stderr)
        return 77
    print_kernels([kernel for kernel in kernels if options.only in kernel.name])
    faults = exceeded(kernels) if options.check else []
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
