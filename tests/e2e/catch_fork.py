#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""catch fork: stops behind each fork, backwards before it; breakpoints stay, and a gdb that catches nothing notices nothing."""
import functools
import json
import re
import subprocess

from _record import LIMIT, build, record
from _sentences import END_OF_HISTORY
from _tap import TRACESTUB, case, run_cases

OUT = "forks.ucir"


@functools.cache
def children():
    """Processes that the two forks gave, and the positions of the calls, as the recording has them."""
    done = record(OUT, build("forks.c", "forks", "-O0 -g -w -static"))
    assert done.returncode == 0, done
    got = subprocess.run([TRACESTUB, "query", OUT, "events", "syscall", "--json", "--quiet"], capture_output=True, text=True)
    rows = [json.loads(line) for line in got.stdout.splitlines()][:-1]
    waits = [int(r["arguments"][0], 16) for r in rows if r["name"].startswith("wait")]
    made = {int(r["result"], 16): r["position"] for r in rows if r["name"] in ("clone", "fork")}
    assert len(waits) == 2 and set(waits) <= set(made), rows
    return {child: made[child] for child in waits}


def gdb(*commands):
    children()
    argv = [TRACESTUB, "gdb", OUT, "--", "-nx", "-batch", *(w for c in commands for w in ("-ex", c))]
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, timeout=LIMIT).stdout


def stops(text):
    """Forks (the child's number), hits of breakpoints, ends, positions."""
    return [int(m[1] or m[3]) if m[1] or m[3] else m[2].split(",")[0] if m[2] else "the end" for m in re.finditer(
        rf"\(forked process (\d+)\)|(Breakpoint \d+, note)|^position (\d+) |{END_OF_HISTORY}", text, re.M)]


@case
def forwards_and_backwards():
    (first, k), (second, m) = children().items()
    said = gdb("catch fork", "break note", *["continue", "monitor when"] * 5, *["reverse-continue", "monitor when"] * 5)
    found = stops(said)
    there, back = found[:10], found[10:]
    assert there[:2] == [first, k + 1] and there[2] == "Breakpoint 2" and there[4:6] == [second, m + 1], said
    assert there[6] == "Breakpoint 2" and there[8] == "the end", said
    assert back[0] == back[4] == "Breakpoint 2" and back[2:4] == [second, m] and back[6:8] == [first, k], said
    assert back[8] == "the end", said


@case
def nobody_catches():
    """Both hits of the breakpoint each way, and "next" over the call ends on the next line."""
    said = gdb("break note", *["continue"] * 3, *["reverse-continue"] * 3)
    assert [x for x in stops(said) if x != "the end"] == ["Breakpoint 1"] * 4, said
    said = gdb("break main", "continue", "next", "next", "next", "reverse-next")
    lines = re.findall(r"^(\d+)\t", said, re.M)
    assert lines[-3:] == ["19", "21", "19"] and not stops(said), said


@case
def the_step_of_the_call_is_a_stop():
    (first, k), *_ = children().items()
    said = gdb("catch fork", f"monitor goto {k}", "flushregs", "stepi", "monitor when", "reverse-stepi", "monitor when")
    assert stops(said) == [k, first, k + 1, first, k], said


@case
def who_follows_the_child_is_told_that_it_is_not_there():
    for mode in "set follow-fork-mode child", "set detach-on-fork off":
        said = gdb(mode, "catch fork", "continue", "continue", "thread 2.1")
        assert "the child of the fork is not in this recording" in said and "#0 " not in said, said


run_cases()
