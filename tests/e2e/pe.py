#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program is a PE file (--exec F.exe): found by its code where the recording names no base, its exports name
functions in gdb and in questions.

The file is made here of the code of tests/data/programs/pie, which ran at PIE_BASE; its exports are that program's
symbols by nm.
"""
import pathlib
import shutil
import subprocess

from _gdb import Gdb
from _pe import make_pe
from _programs import Program
from _tap import TRACESTUB, add_case, run_cases, skip

PIE_BASE = 0x555555554000
NAMES = "inc", "add", "main", "fib", "leave"


def symbols(path):
    shutil.which("nm") or skip("no nm")
    lines = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {name: int(addr, 16) for addr, _, name in (line.split() for line in lines if line.count(" ") == 2
                                                      and line[0] != " ") if name in NAMES}


def windows_program(program):
    """Makes the PE file the program's.  Returns the addresses of its functions when they ran."""
    exports = symbols(program.exec)
    assert len(exports) == len(NAMES), exports
    path = pathlib.Path("story.exe").resolve()
    path.write_bytes(make_pe(pathlib.Path(program.exec).read_bytes(), exports))
    program.exec = str(path)
    return {name: PIE_BASE + addr for name, addr in exports.items()}


def gdb_has_its_exports_where_it_ran(suffix):
    program = Program("pie", suffix)
    at = windows_program(program)
    with Gdb(program, "--exec", program.exec) as g:
        assert g.address("inc") == at["inc"], hex(g.address("inc"))
        g("break *inc")
        g("continue")
        g.expect(r"Breakpoint 1, 0x\w+ in story!inc \(")
        g("info files")
        g.expect(rf"{at['main'] & ~0xfff:#018x} - .* is \.text")
        g("monitor stack")
        for name in "inc", "add", "main":
            g.expect(rf"{name}\b")


def questions_have_its_exports(suffix):
    program = Program("pie", suffix)
    at = windows_program(program)
    expected = [k for k, pc in enumerate(program.pcs()) if pc == at["inc"]]
    for option in program.exec, f"{program.exec}@{PIE_BASE:#x}":
        done = subprocess.run([TRACESTUB, "query", program.trace, "calls", "inc", "--exec", option],
                              capture_output=True, text=True)
        rows = [line.split("\t") for line in done.stdout.splitlines()[1:]]
        assert len(rows) == len(expected) and all(row[9] == "inc" and row[7] in ("add", "main") for row in rows), done
        if suffix != "trace64":     # it has no line for a system call's second half: positions differ after those
            assert [int(row[1]) for row in rows] == expected, (rows, expected)


for format_suffix in "bin", "trace64":
    add_case(f"gdb has its exports where it ran: {format_suffix}", gdb_has_its_exports_where_it_ran, format_suffix)
    add_case(f"questions have its exports: {format_suffix}", questions_have_its_exports, format_suffix)
run_cases()
