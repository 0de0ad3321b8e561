#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording can't be changed: gdb says so, nothing is different afterwards, the session goes on."""
from _gdb import Gdb
from _tap import case, run_cases


def refuse(command, text):
    with Gdb("x64_walk") as g:
        g("break bump")
        g("continue")
        state = "info registers", "x/64xb $sp", "output total", "backtrace", "monitor when"
        before = [g(c) for c in state]
        g(command)
        g.expect(text)
        assert [g(c) for c in state] == before, g
        g("delete")
        g("finish")
        g.expect("Run till exit")
        assert [g.position()] == g.positions("rt_main + 97")


@case
def set_var():
    refuse("set var total = 1", "Cannot access memory at address 0x403040")


@case
def set_pc():
    refuse("set var $pc = 0", "Could not write register .*a recording can't be changed")


@case
def set_register():
    refuse("set var $rax = 77", "Could not write register .*a recording can't be changed")


@case
def call():
    refuse("call fib(3)", "Cannot access memory|Could not write")


@case
def return_():
    refuse("return", "Could not write register|Cannot access memory")


@case
def jump():
    refuse("jump rt_main", "Could not write register")


@case
def signal_is_not_delivered():
    with Gdb("x64_walk") as g:
        g("break bump")
        g("signal SIGUSR1")
        g.expect("Breakpoint 1, bump")


run_cases()
