#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breakpoint conditions, evaluated in the server over all hits."""
from _gdb import Gdb
from _sentences import END_OF_HISTORY
from _tap import case, run_cases

CALLS_OF_FIB_5 = 5      # fib(9) calls fib(k) F(10 - k) times


@case
def the_condition_goes_to_the_server_and_only_true_hits_come_back():
    with Gdb("x64_walk", log=True) as g:
        g("set breakpoint condition-evaluation target")
        g("break fib if n == 5")
        for _ in range(CALLS_OF_FIB_5):
            g("continue")
            g.expect(r"Breakpoint 1, fib \(n=5\)")
        g("continue")
        g.expect(END_OF_HISTORY)
        g("info breakpoints")
        g.expect(rf"stop only if n == 5 \(target evals\)\n\s+breakpoint already hit {CALLS_OF_FIB_5} times")
        assert all(";X" in p for p in g.packets("Z0")), g.packets("Z0")
        assert len(g.packets("vCont;c")) == CALLS_OF_FIB_5 + 1


@case
def the_same_backwards():
    with Gdb("x64_walk", log=True) as g:
        g("continue")
        g("break fib if n == 5")
        for _ in range(CALLS_OF_FIB_5):
            g("reverse-continue")
            g.expect(r"Breakpoint 1, fib \(n=5\)")
        g("reverse-continue")
        g.expect(END_OF_HISTORY)
        assert len(g.packets("bc")) == CALLS_OF_FIB_5 + 1


@case
def gdb_can_evaluate_it_as_well():
    with Gdb("x64_walk", log=True) as g:
        g("set breakpoint condition-evaluation host")
        g("break fib if n == 5")
        g("ignore 1 4")
        g("continue")
        g.expect(r"Breakpoint 1, fib \(n=5\)")
        last = g.position()
        g("continue")
        g.expect(END_OF_HISTORY)
        assert not any(";X" in p for p in g.packets("Z0"))
        g("set breakpoint condition-evaluation target")
        g("reverse-continue")
        assert g.position() == last


@case
def conditions_on_memory_registers_and_several_at_one_place():
    with Gdb("x64_walk") as g:
        g("break add_all if total == 0 && head->key == 17 && $rsp != 0")
        g("break *fib if $rdi == 0")
        g("break *fib if $rdi == 9")
        g("continue")
        g.expect("Breakpoint 1, add_all")
        g("continue")
        g.expect("Breakpoint 3, fib")
        g("continue")
        g.expect("Breakpoint 2, fib")
        assert g.value("$rdi") == 0


run_cases()
