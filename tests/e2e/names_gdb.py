#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A symbol's name in a recorded program is never a command, an expression or a place for the analyst's gdb: `ts` compiles
conditions at functions with hostile names and answers, and no file appears.
"""
import pathlib
import re
import subprocess

from _gdb import Gdb
from _record import LIMIT, build, record, recorder
from _tap import SRCDIR, add_case, run_cases

NAME = "handle_" + "x" * 90
# pipe's delimiter, a line, a pipe, an expression that has a shell, Python, options of a location, quotes
HOSTILE = {"delimiter": "*0 TRACESTUB touch PWNED #", "line": "main, 1\nshell touch PWNED\necho ", "pipe": "main | touch PWNED #",
           "shell": "*$_shell(\"touch PWNED\")", "python": "main\npython open('PWNED', 'w')\n",
           "option": "-function main -line 1 #", "quotes": "a\", 1)\n!touch PWNED\n'"}


def hostile_program(name, options):
    """The program, with the function's name in its symbols and its DWARF exchanged, and the function's address."""
    path = pathlib.Path(build("handle.c", f"names-{name}{options.replace(' ', '')}", f"-g {options} -DNAME={NAME}"))
    listing = subprocess.run(["nm", path], capture_output=True, text=True, check=True, timeout=LIMIT).stdout
    addr = int(re.search(rf"^([0-9a-f]+) T {NAME}$", listing, re.M)[1], 16)
    data = path.read_bytes()
    assert data.count(NAME.encode()) >= 2, "the name is in .strtab and .debug_str"
    path.write_bytes(data.replace(NAME.encode(), HOSTILE[name].encode().ljust(len(NAME), b"#")))
    return path, addr


def run(name, options):
    recorder()
    program, addr = hostile_program(name, options)
    trace = program.with_suffix(".ucir")
    done = record(trace, program)
    assert done.returncode == 0, done

    class Hostile:
        log, exec = [], program
    Hostile.trace = Hostile.name = str(trace)
    Hostile.gdb = staticmethod(lambda: "gdb")
    Hostile.copy_sources = lambda self, folder: None
    with Gdb(Hostile(), "--exec", program) as g:
        g(f"source {SRCDIR / 'gdbinit'}")
        for verb in "calls", "executions":
            g(f"ts {verb} {addr:#x} if n == 3")
            g.expect("^1 row$")
        for question in f"executions {addr:#x}", f"calls {addr:#x}", f"history {addr:#x},4", f"why {addr:#x}", "stack", "hot":
            g(f"ts {question}")
        g(f"goto next exec {addr:#x}")
        g("stack")
        g("why $eax")
        marker = pathlib.Path(g.folder, "PWNED")
    assert not marker.exists() and not pathlib.Path("PWNED").exists(), str(g)


for _name in HOSTILE:
    add_case(f"a hostile symbol name is no command of gdb: {_name}", run, _name, "-O0 -static")
for _name in "delimiter", "line":
    add_case(f"a hostile symbol name is no command of gdb: {_name}, optimised", run, _name, "-O1 -static")
run_cases()
