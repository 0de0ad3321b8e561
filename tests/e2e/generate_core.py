#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generate-core-file: a position as a core, which gdb then shows without tracestub."""
import subprocess

from _gdb import Gdb
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


run_cases()
