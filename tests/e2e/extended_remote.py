#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""target extended-remote: run goes to the beginning; the server's --exec gives gdb the program."""
from _gdb import Gdb
from _recording import Recording
from _tap import case, run_cases


@case
def run_goes_to_the_beginning():
    with Gdb("x64_walk", connect="target extended-remote") as g:
        g("break bump")
        g("continue")
        g.expect("Breakpoint 1, bump")
        g("set remote exec-file prog")
        g("run")
        g.expect("Breakpoint 1, bump")      # from the beginning, as a program that is run again
        g("starti")
        assert g.position() == 0
        g("kill")
        g("run")
        g.expect("Breakpoint 1, bump")
        g("detach")
        g("attach 1")
        g("stepi")
        g.position()


@case
def the_program_comes_from_the_server():
    with Gdb("x64_walk", "--exec", Recording("x64_walk").exec, has_exec=False) as g:
        g("break bump")
        g.expect("Breakpoint 1 at 0x401431: file walk.c, line 20")
        g("continue")
        g.expect(r"Breakpoint 1, bump \(by=34\)")
        g("backtrace")
        g.expect(r"rt_main \(argc=3")


@case
def without_any_program_gdb_still_walks():
    with Gdb("x64_walk", has_exec=False) as g:
        g("stepi 100")
        assert g.position() == 100
        g("break *0x40142a")
        g("continue")
        g.expect("Breakpoint 1, 0x000000000040142a in")
        g("x/2i $pc")
        g.expect(r"push\s+%rbp")
        g("reverse-stepi")
        g("info registers rip")
        g.expect("0x4016c7")


run_cases()
