#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""catch syscall: entry and return, by name and any, forwards and backwards."""
from _gdb import Gdb
from _sentences import END_OF_HISTORY
from _tap import case, run_cases

# The program grows its heap twice, writes five strings and exits.
CALLS = ["brk", "brk", "write", "write", "write", "write", "write", "exit"]
ENTRY, RETURN = r"Catchpoint 1 \(call to syscall (\w+)\)", r"Catchpoint 1 \(returned from syscall (\w+)\)"


@case
def any_system_call_forwards():
    with Gdb("x64_walk") as g:
        g("catch syscall")
        for name in CALLS:
            g("continue")
            assert g.expect(ENTRY)[1] == name
            entry = g.position()
            g("x/i $pc")
            g.expect("syscall")
            if name != "exit":
                g("continue")
                assert g.expect(RETURN)[1] == name
                assert g.position() == entry + 1
        g("continue")
        g.expect(END_OF_HISTORY)


@case
def by_name_backwards():
    with Gdb("x64_walk") as g:
        g("continue")
        g("catch syscall write")
        for _ in range(CALLS.count("write")):
            g("reverse-continue")
            assert g.expect(RETURN)[1] == "write"
            done = g.position()
            g("reverse-continue")
            assert g.expect(ENTRY)[1] == "write"
            assert g.position() == done - 1
        g("reverse-continue")
        g.expect(END_OF_HISTORY)


@case
def the_argument_of_a_caught_write_is_what_the_program_printed():
    with Gdb("x64_walk") as g:
        g("catch syscall write")
        printed = ""
        for _ in range(CALLS.count("write")):
            g("continue")
            g.expect(ENTRY)
            g("printf \"%s\", (char *) $rsi")
            printed += g.text + ("" if g.text else "\n")
            g("continue")
        assert printed.split() == ["list", "nolispe", "total", "69"]


@case
def a_trace_without_system_calls_refuses_to_catch_them():
    with Gdb("x64_nosys") as g:
        g("catch syscall")
        g("stepi")
        g.expect("Error inserting catchpoint 1: Your system does not support this type")
        assert g("monitor info").count("system calls: not recorded") == 1


run_cases()
