#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""x and disassemble: memory is what the program's file has, at every address of its code, without breakpoints in it."""
import re
import subprocess

from _gdb import Gdb
from _tap import case, run_cases


def offline(g, *commands):
    """What a gdb without any target says, from the file alone."""
    argv = [g.recording.gdb(), "-nx", "-q", "-batch", "-ex", "set width 0", "-ex", "set style enabled off"]
    for c in commands:
        argv += ["-ex", c]
    return subprocess.run([*argv, g.recording.exec], capture_output=True, text=True, timeout=60).stdout


def code(text):
    """Instructions without the arrow at the pc."""
    return [line.replace("=>", "  ").strip() for line in text.splitlines() if re.match(r"(=>)?\s*0x", line)]


@case
def disassembly_equals_that_of_the_file():
    for name in "x64_walk", "x86_walk", "arm_walk", "arm64_walk", "mips_walk":
        with Gdb(name) as g:
            g("break *(rt_main + 8)")
            g("break *fib")
            g("continue")
            for command in "disassemble /r fib", "disassemble /r rt_main", "x/100i rt_main":
                here, there = code(g(command)), code(offline(g, command))
                assert here == there and len(here) > 8, (name, command, here, there)


@case
def the_arrow_is_at_the_pc():
    with Gdb("x64_walk") as g:
        g("tbreak *bump")
        g("continue")
        g("disassemble")
        g.expect(r"^=> 0x0+40142a <\+0>:\s+push\s+%rbp")


@case
def strings_and_numbers():
    with Gdb("x64_walk") as g:
        g("x/s 0x402000")
        g.expect('"list "')
        g("tbreak sort")
        g("continue")
        g("x/s head->name")
        g.expect('"epsilon"')
        g("continue")
        g("x/s head->name")
        g.expect('"nolispe"')       # rev() has been there
        g("x/8xb zeros_then_data + 41")
        g.expect(r"(\s+0x5a){8}")


run_cases()
