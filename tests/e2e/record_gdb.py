#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that was recorded on any processor tells gdb the same story: the crash, and who lost the pointer."""
import json
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


def query(trace, *words):
    done = subprocess.run([TRACESTUB, "query", "--json", "--quiet", trace, *words], capture_output=True, text=True, timeout=LIMIT)
    return [json.loads(line) for line in done.stdout.splitlines()][:-1]


def check_arguments(trace, program):
    """Those of the source: set_name(&anna, "Anna"), set_name(&wilhelmina, "Wilhelmina Luis")."""
    names = subprocess.run(["nm", program], capture_output=True, text=True, check=True, timeout=LIMIT).stdout
    at = {name: int(address, 16) for address, name in re.findall(r"^([0-9a-f]+) \w (\w+)$", names, re.M)}
    calls = [[int(a, 16) for a in row["arguments"][:2]] for row in query(trace, "calls", "set_name")]
    assert [person for person, _ in calls] == [at["anna"], at["wilhelmina"]], (calls, at["anna"], at["wilhelmina"])
    for (_, text), name in zip(calls, (b"Anna\0", b"Wilhelmina Luis\0")):
        assert not query(trace, "history", f"{text:#x},{len(name)}")      # constants, which nobody writes
        found = query(trace, "find", " ".join(f"{c:02x}" for c in name), "in", "memory", f"{text:#x}:{text + len(name):#x}")
        assert [(f["address"], f["kind"]) for f in found] == [(hex(text), "start")], found


def story(target):
    emulator(target)
    program = build("friends.c", f"friends.{target}", "-O0 -g -static -w", target)
    done = record(f"{target}.ucir", program)
    assert done.returncode == -signal.SIGSEGV and "unexplained 0" in done.stderr, done
    check_arguments(f"{target}.ucir", program)
    said = gdb(f"{target}.ucir", "goto end", "backtrace", "print p->name[0]", "watch wilhelmina.friend", "reverse-continue",
               "backtrace", "print p->name", "print i")
    assert re.search(r"SIGSEGV.*#0 .*print_friend.*#1 .*main.*= 87 'W'", said, re.S), said
    writer = said[said.index("Old value"):]
    assert re.search(r"#0 .*set_name .*\n#1 .*main ", writer) and '"Wilhelmi' in writer, said


for name in COMPILERS:
    add_case(f"the story of a crash on {name}", story, name)

run_cases()
