#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tracestub record --module`: only instructions of some modules are recorded, and what others changed is not lost.

The truth is a recording of the whole program: at each instruction of the module the registers and all of the memory are those of
this one.  What two recordings of the whole program have otherwise (random numbers, process ids) may differ.
"""
import functools
import json
import re
import subprocess
from collections import defaultdict

from _naive_ucir2 import Ucir2, update
from _record import LIMIT, SOURCES, compiler, record
from _tap import TRACESTUB, case, run_cases, skip

PAGE = 4096
WORD = 16


@functools.cache
def build():
    """The program, and its library beside it."""
    options = ["-O1", "-g", "-w", "-fno-stack-protector", "-pthread", str(SOURCES / "apart.c")]
    subprocess.run([compiler(), "-DLIBRARY", "-shared", "-fPIC", "-o", "libapart.so", *options], check=True, timeout=LIMIT)
    subprocess.run([compiler(), "-o", "apart", *options, "./libapart.so"], check=True, timeout=LIMIT)


def apart(out, *arguments, options=("--module", "libapart*")):
    build()
    done = record(out, "./apart", *arguments, options=("--with", "valgrind", *options))
    if "built without Valgrind" in done.stderr:
        skip("tracestub was built without Valgrind")
    return done


@functools.cache
def only_module():
    """The library's instructions: module.ucir, which several cases read."""
    return apart("module.ucir")


def n_told(done, what):
    return int(re.search(rf"(\d+) instructions {what}", done.stderr)[1])


