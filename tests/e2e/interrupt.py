#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""^C ends a long run, in both directions, and the session goes on from where it was."""
import time

from _gdb import Gdb
from _sentences import END_OF_HISTORY
from _tap import case, run_cases

# Never true, and long to compute: many reads of memory for each of 200,000 hits.
SLOW = " + ".join(["*(long *) $rsp"] * 100) + " == 1"


def n_resumed(g):
    """How often gdb has told the server to run."""
    return sum(len(g.packets(packet)) for packet in ("vCont;", "bc", "bs"))


def interrupted(g, command):
    """gdb comes back long before the command would have ended by itself."""
    before, end = n_resumed(g), time.monotonic() + 60
    g.start(command)
    while n_resumed(g) == before:
        assert time.monotonic() < end, f"{command} does not run\n{g}"
        time.sleep(0.01)
    g.interrupt()
    g.finish(60)


@case
def a_condition_that_is_never_true():
    with Gdb("x64_lib", log=True) as g:
        counts = {}
        for pc in g.recording.pcs():
            counts[pc] = counts.get(pc, 0) + 1
        for pc in sorted(counts, key=counts.get)[-40:]:
            g(f"break *{pc:#x} if {SLOW}")
        interrupted(g, "continue")
        g.expect("Program received signal SIGINT")
        assert any(";X" in p for p in g.packets("Z0")), "gdb evaluates the condition itself"
        where = g.position()
        interrupted(g, "reverse-continue")
        g.expect(f"Program received signal SIGINT|{END_OF_HISTORY}")
        back = g.position()
        assert back <= where, (where, back)
        g("delete")
        g("stepi")
        assert g.position() == back + 1, (where, back, g)
        g("reverse-stepi")
        assert g.position() == back


@case
def single_steps_of_gdb():
    with Gdb("x64_lib", log=True) as g:
        g("continue")
        g("set can-use-hw-watchpoints 0")
        g("watch counter if counter == 123456")
        interrupted(g, "reverse-continue")
        g.expect("SIGINT")
        where = g.position()
        g("delete")
        g("reverse-stepi")
        assert g.position() == where - 1


run_cases()
