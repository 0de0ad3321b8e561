#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A thread-local variable of the program, by the debug information and the thread pointer.

story.c counts the depth of its recursion in one: at the entry of each nested fib() gdb has to print the number of
calls that are open, which the backtrace shows.
"""
from _gdb import Gdb
from _programs import Program
from _tap import add_case, run_cases


def depth_is_the_number_of_open_calls(name, suffix):
    program = Program(name, suffix)
    with Gdb(program, "--exec", program.exec) as g:
        g("break fib")
        for _ in range(6):
            g("continue")
            g.expect("Breakpoint 1, fib")
            g("backtrace")
            n_open = len([line for line in g.text.splitlines() if " fib (" in line])
            depth = g.value("depth")
            assert depth == n_open - 1, (depth, n_open, g.text)     # the breakpoint is before its "++depth"
            assert 0 <= depth < 10


for suffix in "ucir", "frames":
    add_case(f"depth is the number of open calls: {suffix}", depth_is_the_number_of_open_calls, "pie", suffix)
run_cases()
