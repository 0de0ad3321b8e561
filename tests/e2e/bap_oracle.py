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

from _bap_oracle import aligned, oracle
from _frames import Known, Memory, read_frames, read_memory, read_registers, read_std
from _states import ask, run, states
from _tap import DATA, add_case, case, run_cases

N_QUESTIONS = 20000
SAMPLES = DATA / "bap-samples"


def trace(name):
    path = pathlib.Path(tempfile.mkdtemp()) / "trace.frames"
    path.write_bytes(gzip.decompress((SAMPLES / f"{name}.frames.gz").read_bytes()))
    return path


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
    n_known = n_unknown = n_doubtful = n_lost = 0
    for (pos, addr, size), found in zip(questions, ask(path, questions), strict=True):
        for i in range(size):
            if addr + i in memory.doubtful:
                n_doubtful += 1
                continue
            byte = found[2 * i:2 * i + 2]
            if byte == ".." and name == "tw-x86_64" and memory.text(pos, addr + i, 1) != "..":
                n_lost += 1     # vector instructions store there: the frame has no operands, its bytes tell
                continue
            assert byte == memory.text(pos, addr + i, 1), (pos, hex(addr + i), byte, memory.text(pos, addr + i, 1))
            n_known, n_unknown = n_known + (byte != ".."), n_unknown + (byte == "..")
    print(f"# {name}: {n_known} bytes known, {n_unknown} unknown, {n_doubtful} of instructions that contradict themselves, "
          f"{n_lost} stored without a word")
    assert n_known > 100 * n_doubtful and n_known > 20 * n_lost


# Where a recorder's register is in gdb's: register, lowest bit, bits; None: all of it.  What is not named is called the same.
CPSR = {name: ("cpsr", bit, size) for name, bit, size in
        (("NF", 31, 1), ("ZF", 30, 1), ("CF", 29, 1), ("VF", 28, 1), ("QF", 27, 1), ("GE", 16, 4))}
EFLAGS = {name: ("eflags", bit, 1) for name, bit in
          (("CF", 0), ("PF", 2), ("AF", 4), ("ZF", 6), ("SF", 7), ("DF", 10), ("OF", 11))}
CR = {f"crf{i}": ("cr", 28 - 4 * i, 4) for i in range(8)} | {"so": ("xer", 31, 1), "ov": ("xer", 30, 1), "ca": ("xer", 29, 1),
                                                            "ov32": ("xer", 19, 1), "ca32": ("xer", 18, 1)}
# of which four bytes are recorded
PARTS = {"FS_BASE"}
# the plugin's program counter and flags are those of the block's start; the rest is not gdb's
STALE = {"eip", "eflags", "fs_base", "gs_base", "k_gs_base", "cr0", "cr2", "cr3", "cr4", "cr8", "efer"}


def own_value(regs, places, order, name):
    """The state's number for a recorder's register, None if that is unknown."""
    reg, bit, size = places.get(name, (name.lower(), 0, None))
    if reg not in regs:
        return None
    n = int.from_bytes(bytes.fromhex(regs[reg]), order)
    return n >> bit & (1 << size) - 1 if size else n


def compare_before(name, order, places, ignored):
    """Each value that a frame shows before its instruction is the state at its position, but for what the recorder got wrong:
    a value that contradicts what the instruction just before it left, or ARM's carry if it is the result."""
    path = trace(name)
    content = path.read_bytes()
    written, n, n_parts, n_changed, doubted = {}, 0, 0, 0, []
    last, mem_questions, mem_values, mem_written = {}, [], [], {}
    for k, (std, (_, regs)) in enumerate(zip(read_std(content), states(path))):
        after = dict(read_registers(std.get(5, b"")))
        first = {}
        for reg, value in read_registers(std[4]):
            first.setdefault(reg, int.from_bytes(value, "little"))
        for reg, value in first.items():
            if reg in ignored:
                continue
            n += 1
            n_changed += last.get(reg, value) != value
            last[reg] = value
            found = own_value(regs, places, order, reg)
            if found is None:   # part of a register of which other parts are unknown
                assert reg in places or reg in PARTS, (k, reg)
                n_parts += 1
            elif found != value:
                is_result = reg in after and int.from_bytes(after[reg], "little") == value
                assert reg in written or (reg == "CF" and name == "tw-arm" and is_result), (k, reg, found, value)
                doubted.append((k, reg))
        written = after
        last.update((reg, int.from_bytes(value, "little")) for reg, value in after.items())
        seen = {}
        for addr, value in read_memory(std[4]):
            for i, byte in enumerate(value):
                seen.setdefault(addr + i, byte)
        mem_questions += ((k, addr, 1) for addr in seen)
        mem_values += (f"{byte:02x}" for byte in seen.values())
    found = ask(path, mem_questions)
    wrong = [(q, f, v) for q, f, v in zip(mem_questions, found, mem_values, strict=True) if f != v]
    print(f"# {name}: {n} values of registers, {n_parts} of half-known ones, {n_changed} changed by nobody, "
          f"{len(found)} bytes of memory; "
          f"not believed: {doubted[:6]}, {len(doubted)} in all")
    assert not wrong, wrong[:8]
    assert n > 5000 and len(found) > 3000 and len(doubted) * 500 < n, (n, len(found), len(doubted))


def compare_flags(name, order, places, n_least):
    """A flag register is known where each of its bits is, worked out bit by bit from the frames."""
    path = trace(name)
    ours, bits = list(states(path)), Known()
    for k, std in enumerate(read_std(path.read_bytes())):
        first = {}
        for reg, value in read_registers(std[4]):
            first.setdefault(reg, int.from_bytes(value, "little"))
        for reg, value in first.items():
            bits.see(k, reg, value)
        for reg, value in read_registers(std.get(5, b"")):
            bits.write(k + 1, reg, int.from_bytes(value, "little"))
    n = 0
    for pos, (_, regs) in enumerate(ours):
        truth = {reg: bits.at(pos, reg) for reg in places}
        if None in truth.values():
            continue
        n += 1
        for reg, value in truth.items():
            assert own_value(regs, places, order, reg) == value, (pos, reg, value)
    print(f"# {name}: the flags are known at {n} of {len(ours)} positions")
    assert n >= n_least, n


add_case("PowerPC: cr is known where its bits are", compare_flags, "tw-ppc", "big",
         {reg: place for reg, place in CR.items() if place[0] == "cr"}, 7185)
add_case("x86-64: what a frame shows is there before it", compare_before, "tw-x86_64", "little", EFLAGS, set())
add_case("ARM: what a frame shows is there before it", compare_before, "tw-arm", "little", CPSR, {"PC"})
add_case("PowerPC: what a frame shows is there before it", compare_before, "tw-ppc", "big", CR, {"PVR"})
add_case("i386 snapshots: what a frame shows is there before it", compare_before, "plug-i386", "little", {}, STALE)
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