class Memory:
    """What was never written is zero."""
    def __init__(self):
        self.pages = defaultdict(lambda: bytearray(PAGE))
        self.touched = set()

    def write(self, addr, data):
        while data:
            page, at = divmod(addr, PAGE)
            part = data[:PAGE - at]
            self.pages[page][at:at + len(part)] = part
            self.touched.add(page)
            addr, data = addr + len(part), data[len(part):]

    def apply(self, group):
        for kind, *where in group.maps:
            if kind == "unmap":
                self.write(where[0], bytes(where[1]))
        for addr, what in group.writes:
            self.write(addr, what if isinstance(what, bytes) else bytes(what))

    def read(self, addr, n):
        return b"".join(bytes(self.pages[a // PAGE][a % PAGE:a % PAGE + 1]) for a in range(addr, addr + n))


def maps_of(recording, name):
    """Where code of a file is mapped: at once, or as a part of the file that was mapped whole before."""
    found, whole = [], []
    for kind, *m in (m for g in recording.order for m in g.maps):
        if kind == "map" and m[5].endswith(name):
            whole.append((m[0], m[0] + m[1]))
        if kind == "map" and whole[-1:] == [(m[0], m[0] + m[1])] and m[2] & 4 or \
                kind == "prot" and m[2] & 4 and any(a <= m[0] < b for a, b in whole):
            found.append((m[0], m[0] + m[1]))
    assert found, name
    return found


def moments(recording, ranges):
    """(step, registers, memory) before each instruction there; both change."""
    regs, memory = defaultdict(dict), Memory()
    for group in recording.order:
        thread = group.thread
        if group.len and any(a <= group.pc < b for a, b in ranges):
            yield group, regs[thread], memory
        if group.regs:
            update(regs[thread], group.regs)
        if group.writes or group.maps:
            memory.apply(group)


def compare_registers(step, mine, *wholes):
    if mine == wholes[0]:
        return
    for number in {n for regs in wholes for n in regs}:
        found, *real = mine.get(number), *(regs.get(number) for regs in wholes)
        assert found == real[0] or real[0] != real[1], (hex(step.pc), number, found, real)


def compare_memory(step, mine, *wholes):
    touched = mine.touched.union(*(m.touched for m in wholes))
    for page in touched:
        a, b, c = (m.pages[page] for m in (mine, *wholes))
        if a == b:
            continue
        for at in range(0, PAGE, WORD):
            words = [p[at:at + WORD] for p in (a, b, c)]
            assert words[0] == words[1] or words[1] != words[2], (hex(step.pc), hex(page * PAGE + at), words)
    for m in (mine, *wholes):
        m.touched.clear()


@case
def each_instruction_of_the_module_has_the_state_of_a_whole_recording():
    apart("first.ucir", options=())
    apart("second.ucir", options=())
    done = only_module()
    part, first, second = (Ucir2(f"{name}.ucir") for name in ("module", "first", "second"))
    ranges = maps_of(first, "libapart.so")
    assert all(any(a <= s.pc < b for a, b in ranges) for s in part.all_steps), "an instruction of another module is recorded"
    n = 0
    for all_of in zip(moments(part, ranges), moments(first, ranges), moments(second, ranges), strict=True):
        steps, regs, memories = zip(*all_of)
        assert len({s.pc for s in steps}) == 1, [hex(s.pc) for s in steps]
        compare_registers(steps[0], *regs)
        compare_memory(steps[0], *memories)
        n += 1
    assert n == len(part.all_steps) == n_told(done, "in") > 5000, n
    assert n + n_told(done, "of other modules") == len(first.all_steps)


def printed(done):
    """(what, address, sum) of each line."""
    return [(what, int(addr, 16), int(value)) for what, addr, value in (line.split() for line in done.stdout.splitlines())]


@case
def what_other_threads_changed_is_there():
    done = apart("part.ucir", "threads")
    part = Ucir2("part.ucir")
    [look] = [int(line.split()[0], 16) for line in subprocess.check_output(["nm", "libapart.so"], text=True).splitlines()
              if line.endswith(" look")]
    base = min(m[1] for g in part.order for m in g.maps if m[0] == "map" and m[6].endswith("libapart.so"))
    sums = []
    for step, regs, memory in moments(part, maps_of(part, "libapart.so")):
        if step.pc != base + look:
            continue
        value = 0
        for byte in memory.read(regs[39], regs[43]):
            value = (value * 31 + byte) % 2 ** 32
        sums.append((regs[39], value))
    assert sorted(sums[:-1]) == sorted((addr, value) for _, addr, value in printed(done)) and len(sums) > 15, (sums, done.stdout)
    assert len({s.thread for s in part.all_steps}) == 3


def ask(trace, *words):
    done = subprocess.run([TRACESTUB, "query", trace, *words, "--json", "--quiet"], capture_output=True, text=True, timeout=LIMIT)
    return [row for row in map(json.loads, done.stdout.splitlines()) if "position" in row]


@case
def questions_know_of_gaps():
    """System calls and signals of code that is not recorded are told, and an entry after a gap is no jump."""
    apart("part.ucir")
    gaps = ask("part.ucir", "events", "gap")
    assert gaps and all(re.fullmatch(r"\d+ instructions? not recorded", e["text"]) for e in gaps), gaps[:3]
    calls = ask("part.ucir", "events", "syscall")
    assert sum(c["name"] == "write" for c in calls) >= 9 and any(c["name"] == "madvise" for c in calls), calls
    [signal] = ask("part.ucir", "events", "signal")
    assert "SIGUSR1" in str(signal), signal
    kinds = {r["kind"] for r in ask("part.ucir", "calls", "look")}
    assert kinds == {"gap"}, kinds
    assert {r["kind"] for r in ask("part.ucir", "calls", "compare")} == {"gap"}
    for function in "qsort", "malloc", "free":
        assert {r["kind"] for r in ask("part.ucir", "calls", function)} == {"return"}, function
    assert {r["kind"] for r in ask("part.ucir", "calls", "apart_handle")} == {"handler"}


def batch(trace, *commands):
    words = [w for c in commands for w in ("-ex", c)]
    return subprocess.run([TRACESTUB, "gdb", trace, "--", "-batch", *words], capture_output=True, text=True, timeout=LIMIT).stdout


@case
def gdb_knows_callers_that_are_not_recorded():
    apart("part.ucir")
    said = batch("part.ucir", "break look", "continue", "print n", "backtrace", "delete 1", "handle SIGUSR1 nostop", "watch apart_seen", "continue")
    assert "$1 = 512" in said and re.search("(?s)#0 .*look.*#1 .*fill.*#2 .*main", said), said
    assert "Old value = 0" in said and "New value = 10" in said, said


@case
def a_crash_elsewhere_is_the_end():
    done = apart("part.ucir", "a", "crash")
    assert done.returncode == -11, done
    said = batch("part.ucir", "goto end", "backtrace")
    assert "strlen" in said and "main" in said, said
    [event] = [e for e in ask("part.ucir", "events", "signal") + ask("part.ucir", "events", "fault") if "SIGSEGV" in str(e)]
    assert event["text"] == "SIGSEGV at 0x0", event


@case
def patterns_are_of_file_names_and_paths():
    for pattern in ("libapart.so", "*/libapart.so", "./libapart.so", "lib[a]part*"):
        assert n_told(apart("part.ucir", options=("--module", pattern)), "in") > 5000, pattern
    both = apart("part.ucir", options=("--module", "libapart.so", "--module", "apart"))
    assert n_told(both, "in") > n_told(only_module(), "in")
    none = apart("none.ucir", options=("--module", "libapart"))
    assert "nothing is recorded: no instruction of a module libapart was executed" in none.stderr, none
    wrong = apart("none.ucir", options=("--module", "x", "--with", "qemu"))
    assert wrong.returncode == 1 and "--module" in wrong.stderr, wrong


@case
def the_end_of_a_run_may_be_of_a_module():
    """--last cuts between gaps: position 0 has the state, which later instructions rely on."""
    done = apart("last.ucir", options=("--module", "libapart*", "--last", "60K"))
    last, whole = Ucir2("last.ucir"), Ucir2(only_module() and "module.ucir")
    ranges, kept = maps_of(last, "libapart.so"), len(last.all_steps)
    assert kept < len(whole.all_steps) and "before are not in the recording" in done.stderr, done.stderr
    mine, real = (list((s.pc, dict(r)) for s, r, _ in moments(x, ranges)) for x in (last, whole))
    assert [pc for pc, _ in mine] == [pc for pc, _ in real[-kept:]]
    assert all(a[44] == b[44] and a[39] == b[39] for (_, a), (_, b) in zip(mine, real[-kept:]))


run_cases()
