#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that were recorded here by `tracestub record`, in gdb: forwards and backwards, on several processors.

story.c has C's ways to go: calls 10,000 deep, longjmp, a signal, threads, a big heap. What is expected is in its source; the
story of `total` must be the same on each processor, forwards, and backwards in reverse. throw.cc has exceptions.
"""
import os
import re
import shutil
import subprocess

from _gdb import Gdb
from _record import SOURCES, build, record
from _tap import add_case, run_cases, skip

STATIC = "-O0 -g -static -no-pie -pthread -w"
KINDS = {
    "x86_64, position-independent": ("x86_64", "-O0 -g -fPIE -pie -pthread -w"),
    "x86_64, static": ("x86_64", STATIC),
    "i386": ("i386", STATIC),
    "aarch64": ("aarch64", STATIC),
    "arm": ("arm", STATIC),
    "riscv64": ("riscv64", STATIC),
    "ppc64": ("ppc64", STATIC),
    "mips": ("mips", STATIC),
}
# total as main makes it: 1, the 5 from the bottom, 6 squared, 7 after the jump, the signal, two threads, 0 + 1 + 2
STORY = [(0, 1, "main"), (1, 6, "main"), (6, 42, "main"), (42, 49, "main"), (49, 1049, "handler"), (1049, 1149, "worker"),
         (1149, 1349, "worker"), (1349, 1350, "main"), (1350, 1352, "main")]
OUTPUT = "total 1352\n"


def line(text, source="story.c"):
    lines = (SOURCES / source).read_text().splitlines()
    found = [n for n, one in enumerate(lines, 1) if text in one]
    assert len(found) == 1, (text, found)
    return found[0]


class Recorded:
    """A program and its recording, for Gdb(): made once."""

    made = {}

    def __init__(self, trace, program, target):
        self.trace, self.exec, self.target = trace, program, target

    @classmethod
    def of(cls, kind):
        if kind not in cls.made:
            target, options = KINDS[kind]
            name = f"story-{re.sub('[^a-z0-9_]', '', kind)}"
            try:
                program = build("story.c", name, options, target)
            except subprocess.CalledProcessError:
                skip(f"no C library for {target}")
            trace = os.path.abspath(f"{name}.ucir")
            done = record(trace, program)
            assert done.stdout == OUTPUT, done
            cls.made[kind] = cls(trace, program, target)
        return cls.made[kind]

    def gdb(self):
        name = "gdb" if self.target in ("x86_64", "i386") else "gdb-multiarch"
        return shutil.which(name) or skip(f"no {name}")

    @staticmethod
    def copy_sources(folder):
        for name in "story.c", "throw.cc":
            shutil.copyfile(SOURCES / name, folder / name)
            os.utime(folder / name, (0, 0))     # older than the program


def session(kind):
    made = Recorded.of(kind)
    # Without it gdb 18 keeps the list of libraries that it had before reverse-continue; gdbinit does the same
    return Gdb(made, "--exec", made.exec, argv=[made.gdb(), "-nx", "-nh", "-q", "-iex", "maintenance ignore-probes rtld", made.exec])


def go(g, where):
    g(f"monitor goto {where}")
    g("maintenance flush register-cache")


def position(g):
    g("monitor when")
    return int(g.expect(r"position (\d+)")[1])


def to_end(g):
    """Read to the end, and be there."""
    g("monitor wait")
    go(g, "end")


def at_line(g, text):
    g("frame")
    g.expect(rf"story\.c:{line(text)}$|story\.c:{line(text)}\b")


# -------------------------------------------------------------------------------------------------- the suite

def the_story_is_the_same(kind):
    """Each change of total with who made it, by a watchpoint, both ways."""
    with session(kind) as g:
        g("break main")
        g("continue")
        g("handle SIGUSR1 nostop noprint pass")
        g("watch total")
        told = []
        for _ in STORY:
            g("continue")
            old, new = g.expect(r"Old value = (\d+)\nNew value = (\d+)").groups()
            g("backtrace 2")
            told.append((int(old), int(new), g.expect(r"#1 .*?(\w+) \(")[1]))
        assert told == STORY, told
        to_end(g)
        told = []
        for _ in STORY:
            g("reverse-continue")
            new, old = g.expect(r"Old value = (\d+)\nNew value = (\d+)").groups()
            g("backtrace 2")
            told.insert(0, (int(old), int(new), g.expect(r"#1 .*?(\w+) \(")[1]))
        assert told == STORY, told


def next_and_step_go_into_and_over_calls_both_ways(kind):
    with session(kind) as g:
        g(f"break {line('a deep one')}")
        g("continue")
        first = position(g)
        g("next")                       # over 10,000 calls
        at_line(g, "malloc")
        assert g.value("total") == 6
        # not back over all of it: gdb stops at each of the 10,000 beginnings of deep
        go(g, first)
        g("step")
        g.expect(r"deep \(n=10000\)")
        g("reverse-step")
        at_line(g, "a deep one")
        assert (position(g), g.value("total")) == (first, 1)
        g("stepi")
        g("reverse-stepi")
        assert position(g) == first


def finish_and_reverse_finish_at_the_bottom(kind):
    with session(kind) as g:
        g("break deep if n == 0")
        g("continue")
        g.expect(r"deep \(n=0\)")
        bottom = position(g)
        if kind.startswith("x86_64"):   # gdb takes 20 s for 10,000 frames of a processor with a link register
            g("backtrace -1")
            g.expect(r"^#10001 .*main \(\)")
        g("finish")
        g.expect(r"deep \(n=1\)[^$]*Value returned is \$\d+ = 5")
        assert position(g) > bottom
        g("reverse-continue")
        g.expect(r"deep \(n=0\)")
        assert position(g) == bottom
        g("reverse-finish")
        g.expect(r"deep \(n=1\)")
        assert position(g) < bottom
        g("delete")
        g(f"tbreak {line('malloc')}")
        g("continue")
        at_line(g, "malloc")


def until_and_advance_leave_a_loop(kind):
    with session(kind) as g:
        g(f"break {line('in a loop')}")
        g("handle SIGUSR1 nostop noprint pass")
        g("continue")
        assert g.value("i") == 0
        g("delete")
        g("next")
        g("until")
        for _ in range(6):
            if "the end" in g("frame"):
                break
            g("until")
        at_line(g, "the end")
        assert g.value("total") == 1352
        g("reverse-next")
        g("reverse-next")
        go(g, 0)
        g(f"advance {line('a call in a line')}")
        g("next")
        g("next")
        assert g.value("total") == 42
        g("reverse-next")
        assert g.value("total") == 6
        go(g, 0)
        g(f"advance {line('a call in a line')}")
        g("step")
        g.expect(r"square \(n=6\)")
        g("finish")
        g.expect(r"Value returned is \$\d+ = 36")
        g("reverse-step")
        g.expect("square")


def a_jump_and_a_signal_and_a_thread_are_seen(kind):
    with session(kind) as g:
        g(f"break {line('jumped')}")
        g("break jump if n == 0")
        g("continue")
        g.expect(r"jump \(n=0\)")
        g("continue")
        at_line(g, "jumped")
        g("reverse-continue")
        g.expect(r"jump \(n=0\)")
        g("delete")
        g("continue")
        g.expect("received signal SIGUSR1")
        g("break handler")
        g("stepi")
        g("backtrace")
        # QEMU 7.2's trampoline for ppc64 lacks the instruction, and its frame for arm the mark, by which gdb knows Linux's
        if kind != "ppc64":
            g.expect(r"#1 +<signal handler called>")
        if kind not in ("ppc64", "arm"):
            g.expect(r"in main \(\)|main \(\) at")
        g("delete")
        g("break worker")
        g("continue")
        g.expect(r"worker \(by=")
        g("info threads")
        g.expect(r"^\* \d+ +Thread .*worker")
        g.expect(r"^  \d+ +Thread ")
        assert g.value("*(int *) by") == 100
        g("continue")
        assert g.value("*(int *) by") == 200


def the_exit_is_told_with_its_status(kind):
    with session(kind) as g:
        g("handle SIGUSR1 nostop noprint pass")
        g("continue")
        g.expect(f"^exit: the process has ended, status {1352 & 0x3f}$")
        g("reverse-stepi")
        g.expect_not("exited")
        assert position(g) > 0


def exceptions_are_caught_and_undone():
    program = os.path.abspath("throw")
    subprocess.run([shutil.which("g++") or skip("no g++"), "-O0", "-g", "-o", program, str(SOURCES / "throw.cc")], check=True)
    trace = os.path.abspath("throw.ucir")
    assert record(trace, program).stdout == "caught 411\n"     # four guards and the length of the text
    with Gdb(Recorded(trace, program, "x86_64"), "--exec", program) as g:
        g("break main")
        g("continue")
        g("catch throw")
        g("continue")
        g.expect(r"Catchpoint 2 .exception thrown.")
        g("backtrace")
        g.expect(r"in thrower \(n=0\) at")
        g.expect(r"in thrower \(n=3\) at")
        g.expect(r"in main \(\) at")
        g("delete 2")
        g(f"break {line('caught here', 'throw.cc')}")
        g("continue")
        assert g.value("caught") == 400
        g("delete")
        g("watch caught")
        for value in (300, 200, 100, 0):
            g("reverse-continue")
            g.expect(f"New value = {value}")
        g("backtrace")
        g.expect(r"~guard")
        g.expect(r"in main \(\) at")


add_case("x86_64: exceptions are caught, and undone", exceptions_are_caught_and_undone)
EVERYWHERE = the_story_is_the_same, a_jump_and_a_signal_and_a_thread_are_seen
# gdb takes a while over 10,000 frames: not on every processor
MORE = (next_and_step_go_into_and_over_calls_both_ways, finish_and_reverse_finish_at_the_bottom, until_and_advance_leave_a_loop,
        the_exit_is_told_with_its_status)
for kind in KINDS:
    for check in EVERYWHERE + (MORE if kind in ("x86_64, position-independent", "riscv64") else ()):
        add_case(f"{kind}: {check.__name__.replace('_', ' ')}", check, kind)
run_cases()
