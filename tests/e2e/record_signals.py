#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Signals that come between two instructions: each is in the recording, and its frame is no instruction's store.

QEMU writes the frames of x86 with the functions that instructions use. Which instruction is interrupted is left to chance.
"""
import pathlib
import re
import shutil
import subprocess
from collections import Counter

from _record import COMPILERS, LIMIT, build, emulator, record, use_engine
from _tap import TRACESTUB, add_case, case, run_cases
from _naive_ucir2 import Ucir2

use_engine("qemu")

STACK_POINTER = {"x86_64": 44, "i386": 30, "aarch64": 4, "arm": 12, "riscv64": 3, "mips": 31, "ppc64": 3}
SIGALRM, SIGCHLD = 14, {"mips": 18}
COPIED = 1024
SMALLEST = 512    # no frame has fewer bytes


def program(target):
    emulator(target)
    path = pathlib.Path(f"storm.{target}")
    return str(path.resolve()) if path.exists() else build("storm.c", path.name, "-O1 -g -static -w", target)


def run(target, *argv):
    """The recording, how often each handler was called by the program's own count."""
    done = record(f"{target}.ucir", program(target), *argv)
    assert done.returncode == 0 and "unexplained 0" in done.stderr, done
    return Ucir2(f"{target}.ucir"), [int(n) for n in done.stdout.split()]


def signals_of(recording):
    return Counter(num for step in recording.all_steps for num, *_ in step.signals)


def is_stored_in_frame(target, step):
    for *_, inner in step.signals:
        sp = inner.regs.get(STACK_POINTER[target])
        if sp and any(sp <= addr < sp + SMALLEST for addr, _ in step.writes + step.reads):
            return True
    return False


def storm(target):
    n = {"x86_64": 100, "i386": 60}.get(target, 25)
    r, (alarms, children, *_) = run(target, "storm", str(n))
    assert signals_of(r) == {SIGALRM: alarms, SIGCHLD.get(target, 17): children}, (signals_of(r), alarms, children)
    assert alarms >= n and children
    wrong = [hex(step.pc) for step in r.all_steps if is_stored_in_frame(target, step)]
    assert not wrong, wrong


def pending(target):
    r, (_, _, others, _) = run(target, "pending")
    assert others == 160 and signals_of(r) == dict.fromkeys(range(40, 60), 8), (others, signals_of(r))


def frame_in_gdb(target):
    """What gdb shows of a frame is what the handler found there."""
    run(target, "storm", "20")
    commands = ("break frame_is_copied", "continue", "backtrace", f"dump binary memory shown.bin context (char*)context+{COPIED}",
                f"dump binary memory found.bin &copy[0] &copy[{COPIED // 4}]")
    said = subprocess.run([TRACESTUB, "gdb", f"{target}.ucir", "--", "-nx", "-batch", *(a for c in commands for a in ("-ex", c))],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)
    assert re.search(r"#1 .*on_alarm.*#2 +<signal handler called>.*main", said.stdout, re.S), said
    shown, found = (pathlib.Path(name).read_bytes() for name in ("shown.bin", "found.bin"))
    assert len(shown) == COPIED == len(found) and any(found), (shown, found)
    assert shown == found, [i for i in range(COPIED) if shown[i] != found[i]]


def rows_of(out, *words):
    shown = subprocess.run([TRACESTUB, "query", out, *words], capture_output=True, text=True, timeout=LIMIT).stdout
    return [line.split("\t") for line in shown.splitlines()[1:]]


def stops_of(out, *commands):
    argv = [TRACESTUB, "gdb", out, "--", "-batch", *(a for c in commands for a in ("-ex", c))]
    return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT).stdout


def where_a_signal_stops():
    """In what it interrupted, as a live debugger does, in both directions; its handler is the next step."""
    record("stops.ucir", build("entries.c", "stops", "-O2 -g -w"))
    ways = {"handle": ("handle all nostop noprint pass", "handle SIGALRM stop print", "continue"),
            "catch": ("handle all nostop noprint pass", "catch signal SIGALRM", "continue"),
            "reverse": ("handle all nostop noprint pass", "handle SIGALRM stop print", "goto end", "reverse-continue")}
    for way, commands in ways.items():
        shown = stops_of("stops.ucir", *commands, "backtrace", "print $_siginfo.si_signo", "stepi", "backtrace 1", "reverse-stepi",
                         "reverse-stepi", "backtrace 1")
        assert "SIGALRM" in shown, (way, shown)
        before, number, after = re.split(r"\$1 = (\d+)", shown)
        assert "other_handler" not in before and "signal handler called" not in before, (way, shown)
        assert re.search(r"#\d.* signals \(\).*\n#\d.* main", before), (way, shown)
        assert number == str(SIGALRM), (way, shown)
        assert re.search(r"#0 +other_handler", after), (way, shown)


add_case("a signal stops in what it interrupted", where_a_signal_stops)
for name in COMPILERS:
    add_case(f"signals between any two instructions: {name}", storm, name)
for name in COMPILERS:
    add_case(f"signals that wait and come together, on two stacks: {name}", pending, name)
for name in "x86_64", "i386":
    if shutil.which("gdb"):
        add_case(f"the bytes of a frame: {name}", frame_in_gdb, name)


@case
def a_handler_that_follows_the_interrupted_instruction():
    r, counts = run("x86_64", "neighbour")
    assert counts == [0, 0, 0, 1] and signals_of(r) == {SIGALRM: 1}, (counts, signals_of(r))


