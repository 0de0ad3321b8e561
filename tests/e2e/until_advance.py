#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""until and advance run forwards to a place; until at the end of a loop leaves it."""
from _gdb import Gdb
from _tap import case, run_cases


@case
def advance_runs_to_a_line():
    with Gdb("x64_walk") as g:
        line = g.recording.line("sort(a,16);")
        g("tbreak rt_main")
        g("continue")
        g(f"advance walk.c:{line}")
        g.expect(rf"^{line}\s+sort\(a,16\);")
        assert [g.position()] == g.positions("rt_main + 181")
        g(f"until walk.c:{line + 1}")
        assert [g.position()] == g.positions("rt_main + 198")


@case
def until_leaves_a_loop():
    with Gdb("x64_walk") as g:
        line = g.recording.line("push(i*i+1,names[i])")
        g(f"tbreak walk.c:{line}")
        g("continue")
        g("until")
        g.expect(rf"^{line + 1}\s+add_all\(\);")
        assert [g.position()] == g.positions("rt_main + 75")


run_cases()
