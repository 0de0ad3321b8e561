#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Both ends of the recording: gdb says so, stays where it is and goes on."""
import re

from _gdb import Gdb
from _sentences import END_OF_HISTORY
from _tap import case, run_cases


@case
def the_beginning():
    with Gdb("x64_walk") as g:
        for command in "reverse-continue", "reverse-stepi", "reverse-step", "reverse-next":
            g(command)
            g.expect(END_OF_HISTORY)
            assert g.position() == 0, command
        g("stepi")
        g.expect_not(END_OF_HISTORY)
        assert g.position() == 1
        g("reverse-stepi")
        g.expect_not(END_OF_HISTORY)
        assert g.position() == 0
        g("info registers rsp")
        g.expect("0xbffffe80")


@case
def the_end():
    with Gdb("x64_walk") as g:
        last = len(g.recording.pcs()) - 1
        for command in "continue", "continue", "stepi", "step", "next":
            g(command)
            g.expect(END_OF_HISTORY)
            assert g.position() == last, command
        g("info threads")
        g.expect(r"\* 1 ")
        g("reverse-stepi")
        g.expect_not(END_OF_HISTORY)
        assert g.position() == last - 1
        g("stepi")
        g.expect_not(END_OF_HISTORY)
        assert g.position() == last


@case
def a_breakpoint_at_the_end_does_not_hold_gdb_up():
    with Gdb("x64_walk") as g:
        pcs = g.recording.pcs()
        last = len(pcs) - 1
        g(f"break *{pcs[last]:#x}")
        for _ in g.recording.positions(pcs[last]):
            g("continue")
            g.expect("Breakpoint 1,")
        assert g.position() == last
        for command in "continue", "stepi", "stepi", "continue", "step", "continue":
            g(command)
            g.expect("This is the end of the recording")
            assert g.position() == last, command
        g("delete")
        g("reverse-continue")
        g.expect(END_OF_HISTORY)
        assert g.position() == 0


@case
def nor_does_one_that_is_set_there():
    with Gdb("x64_walk") as g:
        last = len(g.recording.pcs()) - 1
        g("continue")
        g.expect(END_OF_HISTORY)
        g("break *$pc")
        for command in "continue", "stepi", "continue":
            g(command)
            g.expect("This is the end of the recording")
            g.expect("Breakpoint 1,")
            assert g.position() == last, command
        g("condition 1 0")
        for command in "step", "next", "stepi", "continue":
            g(command)
            g.expect("This is the end of the recording")
            g.expect_not("Breakpoint 1,")
            assert g.position() == last, command
        g("delete")
        g("stepi")
        g.expect(END_OF_HISTORY)
        g("reverse-stepi")
        assert g.position() == last - 1


@case
def a_step_of_more_instructions_than_there_are_ends_at_the_end():
    with Gdb("x64_walk") as g:
        g("stepi 100")
        g("reverse-stepi 1000")
        assert len(re.findall(END_OF_HISTORY, g.text)) == 1, g.text
        assert g.position() == 0
        last = len(g.recording.pcs()) - 1
        g("continue")
        g("reverse-stepi 100")
        assert g.position() == last - 100
        g("stepi 1000")
        assert len(re.findall(END_OF_HISTORY, g.text)) == 1, g.text
        assert g.position() == last


run_cases()
