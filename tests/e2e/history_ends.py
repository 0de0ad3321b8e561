#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Both ends of the recording: gdb says so, stays where it is and goes on."""
from _gdb import Gdb
from _tap import case, run_cases

END = "No more reverse-execution history"


@case
def the_beginning():
    with Gdb("x64_walk") as g:
        for command in "reverse-continue", "reverse-stepi", "reverse-step", "reverse-next":
            g(command)
            g.expect(END)
            assert g.position() == 0, command
        g("stepi")
        g.expect_not(END)
        assert g.position() == 1
        g("reverse-stepi")
        g.expect_not(END)
        assert g.position() == 0
        g("info registers rsp")
        g.expect("0xbffffe80")


@case
def the_end():
    with Gdb("x64_walk") as g:
        last = len(g.recording.pcs()) - 1
        for command in "continue", "continue", "stepi", "step", "next":
            g(command)
            g.expect(END)
            assert g.position() == last, command
        g("info threads")
        g.expect(r"\* 1 ")
        g("reverse-stepi")
        g.expect_not(END)
        assert g.position() == last - 1
        g("stepi")
        g.expect_not(END)
        assert g.position() == last


@case
def a_step_of_more_instructions_than_there_are_ends_at_the_end():
    with Gdb("x64_walk") as g:
        g("stepi 100")
        g("reverse-stepi 1000")
        g.expect(END)
        assert g.position() == 0


run_cases()
