#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stack of real programs, at random positions, against gdb's unwinder; names of C++ in questions.

gdb reads the stack's memory by the unwind information of the program and of the C library, `stack` the calls that were
recorded: they know nothing of each other. Left out is the frame that a signal
interrupted, which gdb shows below the handler: a handler is no call; and what gdb shows of tail calls by debug information.
With a link register, calls that longjmp left stay open (src/calls/README): that program does without.
"""
import ast
import functools
import os
import pathlib
import random
import re
import shutil
import subprocess

from _ask import Asker
from _gdb import Gdb
from _record import LIMIT, SOURCES, emulator, record
from _tap import TRACESTUB, add_case, case, run_cases, skip

N_POSITIONS = 80
CALL_LEN = 7        # bytes of a call instruction, at most
INSTALLS = "uw_install_context", "uw_install_context_1"      # changes what is saved in the frames that gdb looks at
SWITCHES = "__longjmp", "swapcontext", "__swapcontext", "setcontext", "__start_context"
OUTERMOST = "_start", "generate", "clone3", "__clone3", "clone", "__clone", "start_thread"
WALK = """
import gdb
def walk(positions):
    for k in positions:
        gdb.execute("monitor announce goto %d" % k, to_string=True)
        gdb.execute("stepi", to_string=True)
        f, out = gdb.newest_frame(), []
        while f is not None:
            out.append((f.pc(), f.type(), f.name(), f.unwind_stop_reason()))
            f = f.older()
        print("at", k, [(pc, name) for pc, name in called(out)])

def called(frames):
    is_interrupted = False
    for pc, kind, name, _ in frames:
        if kind == gdb.SIGTRAMP_FRAME:
            is_interrupted = True
        elif kind in (gdb.TAILCALL_FRAME, gdb.INLINE_FRAME):
            pass
        elif is_interrupted:
            is_interrupted = False
        elif name is None:      # what made a coroutine's stack called nothing on it
            break
        else:
            yield pc, name
"""


asker = functools.cache(Asker)      # a process for each recording


def query(trace, *words):
    return asker(trace).rows(" ".join(words))


@functools.cache
def make(source, options, compiler="gcc", target="x86_64", *arguments):
    """(program, trace)"""
    emulator(target)
    program = os.path.abspath(f"{source.split('.')[0]}.{target}{options.count('-O2')}")
    shutil.which(compiler) or skip(f"no {compiler}")
    subprocess.run([compiler, *options.split(), "-w", "-g", "-o", program, SOURCES / source], check=True, timeout=LIMIT)
    trace = f"{program}.ucir"
    done = record(trace, program, *arguments)
    assert done.returncode == 0 and "unexplained 0" in done.stderr, done
    return program, trace


class Traced:
    """What class Gdb needs to know of a recording."""
    def __init__(self, program, trace):
        self.exec, self.trace = program, trace

    @staticmethod
    def gdb():
        return shutil.which("gdb-multiarch") or skip("no gdb-multiarch")

    @staticmethod
    def copy_sources(folder):
        pass


def gdbs_frames(program, trace, positions):
    """position -> [(pc, function), ...], innermost first: the frames that have a call."""
    pathlib.Path("walk.py").write_text(WALK)
    with Gdb(Traced(program, trace)) as g:
        g("set backtrace past-main on")
        g("set backtrace past-entry on")
        g(f"source {os.path.abspath('walk.py')}")
        text = g(f"python walk({positions})")
    return {int(k): ast.literal_eval(frames) for k, frames in re.findall(r"^at (\d+) (.*)$", text, re.M)}


def is_same(rows, frames):
    """Where gdb returns to is shortly after the call. A signal and what it interrupted are two rows, and none of these frames."""
    signals = {k for k, r in enumerate(rows) if r["function"] == "signal"}
    pcs = [int(r["pc"], 16) for k, r in enumerate(rows) if k not in signals and k - 1 not in signals]
    return len(pcs) == len(frames) and pcs[0] == frames[0][0] and \
        all(0 < pc - call <= CALL_LEN for call, (pc, _) in zip(pcs[1:], frames[1:]))


def is_right(frames):
    """Does gdb find the way out of what switches stacks by hand, and of code without unwind information?"""
    return frames and frames[0][1] not in SWITCHES and frames[-1][1] in OUTERMOST and \
        not any(name in INSTALLS for _, name in frames)


def stacks_are_gdbs(*args):
    program, trace = make(*args)
    n = query(trace, "when")[0]["positions"]
    begin = query(trace, "executions", "main", "first", "1")[0]["position"]
    positions = sorted(random.Random(13).sample(range(begin, n), N_POSITIONS))
    frames = gdbs_frames(program, trace, positions)
    assert list(frames) == positions
    right = [k for k in positions if is_right(frames[k])]
    print(f"# {len(right)} of {N_POSITIONS} positions, {len({len(f) for f in frames.values()})} depths")
    assert len(right) > 0.8 * N_POSITIONS, [f for k, f in frames.items() if k not in right]
    for k in right:
        rows = query(trace, "stack", "at", str(k))
        assert is_same(rows, frames[k]), (k, [(r["pc"], r["function"]) for r in rows], [(hex(pc), f) for pc, f in frames[k]])


@case
def names_of_cplus_are_those_of_the_source():
    """ns::fn is two functions, which are called once each in 5 + 7 turns; once calls fn(int) once more."""
    _, trace = make("shapes.cc", "-O0 -static -pthread", "g++")
    rows = query(trace, "calls", "ns::fn")
    assert {r["callee"] for r in rows} == {"ns::fn"} and len({r["address"] for r in rows}) == 2
    assert sorted(r["caller"] for r in rows) == ["ns::once"] + 24 * ["work"], rows
    ints = query(trace, "calls", "_ZN2ns2fnEi")
    assert len(ints) == 13 and ints == [r for r in rows if r["address"] == ints[0]["address"]]
    assert [int(r["result"], 16) - int(r["arguments"][0], 16) for r in ints] == 13 * [1]
    adds = query(trace, "calls", "ns::add<*>")
    assert [sum(r["callee"] == f"ns::add<{t}>" for r in adds) for t in ("int", "double")] == [5, 5], adds
    [once] = query(trace, "executions", "ns::once")
    assert query(trace, "last-exec", "ns::once")[0]["position"] == once["position"]
    stack = [r["function"] for r in query(trace, "stack", "at", f"{once['position']}")]
    assert stack[:3] == ["ns::once", "catcher", "main"], stack
    thrown = query(trace, "calls", "thrower")
    assert [r["kind"] for r in thrown] == 4 * ["unwound"], thrown
    done = subprocess.run([TRACESTUB, "query", "--quiet", trace, "executions", "ns::fn"], capture_output=True, text=True)
    assert done.returncode == 2 and "'ns::fn' is more than one thing: ns::fn(int) (0x" in done.stderr, done


for args in (("frames.c", "-O0 -static"), ("shapes.cc", "-O0 -static -pthread", "g++"),
             ("frames.c", "-O1 -static", "aarch64-linux-gnu-gcc", "aarch64", "no-longjmp")):
    add_case("stack is gdb's backtrace: " + " ".join(args), stacks_are_gdbs, *args)

run_cases()
