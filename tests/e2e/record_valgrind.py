#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tracestub record --with valgrind`: programs run as they do alone, and what is recorded is what the processor does.

The truth is the processor: a stepper (tests/data/record/stepper.c) writes down each instruction's address and registers.
Addresses of the stack are others in Valgrind, by the same distance everywhere.
"""
import os
import pathlib
import signal
import struct
import subprocess

from _record import LIMIT, build, build_bare, record
from _tap import TRACESTUB, case, run_cases, skip_all
from _naive_ucir2 import Ucir2

TOOL = pathlib.Path(TRACESTUB).parent / "tracestub-record-vg-amd64"
if os.uname().machine != "x86_64" or not TOOL.exists():
    skip_all("tracestub was built without Valgrind")

WITH = "--with", "valgrind"
# as the stepper writes them -> numbers in a recording
NAMES = "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 eflags".split()
NUMBERS = dict(zip(NAMES, [35, 37, 38, 40, 43, 39, 36, 44, *range(106, 114), 25]))
UNDEFINED = 0x8d5       # OF SF ZF AF PF CF: not all are defined after each instruction
STACK = 1 << 20


def unexplained(stderr):
    return int(stderr.rsplit("unexplained ", 1)[1].split()[0])


def recorded(name, *argv, **more):
    done = record(name, *argv, options=WITH, **more)
    assert "instructions in" in done.stderr, done.stderr
    return done


def truth(program):
    """(pc, registers) before each instruction."""
    stepper = build("stepper.c", "stepper", "-O1 -w")
    subprocess.run([stepper, "steps", program], stdout=subprocess.DEVNULL, timeout=LIMIT, check=True)
    for pc, *regs in struct.iter_unpack("<18Q", pathlib.Path("steps").read_bytes()):
        yield pc, dict(zip(NAMES, regs))


def is_same(name, mine, real, sp, real_sp):
    if mine == real:
        return True
    if name == "eflags":
        return (mine ^ real) & ~UNDEFINED & ~0x100 == 0
    return abs(mine - sp) < STACK and mine - sp == real - real_sp


@case
def each_instruction_leaves_the_processors_registers():
    program = build_bare("x86_64")
    recorded("truth.ucir", program)
    recording, wrong, n = Ucir2("truth.ucir"), [], 0
    sp = real_sp = None
    for (step, regs), (pc, real) in zip(recording.states(), truth(program)):
        sp, real_sp = sp or regs[44], real_sp or real["rsp"]
        assert step.pc == pc, (n, hex(step.pc), hex(pc))
        wrong += [(n, hex(pc), name, hex(regs[num]), hex(real[name])) for name, num in NUMBERS.items()
                  if not is_same(name, regs[num], real[name], sp, real_sp) and name != "r11"]
        n += 1
    assert n > 1000 and len(wrong) <= n // 1000, (n, len(wrong), wrong[:5])


@case
def every_load_finds_what_the_recording_holds():
    for argv in (["ls", "/"], ["perl", "-e", "print 1"], ["sh", "-c", "echo $(echo x)"]):
        done = recorded("known.ucir", *argv)
        assert done.returncode == 0 and unexplained(done.stderr) == 0, (argv, done.stderr)


@case
def a_register_is_written_also_with_the_value_that_it_has():
    pathlib.Path("same.c").write_text("int main(void) { int n = 0; for (int i = 0; i < 50; i++)\n"
                                      "__asm__ volatile(\"mov $10, %%r15\" ::: \"r15\"); return n; }\n")
    subprocess.run(["gcc", "-O0", "-o", "same", "same.c"], check=True)
    recorded("same.ucir", "./same")
    writes = [s for s in Ucir2("same.ucir").all_steps if s.regs.get(113) == 10]
    assert len(writes) >= 50, len(writes)


@case
def a_crash_ends_with_the_signal_its_cause_and_its_address():
    pathlib.Path("crash.c").write_text("int main(void) { return *(volatile int *)0x1234; }\n")
    subprocess.run(["gcc", "-g", "-O0", "-o", "crash", "crash.c"], check=True)
    done = recorded("crash.ucir", "./crash")
    assert done.returncode == -signal.SIGSEGV, done.returncode
    out = subprocess.run([TRACESTUB, "gdb", "crash.ucir", "--", "-nx", "-batch", "-ex", "goto end", "-ex", "bt",
                          "-ex", "print $_siginfo._sifields._sigfault.si_addr"], capture_output=True, text=True,
                         timeout=LIMIT, stdin=subprocess.DEVNULL).stdout
    assert "main () at crash.c:1" in out and "0x1234" in out, out


@case
def the_program_has_the_environment_that_its_user_gave():
    env = {"PATH": os.environ["PATH"], "ONE": "1", "TWO": "a b"}
    alone = subprocess.run(["env"], env=env, capture_output=True, text=True).stdout
    assert recorded("env.ucir", "env", env=env).stdout == alone
    status = recorded("status.ucir", "sh", "-c", "exit 9").returncode
    assert status == 9, status


@case
def a_full_ring_gives_the_same_recording():
    program = build_bare("x86_64")
    recorded("large.ucir", program)
    recorded("small.ucir", program, env={**os.environ, "TRACESTUB_RING": "1"})
    steps = [[(s.pc, s.len) for s in Ucir2(name).all_steps] for name in ("large.ucir", "small.ucir")]
    assert steps[0] == steps[1]


run_cases()
