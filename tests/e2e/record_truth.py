#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every register before every instruction of a recorded program is that of QEMU's own log, on each processor."""
import os
import re
import subprocess

from _record import COMPILERS, LIMIT, build, build_bare, emulator, record, use_engine
from _tap import add_case, case, run_cases
from _naive_ucir2 import Ucir2

use_engine("qemu")

ENV = {"PATH": os.environ["PATH"], "QEMU_RAND_SEED": "7"}


GENERAL64 = dict(zip("RAX RBP RBX RCX RDI RDX RSI RSP R8 R9 R10 R11 R12 R13 R14 R15 RFL MXCSR FCW".split(),
                     [35, 36, 37, 38, 39, 40, 43, 44, *range(106, 114), 25, 249, 246]))
GENERAL32 = dict(zip("EAX EBP EBX ECX EDI EDX ESI ESP EFL MXCSR FCW".split(), [19, 20, 21, 22, 23, 24, 29, 30, 25, 249, 246]))
MIPS_NAMES = ("at v0 v1 a0 a1 a2 a3 t0 t1 t2 t3 t4 t5 t6 t7 s0 s1 s2 s3 s4 s5 s6 s7 t8 t9 k0 k1 gp sp s8 ra").split()


def x86_line(general):
    def parse(line):
        yield from ((general[n], int(v, 16)) for n, v in re.findall(r"(\w+) *=([0-9a-f]+)", line) if n in general)
        if m := re.match(r"FCW=.* FSW=(\w+)", line):
            yield "fsw", int(m[1], 16)
        yield from ((f"fpr{n}", int(high + low, 16)) for n, low, high in re.findall(r"FPR(\d)=(\w{16}) (\w{4})", line))
        if m := re.match(r"YMM(\d\d)=(\w+) (\w+) (\w+) (\w+)", line):
            yield 122 + int(m[1]), int(m[4] + m[5], 16)
            yield 154 + int(m[1]), int(m[2] + m[3] + m[4] + m[5], 16)
        if m := re.match(r"[RE]IP=(\w+)", line):
            yield "pc", int(m[1], 16)
        for n, segment in enumerate(("FS", "GS")):
            if (m := re.match(rf"{segment} =\w+ (\w{{16}}) ", line)):
                yield 250 + n, int(m[1], 16)
    return parse


def aarch64_line(line):
    for n, v in re.findall(r"X(\d\d)=(\w+)", line):
        yield (199 + int(n) if int(n) < 29 else 1 + int(n) - 29), int(v, 16)
    for name, num in ("SP", 4), ("PSTATE", 265), ("FPCR", 291), ("FPSR", 292), ("PC", "pc"):
        if m := re.search(rf"\b{name}=(\w+)", line):
            yield num, int(m[1], 16)
    if m := re.match(r"Q(\d\d)=(\w+):(\w+) Q(\d\d)=(\w+):(\w+)", line):
        yield 228 + int(m[1]), int(m[2] + m[3], 16)
        yield 228 + int(m[4]), int(m[5] + m[6], 16)


def arm_line(line):
    numbers = [*range(66, 79), 12, 10, "pc"]
    yield from ((numbers[int(n)], int(v, 16)) for n, v in re.findall(r"R(\d\d)=(\w+)", line))
    if m := re.match(r"PSR=(\w+)", line):
        yield 3, int(m[1], 16)
    yield from ((14 + int(n), int(v, 16)) for n, v in re.findall(r" d(\d\d)=(\w+)", line))


def riscv_line(line):
    if m := re.match(r" pc +(\w+)", line):
        yield "pc", int(m[1], 16)
    yield from ((1 + int(n), int(v, 16)) for n, v in re.findall(r" x(\d+)/\w+ +([0-9a-f]{16})", line) if n != "0")
    yield from ((158 + int(n), int(v, 16)) for n, v in re.findall(r" f(\d+)/\w+ +([0-9a-f]{16})", line))


def mips_line(line):
    if m := re.match(r"pc=0x(\w+) HI=0x(\w+) LO=0x(\w+)", line):
        yield from (("pc", int(m[1], 16)), (129, int(m[2], 16)), (130, int(m[3], 16)))
    if line.startswith("GPR"):
        yield from ((3 + MIPS_NAMES.index(n), int(v, 16)) for n, v in re.findall(r" (\w\w) (\w{8})", line) if n in MIPS_NAMES)
    if m := re.match(r" ?f(\d+): w:\w+ d:(\w+)", line):
        yield 57 + int(m[1]), int(m[2], 16)
    if m := re.search(r"FCR31 0x(\w+)", line):
        yield 141, int(m[1], 16)


