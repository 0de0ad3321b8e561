#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""BAP frames of real recorders against the registers that the same emulator's own debugger stub showed.

The oracle has the registers before each instruction, changed ones a line. Its single step passes over the instruction behind a
system call or cpuid, so that lines are aligned by pc; positions without a line are not compared. What is unknown in the trace is
unknown here: only known values are compared, and the share of unknown ones is printed.

Of memory the oracle says nothing: its bytes are worked out from the frames by a reader that shares nothing with the loader.
"""
import gzip
import json
import pathlib
import random
import tempfile

from _frames import Memory, read_frames
from _states import ask, run, states
from _tap import DATA, add_case, case, run_cases

N_QUESTIONS = 20000
SAMPLES = DATA / "bap-samples"
# What the alignment may pass over, nearest first.
SKIPS = sorted(((i, j) for i in range(400) for j in range(400)), key=sum)


def trace(name):
    path = pathlib.Path(tempfile.mkdtemp()) / "trace.frames"
    path.write_bytes(gzip.decompress((SAMPLES / f"{name}.frames.gz").read_bytes()))
    return path


def oracle(name, pc_name, order):
    regs = {}
    with gzip.open(SAMPLES / f"{name}.oracle.gz", "rt") as file:
        for line in file:
            entry = json.loads(line)
            if "regs" in entry:
                regs.update(entry["regs"])
                yield int.from_bytes(bytes.fromhex(regs[pc_name]), order), dict(regs)


def aligned(ours, theirs):
    """Pairs of the same moment.  Where pcs differ, either side goes on to the nearest place where three pcs are equal."""
    a = b = 0
    while a < len(ours) and b < len(theirs):
        if ours[a][0] == theirs[b][0]:
            yield a, ours[a][1], theirs[b][1]
            a, b = a + 1, b + 1
            continue
        for i, j in SKIPS:
            if [x[0] for x in ours[a + i:a + i + 3]] == [x[0] for x in theirs[b + j:b + j + 3]]:
                break
        else:
            return
        a, b = a + i, b + j


# The trace and the oracle are two runs, whose process ids differ.  They may do so in each sample's registers, as one pair of
# numbers each; in nothing else.
def compare(name, pc_name, order, n_least, with_id, n_good=None):
    ours = list(states(trace(name)))
    n = n_known = n_unknown = 0
    wrong = {}
    for at, mine, truth in aligned(ours[:n_good], list(oracle(name, pc_name, order))):
        n += 1
        for reg, value in truth.items():
            if reg == pc_name:
                continue
            if reg not in mine:
                n_unknown += 1
                continue
            n_known += 1
            if mine[reg] != value:
                wrong.setdefault(reg, []).append((at, mine[reg], value))
    print(f"# {name}: {len(ours) - 1} positions, {n} compared, {n_known} values known, {n_unknown} unknown"
          f" ({100 * n_unknown / (n_known + n_unknown):.1f} %), process ids: { {k: len(v) for k, v in wrong.items()} }")
    for reg, places in wrong.items():
        print(f"#   {reg}: " + ", ".join(f"{at}: {a} for {b}" for at, a, b in places[:8]))
    assert n >= n_least, f"only {n} positions could be aligned"
    for reg, places in wrong.items():
        assert reg in with_id and len({(a, b) for _, a, b in places}) == 1, f"{reg} differs {len(places)} times"


def compare_memory(name):
    path = trace(name)
    memory, rng = Memory(read_frames(path.read_bytes())), random.Random(name)
    touched = sorted(memory.events)
    questions = [(rng.randrange(memory.n_steps + 1), max(0, rng.choice(touched) - rng.randrange(4)), rng.randrange(1, 9))
                 for _ in range(N_QUESTIONS)]
    n_known = n_unknown = n_doubtful = 0
    for (pos, addr, size), found in zip(questions, ask(path, questions), strict=True):
        for i in range(size):
            if addr + i in memory.doubtful:
                n_doubtful += 1
                continue
            byte = found[2 * i:2 * i + 2]
            assert byte == memory.text(pos, addr + i, 1), (pos, hex(addr + i), byte, memory.text(pos, addr + i, 1))
            n_known, n_unknown = n_known + (byte != ".."), n_unknown + (byte == "..")
    print(f"# {name}: {n_known} bytes known, {n_unknown} unknown, {n_doubtful} of instructions that contradict themselves")
    assert n_known > 100 * n_doubtful


add_case("x86-64 operands agree with the stub", compare, "tw-x86_64", "rip", "little", 7300, ["rax"])
add_case("ARM operands agree with the stub", compare, "tw-arm", "pc", "little", 6200, ["r0"])
add_case("PowerPC operands agree with the stub", compare, "tw-ppc", "pc", "big", 3000, ["r3", "r9"], 3136)
add_case("i386 snapshots agree with the stub", compare, "plug-i386", "eip", "little", 12000, ["eax", "edx"])
for sample in "tw-x86_64", "tw-arm", "tw-ppc", "plug-i386":
    add_case(f"{sample}: memory is what the frames show", compare_memory, sample)


@case
def an_unfinished_trace_is_served_to_its_last_whole_frame():
    out = run("info", trace("tw-x86_64-unfinished"))
    assert out.startswith("475 steps"), out
    assert "0x11fdd: frame 475: its length is 167 bytes, but 27 bytes are left" in out, out


run_cases()
