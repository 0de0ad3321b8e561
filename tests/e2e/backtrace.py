#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bt, frame, up, info locals: the whole stack, at the bottom of a deep recursion."""
from _gdb import Gdb
from _tap import case, run_cases

STACK = ["fib (n=0)", *(f"fib (n={n})" for n in range(2, 10)), "rt_main (argc=", "rt_entry (", "_start ("]


@case
def the_stack_of_the_first_fib_0():
    with Gdb("x64_walk") as g:
        g("break fib if n == 0")
        g("continue")
        frames = [line.split(" in ")[-1].split("  ")[-1] for line in g("backtrace").splitlines()]
        assert [f[:len(s)] for f, s in zip(frames, STACK)] == STACK, frames
        assert len(frames) == len(STACK), frames


@case
def frames_have_their_own_arguments_and_locals():
    with Gdb("x64_walk") as g:
        g("break sort")
        g("continue")
        assert g.value("n") == 16
        g("up")
        g.expect(r"#1 .*rt_main")
        g("info locals")
        g.expect(r"seed = \d+")
        g.expect(r"a = \{\d+")
        g("print names[2]")
        g.expect('"gamma"')
        g("print *head->next")
        g.expect(r'key = 10, name = "delta')


@case
def backtraces_of_other_processors():
    for name in "x86_walk", "arm_walk", "arm64_walk", "mips_walk":
        with Gdb(name) as g:
            g("break fib if n == 0")
            g("continue")
            frames = g("backtrace")
            for n in range(2, 10):
                g.expect(rf"fib \(n=(n@entry=)?{n}\)")
            g.expect(r"rt_main \(argc=")
            assert frames.count("fib (") == 9, frames


run_cases()
