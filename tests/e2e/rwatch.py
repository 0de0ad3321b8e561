#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rwatch: who reads "total". By the source: bump (to add), rt_main (to print), rt_main (for its status)."""
from _gdb import Gdb
from _sentences import END_OF_HISTORY
from _tap import case, run_cases

READERS = ["bump", "rt_main", "rt_main"]
VALUES = [35, 69]       # what the first two saw


@case
def rwatch_finds_each_reader_in_both_directions():
    with Gdb("x64_walk") as g:
        g("rwatch total")
        g.expect("Hardware read watchpoint 1: total")
        for n, function in enumerate(READERS):
            g("continue")
            g.expect(rf"Value = {VALUES[n] if n < 2 else ''}.*\n.*{function} ")
        g("continue")
        g.expect(END_OF_HISTORY)
        for n, function in reversed(list(enumerate(READERS))):
            g("reverse-continue")
            g.expect(rf"Value = {VALUES[n] if n < 2 else ''}.*\n.*{function} ")
            g("x/i $pc")
            g.expect(r"mov .*<total>|mov\s+0x[0-9a-f]+\(%rip\),.*<total>")
        g("reverse-continue")
        g.expect(END_OF_HISTORY)


run_cases()
