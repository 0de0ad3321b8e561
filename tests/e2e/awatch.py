#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""awatch: everyone who touches "total", as the source has them: 5 writes of add_all; bump reads and writes; rt_main
reads, writes, reads."""
from _gdb import Gdb
from _tap import case, run_cases

ACCESSES = ["add_all"] * 5 + ["bump"] * 2 + ["rt_main"] * 3


def visit(g, command):
    """Positions and functions of all stops in a direction."""
    found = []
    while "history" not in g(command):
        g.expect("Hardware access .*watchpoint 1: total")
        g.expect("alue = ")
        position = g.position()
        g("frame function")
        g("info symbol $pc")
        found.append((position, g.text.split()[0]))
    return found


@case
def awatch_finds_each_access_in_both_directions():
    with Gdb("x64_walk") as g:
        g("awatch total")
        forwards = visit(g, "continue")
        assert [f for _, f in forwards] == ACCESSES, forwards
        backwards = visit(g, "reverse-continue")
        assert backwards == [(k - 1, f) for k, f in reversed(forwards)], (forwards, backwards)


run_cases()
