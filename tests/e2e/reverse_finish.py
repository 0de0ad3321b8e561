#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""reverse-finish: back to the call of the function."""
from _gdb import Gdb
from _tap import case, run_cases


@case
def reverse_finish_stands_at_the_call_instruction():
    with Gdb("x64_walk") as g:
        g("break bump")
        g("continue")
        g("reverse-finish")
        g.expect("Run back to call of")
        g.expect(r"rt_main \(argc=3")
        g("x/i $pc")
        g.expect(r"call\s+0x[0-9a-f]+ <bump>")
        assert [g.position()] == g.positions("rt_main + 92")


@case
def reverse_finish_out_of_a_recursion_climbs_one_call():
    with Gdb("x64_walk") as g:
        g("break fib if n == 0")
        g("continue")
        assert g.value("n") == 0
        g("reverse-finish")
        g.expect(r"fib \(n=2\)")


run_cases()
