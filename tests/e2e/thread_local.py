#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A thread-local variable of the program, by the debug information and the thread pointer.

story.c counts the depth of its recursion in one: at the entry of each nested fib() gdb has to print the number of
calls that are open, which the backtrace shows.
"""
import os
import pathlib
import shutil
import subprocess

from _gdb import Gdb
from _programs import Program
from _record import LIMIT, emulator, record
from _tap import TRACESTUB, add_case, case, run_cases, skip


def depth_is_the_number_of_open_calls(name, suffix):
    program = Program(name, suffix)
    with Gdb(program, "--exec", program.exec) as g:
        g("break fib")
        for _ in range(6):
            g("continue")
            g.expect("Breakpoint 1, fib")
            g("backtrace")
            n_open = len([line for line in g.text.splitlines() if " fib (" in line])
            depth = g.value("depth")
            assert depth == n_open - 1, (depth, n_open, g.text)     # the breakpoint is before its "++depth"
            assert 0 <= depth < 10


@case
def the_program_at_its_recorded_path_has_them_too():
    emulator()
    shutil.which("gdb") and shutil.which("cc") or skip("no gdb, or no compiler")
    folder = pathlib.Path("elsewhere")      # a program beside the trace would be taken as if --exec named it
    folder.mkdir(exist_ok=True)
    source = "static __thread int mine = 7;\nint own(int n) { mine += n; return mine; }\nint main(void) { own(1); return own(2) - 10; }\n"
    program = str((folder / "program").resolve())
    subprocess.run(["cc", "-g", "-O0", "-x", "c", "-", "-o", program], input=source, text=True, check=True, timeout=LIMIT)
    done = record("own.ucir", program)
    assert done.returncode == 0, done
    commands = "break own", "continue", "print mine", "continue", "print mine"
    said = subprocess.run([TRACESTUB, "gdb", "own.ucir", "--", "-nx", "-batch", *(a for c in commands for a in ("-ex", c))],
                          capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL,
                          env={k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"})
    assert "$1 = 7\n" in said.stdout and "$2 = 8\n" in said.stdout, said


for suffix in "ucir", "frames":
    add_case(f"depth is the number of open calls: {suffix}", depth_is_the_number_of_open_calls, "pie", suffix)
run_cases()
