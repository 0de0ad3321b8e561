#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that was recorded on any processor tells gdb the same story: the crash, and who lost the pointer."""
import re
import shutil
import signal
import subprocess

from _record import COMPILERS, LIMIT, build, emulator, record
from _tap import TRACESTUB, add_case, run_cases, skip


def gdb(trace, *commands):
    shutil.which("gdb-multiarch") or skip("no gdb-multiarch")
    args = [a for c in commands for a in ("-ex", c)]
    done = subprocess.run([TRACESTUB, "gdb", trace, "--", "-nx", "-batch", *args], stdout=subprocess.PIPE, timeout=LIMIT,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
    return done.stdout


def story(target):
    emulator(target)
    program = build("friends.c", f"friends.{target}", "-O0 -g -static -w", target)
    done = record(f"{target}.ucir", program)
    assert done.returncode == -signal.SIGSEGV and "unexplained 0" in done.stderr, done
    said = gdb(f"{target}.ucir", "goto end", "backtrace", "print p->name[0]", "watch wilhelmina.friend", "reverse-continue",
               "backtrace", "print p->name", "print i")
    assert re.search(r"SIGSEGV.*#0 .*print_friend.*#1 .*main.*= 87 'W'", said, re.S), said
    writer = said[said.index("Old value"):]
    assert re.search(r"#0 .*set_name .*\n#1 .*main ", writer) and '"Wilhelmi' in writer, said


for name in COMPILERS:
    add_case(f"the story of a crash on {name}", story, name)

run_cases()
