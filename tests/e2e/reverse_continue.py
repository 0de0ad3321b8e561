#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""reverse-continue to a breakpoint: the same hits backwards as forwards, at the places of the oracle."""
from _gdb import Gdb
from _tap import case, run_cases


def hits(g, command):
    """The positions of all stops on the way to the end of history."""
    found = []
    while "history" not in g(command):
        found.append(g.position())
    return found


@case
def continue_and_reverse_continue_stop_at_the_same_places():
    with Gdb("x64_walk") as g:
        g("break *push")
        g("break *bump")
        forwards = hits(g, "continue")
        assert forwards == sorted(g.positions("*push") + g.positions("*bump")), forwards
        assert hits(g, "reverse-continue") == forwards[::-1]


@case
def the_breakpoint_under_the_pc_is_not_hit_again():
    with Gdb("x64_walk") as g:
        g("break *fib")
        all_of_them = g.positions("*fib")
        g("ignore 1 2")
        g("continue")
        assert g.position() == all_of_them[2]
        g("reverse-continue")
        assert g.position() == all_of_them[1]
        g("continue")
        assert g.position() == all_of_them[2]


@case
def ignore_counts_run_on_in_both_directions():
    with Gdb("x64_walk") as g:
        g("break *fib")
        all_of_them = g.positions("*fib")
        g("ignore 1 100")
        g("continue")
        assert g.position() == all_of_them[100]
        g("ignore 1 49")
        g("reverse-continue")
        assert g.position() == all_of_them[50]


run_cases()
