#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hbreak stops like break; tbreak and thbreak stop once, backwards too."""
from _gdb import Gdb
from _sentences import END_OF_HISTORY
from _tap import case, run_cases


@case
def hbreak_stops_in_both_directions():
    with Gdb("x64_walk", log=True) as g:
        g("hbreak *bump")
        g.expect("Hardware assisted breakpoint 1 at")
        g("continue")
        g.expect("Breakpoint 1, bump")
        assert [g.position()] == g.positions("*bump")
        assert g.packets("Z1"), "no hardware breakpoint was sent"
        g("continue")
        g("reverse-continue")
        g.expect("Breakpoint 1, bump")


@case
def tbreak_is_gone_after_one_hit():
    with Gdb("x64_walk") as g:
        g("tbreak *fib")
        g("continue")
        g.expect("Temporary breakpoint 1, fib")
        g("info breakpoints")
        g.expect("No breakpoints")
        g("continue")
        g.expect(END_OF_HISTORY)
        g("thbreak *fib")
        g("reverse-continue")
        g.expect("Temporary breakpoint 2, fib")
        assert g.position() == g.positions("*fib")[-1]


@case
def breakpoint_commands_run_at_each_hit():
    with Gdb("x64_walk") as g:
        g("break *fib\ncommands\nsilent\nset $calls = $calls + 1\ncontinue\nend\nset $calls = 0")
        g("continue")
        g.expect(END_OF_HISTORY)
        assert g.value("$calls") == 109
        g("dprintf bump,\"by %d\\n\", by")
        g("delete 1")
        g("reverse-continue")
        g.expect("^by 34$")


run_cases()
