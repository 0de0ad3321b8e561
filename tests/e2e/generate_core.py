#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generate-core-file: a position as a core, which gdb then shows without tracestub."""
import pathlib
import re
import subprocess

from _gdb import Gdb
from _programs import Program
from _tap import case, run_cases


@case
def a_core_of_a_position_has_its_stack_and_memory():
    with Gdb("x64_walk") as g:
        g("break fib if n == 0")
        g("continue")
        stack = g("backtrace")
        g("generate-core-file core")
        g.expect("Saved corefile core")
        done = subprocess.run([g.recording.gdb(), "-nx", "-q", "-batch", "-ex", "set width 0", "-ex", "backtrace",
                               "-ex", "print total", g.recording.exec, f"{g.folder}/core"],
                              capture_output=True, text=True, timeout=60, cwd=g.folder)
        assert stack.strip() in done.stdout, done
        assert "$1 = 35" in done.stdout, done


@case
def a_core_names_the_files_that_were_mapped():
    program = Program("pie", "ucir")
    with Gdb(program, "--exec", program.exec) as g:
        g("generate-core-file core")
        g.expect("Saved corefile core")
        core = pathlib.Path(g.folder, "core").read_bytes()
    # a note is lengths of name and contents, its type (NT_FILE is "FILE"), "CORE", count and page size of the list
    note = re.search(rb"\x05\0\0\0(....)\x45\x4c\x49\x46CORE\0\0\0\0", core, re.S)
    assert note, "no NT_FILE"
    files = core[note.end():note.end() + int.from_bytes(note[1], "little")]
    assert (0x555555554000).to_bytes(8, "little") in files and b"/libc.so.6\0" in files, files


run_cases()
