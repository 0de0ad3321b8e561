#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Valgrind's tool for AArch64: what it records of a program is what QEMU's plugin does, instruction by instruction.

On another machine the tool itself runs in qemu-aarch64; configure --with-valgrind-arm64 builds it.
"""
import pathlib
import re
import signal
import subprocess

from _naive_ucir2 import Ucir2
from _record import LIMIT, build, build_bare, emulator, record
from _tap import TRACESTUB, case, run_cases, skip_all

if not (pathlib.Path(TRACESTUB).parent / "tracestub-record-vg-arm64").exists():
    skip_all("tracestub was built without Valgrind's tool for AArch64 programs")

SP, CPSR, FPSR = 4, 265, 292
QC = 1 << 27        # the one bit of fpsr that Valgrind has: no exceptions of floating point


def both(program, *arguments):
    emulator("aarch64")
    for engine in "valgrind", "qemu":
        done = record(f"{engine}.ucir", program, *arguments, options=("--with", engine))
        assert "unexplained 0" in done.stderr, (engine, done)
        yield done, Ucir2(f"{engine}.ucir")


def touched(accesses):
    """One access of 16 bytes is two of 8 in the other engine."""
    return {addr + i: (what[i] if isinstance(what, bytes) else None)
            for addr, what in accesses for i in range(len(what) if isinstance(what, bytes) else what)}


def stores(step):
    """Without the zeros of a stack that grows."""
    return [(addr, what) for addr, what in step.writes if isinstance(what, bytes)]


def moved(bytes_by_address, apart):
    """The stack is at another place, and so are addresses in it."""
    return {addr - apart if addr > 1 << 32 else addr for addr in bytes_by_address}


def stores_exclusive(program):
    """Addresses of stxr and its like, which read nothing; QEMU makes a compare-and-swap of them."""
    text = subprocess.run(["aarch64-linux-gnu-objdump", "-d", program], capture_output=True, text=True, check=True, timeout=LIMIT).stdout
    return {int(address, 16) for address in re.findall(r"^ *([0-9a-f]+):\t[0-9a-f]+ \tstl?x", text, re.M)}


def differences(mine, other, exclusive):
    """Flags are compared from the first instruction on that sets them: QEMU begins with Z."""
    apart, has_flags, n = None, False, 0
    for (step, regs), (step2, regs2) in zip(mine.states(), other.states()):
        assert step.pc == step2.pc, (n, hex(step.pc), hex(step2.pc))
        apart = regs[SP] - regs2[SP] if apart is None else apart
        has_flags |= regs[CPSR] == regs2[CPSR]
        for num, value in regs2.items():
            mask = QC if num == FPSR else -1
            if num == CPSR and not has_flags:
                continue
            same = regs[num] == value if isinstance(value, bytes) else (regs[num] ^ value) & mask == 0 or regs[num] - value == apart
            if not same:
                yield n, hex(step.pc), num, regs[num], value
        if step.pc in exclusive:
            assert not step.reads, (n, hex(step.pc), step.reads)
            step2.reads.clear()
        for a, b in (step.reads, step2.reads), (stores(step), stores(step2)):
            if moved(touched(a), apart) != moved(touched(b), 0):
                yield n, hex(step.pc), a, b
        in_place = {addr: byte for addr, byte in touched(stores(step)).items() if addr < 1 << 32}
        if in_place != {addr: byte for addr, byte in touched(stores(step2)).items() if addr < 1 << 32}:
            yield n, hex(step.pc), step.writes, step2.writes
        n += 1
    assert n == len(mine.all_steps) == len(other.all_steps) and has_flags, (n, len(mine.all_steps), len(other.all_steps))


@case
def each_instruction_leaves_what_the_emulator_leaves():
    """Integers, flags, exclusive and atomic accesses, vectors, structure loads, saturation, half precision."""
    for options, source in (("-O0 -DWITHOUT_ZVA", "truth.c"), ("-O2 -DWITHOUT_ZVA", "truth.c"), ("-O1 -DWITH_ATOMICS", "odd_arm64.c")):
        program = build_bare("aarch64", options, source)
        (done, mine), (done2, other) = both(program)
        wrong = list(differences(mine, other, stores_exclusive(program)))
        assert len(mine.all_steps) > 2500 and not wrong, (source, len(wrong), wrong[:5])
        assert done.returncode == done2.returncode and mine.end == other.end and mine.arch == "arm64", (done, done2, mine.end)
        assert mine.notes[6][0].startswith(b"Valgrind "), mine.notes


@case
def threads_and_signals_come_to_their_end():
    program = build("subject.c", "subject", "-O1 -g -pthread -w -static", "aarch64")
    for words in ["signals"], ["threads", "2"]:
        (done, mine), (done2, other) = both(program, *words)
        assert done.stdout == done2.stdout and done.returncode == done2.returncode and mine.end == other.end, (words, done, done2)
        assert len(mine.thread_ends) == len(other.thread_ends), words


@case
def a_crash_has_its_address():
    pathlib.Path("crash.c").write_text("int main(void) { return *(volatile int *)0x1234; }\n")
    subprocess.run(["aarch64-linux-gnu-gcc", "-static", "-g", "-O0", "-o", "crash", "crash.c"], check=True, timeout=LIMIT)
    done = record("crash.ucir", "./crash", options=("--with", "valgrind"))
    assert done.returncode == -signal.SIGSEGV and Ucir2("crash.ucir").end == ("signal", signal.SIGSEGV), done
    out = subprocess.run([TRACESTUB, "query", "crash.ucir", "events", "signal"], capture_output=True, text=True, timeout=LIMIT).stdout
    assert "0x1234" in out, out


@case
def an_instruction_that_valgrind_does_not_know_is_said():
    """One of SVE: rdvl x0, #1. None of these versions has it: 3.19, 3.24, 3.27."""
    pathlib.Path("wide.c").write_text("int main(void) { __asm__ volatile(\".inst 0x04bf5020\"); return 0; }\n")
    subprocess.run(["aarch64-linux-gnu-gcc", "-static", "-o", "wide", "wide.c"], check=True, timeout=LIMIT)
    done = record("wide.ucir", "./wide", options=("--with", "valgrind"))
    assert done.returncode == -signal.SIGILL, done
    assert "Valgrind does not know an instruction of the program: 0x04BF5020" in done.stderr, done


run_cases()
