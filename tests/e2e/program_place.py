#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where a program lies that was loaded anywhere: breakpoints by name work on every format.

inc() of story.c is entered six times; the positions come from the oracle, which was written by the emulator.
"""
import subprocess

from _gdb import Gdb
from _programs import FORMATS, Program
from _server import Server
from _tap import TRACESTUB, add_case, case, run_cases

PIE_BASE = 0x555555554000


def entries(program, addr):
    return [k for k, pc in enumerate(program.pcs()) if pc == addr]


def each_call_of_inc_stops(name, suffix):
    program = Program(name, suffix)
    with Gdb(program, "--exec", program.exec) as g:
        expected = entries(program, g.address("inc"))
        assert len(expected) == 6, expected
        assert "not quite the one" not in g.server.said(), g.server.said()
        g("break *inc")
        found = []
        for _ in expected:
            g("continue")
            g.expect(r"Breakpoint 1, (0x\w+ in )?inc \(")
            g("monitor when")
            found.append(int(g.expect(r"position (\d+)")[1]))
        if suffix != "trace64":     # it has no line for a system call's second half: positions differ after those
            assert found == expected, (found, expected)
        g("reverse-continue")
        g.expect("Breakpoint 1")
        g("monitor when")
        assert int(g.expect(r"position (\d+)")[1]) == found[-2]


for program_name in "pie", "static":
    for format_suffix in FORMATS:
        add_case(f"each call of inc stops: {program_name}, {format_suffix}", each_call_of_inc_stops, program_name,
                 format_suffix)


@case
def the_user_may_say_where_it_lies():
    program = Program("pie", "bin")
    with Gdb(program, "--exec", f"{program.exec}@{PIE_BASE:#x}") as g:
        assert g.address("inc") == PIE_BASE + 0x1189
    with Gdb(program, "--exec", f"{program.exec}@0x10000") as g:
        assert g.address("inc") == 0x11189
        assert "0x10000, as given, but none of its code was executed there" in g.server.said(), g.server.said()


@case
def another_program_is_not_placed():
    program, other = Program("static", "trace64"), Program("pie", "trace64")
    with Server(program.trace, "--exec", other.exec) as server:
        assert "give its address with --exec FILE@BASE" in server.said(), server.said()


@case
def a_base_that_is_too_large_is_a_usage_error():
    program = Program("pie", "trace64")
    run = subprocess.run([TRACESTUB, "serve", ":0", program.trace, "--exec", f"{program.exec}@0x1{'0' * 16}"],
                         capture_output=True, text=True)
    assert run.returncode == 2 and "no address is that large" in run.stderr, run


run_cases()
