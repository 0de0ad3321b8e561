#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""step, next, finish, stepi, nexti: forwards as with a live program."""
from _gdb import Gdb
from _tap import case, run_cases


@case
def step_enters_and_finish_returns_with_the_value():
    with Gdb("x64_walk") as g:
        line = g.recording.line("bump(fib(9))")
        g(f"tbreak walk.c:{line}")
        g("continue")
        g("step")
        g.expect(r"fib \(n=9\) at walk.c:19")
        g("finish")
        g.expect(r"Value returned is \$1 = 34")
        g("step")
        g.expect(r"bump \(by=34\) at walk.c:20")


@case
def next_goes_over_the_calls():
    with Gdb("x64_walk", log=True) as g:
        line = g.recording.line("bump(fib(9))")
        g(f"tbreak walk.c:{line}")
        g("continue")
        assert [g.position()] == g.positions("rt_main + 80")
        g("next")
        g.expect(rf"^{line + 1}\s+int a\[16\]; u32 seed=argc\+12345;")
        assert [g.position()] == g.positions("rt_main + 97")
        assert g.packets("vCont;r"), "gdb does not step ranges in the server"


@case
def nexti_goes_over_a_call_instruction_and_stepi_into_it():
    with Gdb("x64_walk") as g:
        g("tbreak *(rt_main + 92)")
        g("continue")
        g("nexti")
        assert [g.position()] == g.positions("rt_main + 97")
        g("reverse-nexti")
        assert [g.position()] == g.positions("rt_main + 92")
        g("stepi")
        assert [g.position()] == g.positions("*bump")


run_cases()
