#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""reverse-step and reverse-stepi: lines and instructions back, into the end of a function that was called."""
from _gdb import Gdb
from _tap import case, run_cases


@case
def reverse_step_enters_called_functions_at_their_ends():
    with Gdb("x64_walk") as g:
        g(f"tbreak walk.c:{g.recording.line('u32 seed=argc+12345')}")
        g("continue")
        g("reverse-step")
        g.expect(r"bump \(by=34\) at walk.c:20")
        g("reverse-step")
        if "static void bump" in g.text:    # gdb before 16 stops at the beginning of the line too
            g("reverse-step")
        # Into the last calls that returned on the way to fib(9)'s result: 9, 7, 5, 3, 1. gdb 18 stops at an earlier one.
        n = int(g.expect(r"fib \(n=([1357])\) at walk.c:19")[1])
        g("reverse-finish")
        g.expect(rf"fib \(n={n + 2}\)")


@case
def reverse_stepi_undoes_exactly_that_many_instructions():
    with Gdb("x64_walk") as g:
        g("stepi 1000")
        assert g.position() == 1000
        g("reverse-stepi 400")
        assert g.position() == 600
        g("reverse-stepi")
        assert g.position() == 599


run_cases()
