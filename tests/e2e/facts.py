#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""info registers, info all-registers, info auxv, find, compare-sections, info files: what gdb asks besides stepping."""
from _gdb import Gdb
from _tap import case, run_cases


@case
def info_registers_shows_known_values_and_marks_what_the_trace_lacks():
    with Gdb("x64_walk") as g:
        pc, registers = next(g.recording.oracle())
        g("info registers")
        for name, value in {**registers, "rip": pc}.items():
            g.expect(rf"^{name}\s+0x{value:x}\s")
        g.expect(r"^eflags\s+<unavailable>")
        g("info all-registers")
        g.expect(r"^st0\s+<unavailable>")
        g("print $eflags")
        g.expect("<unavailable>")
        g("print $rsp + 8")
        g.expect("0xbffffe88")


@case
def find_searches_memory_at_this_position():
    with Gdb("x64_walk", log=True) as g:
        g("find 0x402000, +0x2f, 't', 'o', 't', 'a', 'l'")
        g.expect(r"^0x402007$")
        g("find 0x402000, +0x2f, 'n', 'o', 'n', 'e'")
        g.expect("Pattern not found")
        assert g.packets("qSearch:memory:")


@case
def compare_sections_finds_the_program_in_memory():
    with Gdb("x64_walk", log=True) as g:
        g("compare-sections -r")
        for section in ".text", ".rodata", ".eh_frame":
            g.expect(rf"Section {section}, range .*: matched")
        g.expect_not("MIS-MATCHED")
        assert g.packets("qCRC:")


@case
def info_auxv_says_something():
    with Gdb("x64_walk") as g:
        g("info auxv")
        g.expect("AT_|no auxiliary vector|auxiliary vector")


@case
def memory_that_nobody_knows_is_an_error():
    with Gdb("x64_walk") as g:
        g("x/x 0x10")
        g.expect("Cannot access memory at address 0x10")
        g("print *(int *) 0x123456789")
        g.expect("Cannot access memory at address 0x123456789")


run_cases()