@case
def a_step_passes_over_the_handler_of_a_signal_that_does_not_stop():
    """As a live gdb does, which lets such a handler run to its end; here the step itself does, in both directions."""
    pathlib.Path("passed.c").write_text(
        "#include <signal.h>\n#include <unistd.h>\nvolatile int n;\nstatic void h(int s) { n += s; }\n"
        "int main(void) { signal(SIGUSR1, h); kill(getpid(), SIGUSR1); return n; }\n", encoding="ascii")
    subprocess.run(["gcc", "-O0", "-g", "-o", "passed", "passed.c"], check=True, timeout=LIMIT)
    record("passed.ucir", "./passed")
    shown = stops_of("passed.ucir", "handle SIGUSR1 nostop noprint pass", "break kill", "continue", "delete", "stepi", "x/i $pc",
                     "stepi", "print n", "x/i $pc", "reverse-stepi", "print n", "x/i $pc")

    def query(*words):
        return subprocess.run([TRACESTUB, "query", "passed.ucir", *words], capture_output=True, text=True, timeout=LIMIT).stdout.splitlines()[1:]

    first, there, back = re.findall(r"^=> (\w+) <.*>:", shown, re.M)
    assert first == back and int(there, 16) == int(first, 16) + 2, shown       # syscall has two bytes
    assert re.findall(r"^\$\d = (\d+)$", shown, re.M) == ["10", "0"], shown
    events, = (row.split("\t") for row in query("events", "syscall") if "\trt_sigreturn\t" in row)
    stack = [row.split("\t")[5] for row in query("stack", "at", events[0])]
    assert stack[:3] == ["__restore_rt", "signal", "kill"] and "main" in stack, stack


@case
def a_caught_fault_has_its_address_whichever_way_the_handler_was_set():
    """QEMU writes siginfo for SA_SIGINFO only."""
    pathlib.Path("caught.c").write_text(
        "#include <setjmp.h>\n#include <signal.h>\n#include <stdio.h>\nstatic sigjmp_buf b;\n"
        "static void h(int s) { siglongjmp(b, s); }\n"
        "static void touch(volatile char *p) { if (!sigsetjmp(b, 1)) *p = 1; }\n"
        "int main(void) { static const char c[1] = { 1 }; printf(\"%p\\n\", (void *)c); signal(SIGSEGV, h); touch((char *)0x18);\n"
        "touch((char *)c); struct sigaction a = { .sa_handler = h, .sa_flags = SA_SIGINFO }; sigaction(SIGSEGV, &a, 0);\n"
        "touch((char *)0x28); signal(SIGSEGV, h); if (!sigsetjmp(b, 1)) raise(SIGSEGV); return 0; }\n", encoding="ascii")
    subprocess.run(["gcc", "-O1", "-g", "-o", "caught", "caught.c"], check=True, timeout=LIMIT)
    constant = record("caught.ucir", "./caught").stdout.strip()
    shown = stops_of("caught.ucir", *("continue", "print $_siginfo.si_code", "print $_siginfo._sifields._sigfault.si_addr") * 3)
    values = re.findall(r"^\$\d = (?:\(.*\) )?(\w+)", shown, re.M)
    assert values == ["1", "0x18", "2", constant, "1", "0x28"], (constant, shown)


@case
def a_handler_on_a_stack_of_its_own():
    """Also where it jumps out, and behind that: the frames of gdb and of `stack`, finish both ways."""
    assert record("other.ucir", build("other_stack.c", "other", "-O2 -g")).stdout == "1125\n"
    outside = ["level2", "level1", "main"]
    first = stops_of("other.ucir", "handle SIGUSR1 nostop noprint pass", "break inner", "continue", "backtrace", "up", "finish",
                     "echo behind\n", "backtrace", "reverse-finish", "echo called\n", "backtrace")
    inside, behind, called = re.split("^(?:behind|called)$", first.split("(gdb)")[-1], flags=re.M)
    stacks = [re.findall(r"^#\d+ +(?:0x\w+ in )?(<signal handler called>|\w+)", part, re.M) for part in (inside, behind, called)]
    for names in stacks:
        assert [n for n in names if n in outside] == outside, first
    assert stacks[0][:3] == ["inner", "handler", "<signal handler called>"], first
    jumped = stops_of("other.ucir", "handle SIGUSR1 nostop noprint pass", "break inner", "break after", "continue", "continue", "continue",
                      "echo second\n", "backtrace", "reverse-finish", "echo called\n", "backtrace", "delete 1", "continue",
                      "echo after\n", "backtrace")
    _, second, called, after = re.split("^(?:second|called|after)$", jumped, flags=re.M)
    stacks = [re.findall(r"^#\d+ +(?:0x\w+ in )?(<signal handler called>|\w+)", part, re.M) for part in (second, called, after)]
    assert stacks[0][:3] == ["inner", "handler", "<signal handler called>"] and stacks[0][-3:] == outside, jumped
    assert stacks[1][:2] == ["handler", "<signal handler called>"] and stacks[1][-3:] == outside, jumped
    assert stacks[2] == ["after", "main"], jumped
    for name, count, above in (("inner", 2, ["inner", "handler", "signal"]), ("handler", 2, ["handler", "signal"]), ("after", 2, ["after"])):
        rows = rows_of("other.ucir", "executions", name)
        assert len(rows) == count, (name, rows)
        for row in rows:
            names = [r[5] for r in rows_of("other.ucir", "stack", "at", str(int(row[0]) + 1))]
            assert names[:len(above)] == above, (name, names)
            names = [n for n in names if n in outside]
            assert names == (["main"] if name == "after" else outside), (name, names)


run_cases()
