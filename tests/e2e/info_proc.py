#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""info proc: mappings of the current position, and what else the recording knows of the process."""
from _gdb import Gdb
from _recording import Recording
from _tap import case, run_cases


@case
def mappings_have_the_program_and_its_stack():
    with Gdb("x64_walk", "--exec", Recording("x64_walk").exec) as g:
        g("info proc mappings")
        g.expect(r"^\s*0x0*401000\s+0x0*402000\s+0x1000\s+0x1000\s+r-xp\s+\./prog\s*$")
        g.expect(r"\[stack\]\s*$")


@case
def the_heap_is_there_only_after_brk():
    with Gdb("x64_walk") as g:
        g("info proc mappings")
        g.expect_not(r"\[heap\]")
        g("tbreak add_all")
        g("continue")
        heap = g.address("head")
        found = [line.split() for line in g("info proc mappings").splitlines() if "[heap]" in line]
        assert any(int(f[0], 16) <= heap < int(f[1], 16) for f in found), (hex(heap), g.text)
        g("reverse-continue")
        g("info proc mappings")
        g.expect_not(r"\[heap\]")


@case
def command_line_exe_and_status():
    with Gdb("x64_walk", "--exec", Recording("x64_walk").exec) as g:
        g("info proc")
        g.expect("^process ")
        g("info proc exe")
        g.expect("exe = '.*elf'")
        g("info proc status")
        g.expect("State:\tt")
        g("info proc cmdline")
        g.expect("cmdline|unable to open")


run_cases()