def ppc_line(line):
    if m := re.match(r"NIP (\w+) +LR (\w+) CTR (\w+) XER (\w+)", line):
        yield from (("pc", int(m[1], 16)), (74, int(m[2], 16)), (76, int(m[3], 16)), (75, int(m[4], 16)))
    if m := re.match(r"(GPR|FPR)(\d\d) (.*)", line):
        first = (2 if m[1] == "GPR" else 42) + int(m[2])
        yield from ((first + i, int(v, 16)) for i, v in enumerate(m[3].split()))
    if m := re.match(r"CR (\w+) ", line):
        yield 79, int(m[1], 16)
    if m := re.match(r"FPSCR (\w+)", line):
        yield 78, int(m[1], 16)


# QEMU's name -> parser of a line of its log, the beginning of a state
LOGS = {
    "x86_64": (x86_line(GENERAL64), "RAX="),
    "i386": (x86_line(GENERAL32), "EAX="),
    "aarch64": (aarch64_line, " PC="),
    "arm": (arm_line, "R00="),
    "riscv64": (riscv_line, " pc "),
    "mips": (mips_line, "pc=0x"),
    "ppc64": (ppc_line, "NIP "),
}


def log_states(target, argv, options):
    """(registers, those that this line of states changed) before each instruction."""
    parse, begin = LOGS[target]
    os.path.exists("log") or os.mkfifo("log")
    qemu = subprocess.Popen([emulator(target), *options, "-singlestep", "-d", "cpu,fpu,nochain", "-D", "log", "-0", argv[0], *argv],
                            env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    state, changed, last, n = {"process": qemu.pid}, set(), [], 0
    with open("log", encoding="latin-1") as log:
        for line in log:
            if line.startswith(begin):
                if n:
                    yield state, changed
                changed, last, n = set(), last[:n] if n > len(last) else last, 0
            if n < len(last) and last[n] == line:
                n += 1
                continue
            last[n:n + 1] = [line]
            n += 1
            for num, value in parse(line):
                if state.get(num) != value:
                    state[num] = value
                    changed.add(num)
    yield state, changed
    qemu.wait(LIMIT)


def as_number(value):
    return int.from_bytes(value, "little") if isinstance(value, bytes) else value


def shown(target, state):
    """x87 registers by their place in the processor, as the log has them."""
    top = state.get("fsw", 0) >> 11 & 7
    return {31: state["fsw"], **{114 + i: state[f"fpr{(i + top) & 7}"] for i in range(8)}} if "fpr7" in state else {}


def compare(target, regs, state, keys, n, pids):
    """Registers @keys of the recording are those of the log, which shows x87 by places, and another process id.  Returns how many."""
    x87 = shown(target, state)
    found = 0
    for k in keys:
        truth = x87.get(k, state.get(k))
        if truth is not None:
            assert k in regs, (n, k, "is not recorded")
            value = as_number(regs[k])
            assert value == truth or (value, truth) == pids, (n, k, hex(value), hex(truth))
            found += 1
    return found


def check(target, argv, model=None):
    out = f"truth.{target}.ucir"
    done = record(out, *argv, env=ENV, options=["--cpu", model] if model else (), stdin=subprocess.DEVNULL)
    assert "unexplained 0" in done.stderr, done
    recording = Ucir2(out)
    model = "max,sve=off,sme=off" if target == "aarch64" else model
    before, n, total = {}, 0, 0
    for (step, regs), (state, changed) in zip(recording.states(), log_states(target, argv, ["-cpu", model] if model else [])):
        assert step.pc == state["pc"], (n, hex(step.pc), hex(state["pc"]))
        keys = {k for k in changed if isinstance(k, int)} | {k for k, v in regs.items() if before.get(k) is not v}
        if any(isinstance(k, str) and k != "pc" for k in changed):
            keys |= set(range(114, 122)) | {31}
        total += compare(target, regs, state, keys, n, (step.thread >> 32, state["process"]))
        before = dict(regs)
        n += 1
    assert n == len(recording.all_steps) and n > 1000, (n, len(recording.all_steps))
    return n, total


def truth_of(target):
    emulator(target)
    n, total = check(target, [build_bare(target)])
    print(f"# {target}: {n} instructions, {total} changes of registers")


for name in COMPILERS:
    add_case(f"each register of {name} is that of the log", truth_of, name)

@case
def each_register_of_avx2_is_that_of_the_log():
    """Of the default model, and of one that has no AVX."""
    emulator()
    check("x86_64", [build_bare("x86_64")], "qemu64")
    n, total = check("x86_64", [build_bare("x86_64", "-mavx2")])
    print(f"# avx2: {n} instructions, {total} changes of registers")


@case
def signals_change_registers_as_the_log_says():
    """With a library, and a handler that returns: what sigreturn gives back, too."""
    emulator()
    n, total = check("x86_64", [build("subject.c", "subject", "-O1 -static -no-pie -pthread -w"), "handler"])
    print(f"# signals: {n} instructions, {total} changes of registers")


run_cases()
