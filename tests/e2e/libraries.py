#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The libraries of an ordinary dynamic program: listed where they are mapped, and read from this machine where they
are the recorded ones; another library at the recorded path is refused.

Which one it is here is found out apart from tracestub's own comparison: gdb dumps the beginning of the linker from
the recording's memory.
"""
import pathlib
import shutil

from _gdb import Gdb
from _programs import Program
from _tap import add_case, run_cases

LINKER = pathlib.Path("/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2")
LINKER_AT, HEAD = 0x7ffff7fca000, 2048      # info proc mappings of the recording
FORMATS = "ucir", "frames"                  # those that name what is mapped


def is_recorded(g, path):
    """Is this machine's linker the recorded one?"""
    dump = pathlib.Path(g.folder, "head")
    g(f"dump binary memory {dump} {LINKER_AT:#x} {LINKER_AT + HEAD:#x}")
    return path.exists() and path.read_bytes()[:HEAD] == dump.read_bytes()


def libraries_of_this_machine_are_used_if_they_are_the_recorded_ones(suffix):
    program = Program("pie", suffix)
    with Gdb(program, "--exec", program.exec) as g:
        recorded = is_recorded(g, LINKER)
        g("info sharedlibrary")
        g.expect_not("/story|/prog$")       # the program is no library
        g.expect("libc.so.6")
        if recorded:
            linker = g.expect(r"Yes( \(\*\))? .*/ld-linux-x86-64.so.2")
            if linker[1]:                   # without libc6-dbg its functions have no names
                return
            g("monitor goto 7742")          # the dynamic linker looks up printf
            g("flushregs")
            g("backtrace")
            for function in "do_lookup_x", "_dl_lookup_symbol_x", "_dl_fixup":
                g.expect(rf"in {function} |{function} \(")
        else:
            g.expect("No .*/ld-linux-x86-64.so.2")
            assert "not the file that was recorded; ignored" in g.server.said(), g.server.said()


def other_libraries_beneath_a_sysroot_are_the_users_choice(suffix):
    program = Program("pie", suffix)
    root = pathlib.Path("root").resolve()
    root.mkdir(exist_ok=True)
    with Gdb(program, "--exec", program.exec, "--sysroot", str(root)) as g:
        g("info sharedlibrary")
        g.expect("No .*libc.so.6")          # this machine's are not used then
        g.expect("No .*ld-linux-x86-64.so.2")
    shutil.rmtree(root)


for format_suffix in FORMATS:
    add_case(f"libraries of this machine are used if they are the recorded ones: {format_suffix}",
             libraries_of_this_machine_are_used_if_they_are_the_recorded_ones, format_suffix)
    add_case(f"other libraries beneath a sysroot are the user's choice: {format_suffix}",
             other_libraries_beneath_a_sysroot_are_the_users_choice, format_suffix)

run_cases()
