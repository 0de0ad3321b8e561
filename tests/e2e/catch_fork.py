#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""catch fork, catch vfork: stops behind each, backwards before it; breakpoints stay, and a gdb that catches nothing notices nothing.
catch exec: refused, with what shows the exec."""
import functools
import json
import re
import subprocess

from _record import LIMIT, build, record
from _sentences import END_OF_HISTORY
from _tap import TRACESTUB, add_case, case, run_cases

OUT, VFORKS = "forks.ucir", "vforks.ucir"


@functools.cache
def events(out):
    done = record(out, build(f"{out[:-5]}.c", out[:-5], "-O0 -g -w -static"))
    assert done.returncode == 0, done
    got = subprocess.run([TRACESTUB, "query", out, "events", "syscall", "--json", "--quiet"], capture_output=True, text=True)
    return [json.loads(line) for line in got.stdout.splitlines()][:-1]


def children(out=OUT):
    """Processes that the two calls gave, and the positions of the calls, as the recording has them."""
    rows = events(out)
    waits = [int(r["arguments"][0], 16) for r in rows if r["name"].startswith("wait")]
    made = {int(r["result"], 16): r["position"] for r in rows if r["name"] in ("clone", "fork", "vfork") and r["result"]}
    assert len(waits) == 2 and set(waits) <= set(made), rows
    return {child: made[child] for child in waits}


def gdb(*commands, out=OUT):
    children(out)
    argv = [TRACESTUB, "gdb", out, "--", "-nx", "-batch", *(w for c in commands for w in ("-ex", c))]
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, timeout=LIMIT).stdout


def stops(text):
    """Forks (the child's number), hits of breakpoints, ends, positions."""
    return [int(m[1] or m[3]) if m[1] or m[3] else m[2].split(",")[0] if m[2] else "the end" for m in re.finditer(
        rf"\(v?forked process (\d+)\)|(Breakpoint \d+, note)|^position (\d+) |{END_OF_HISTORY}", text, re.M)]


def forwards_and_backwards(out, catch):
    (first, k), (second, m) = children(out).items()
    said = gdb(catch, "break note", *["continue", "monitor when"] * 5, *["reverse-continue", "monitor when"] * 5, out=out)
    found = stops(said)
    there, back = found[:10], found[10:]
    assert there[:2] == [first, k + 1] and there[2] == "Breakpoint 2" and there[4:6] == [second, m + 1], said
    assert there[6] == "Breakpoint 2" and there[8] == "the end", said
    assert back[0] == back[4] == "Breakpoint 2" and back[2:4] == [second, m] and back[6:8] == [first, k], said
    assert back[8] == "the end", said


def nobody_catches(out, n, lines):
    """Both hits of the breakpoint each way, and "next" over the call ends on the next line."""
    said = gdb("break note", *["continue"] * 3, *["reverse-continue"] * 3, out=out)
    assert [x for x in stops(said) if x != "the end"] == ["Breakpoint 1"] * 4, said
    said = gdb("break main", "continue", *["next"] * n, "reverse-next", out=out)
    assert re.findall(r"^(\d+)\t", said, re.M)[-3:] == lines and not stops(said), said


def the_step_of_the_call_is_a_stop(out, catch):
    (first, k), *_ = children(out).items()
    said = gdb(catch, f"monitor goto {k}", "flushregs", "stepi", "monitor when", "reverse-stepi", "monitor when", out=out)
    assert stops(said) == [k, first, k + 1, first, k], said


for _out, _catch, _n, _lines in (OUT, "catch fork", 3, ["19", "21", "19"]), (VFORKS, "catch vfork", 2, ["19", "21", "19"]):
    add_case(f"{_catch}: forwards and backwards", forwards_and_backwards, _out, _catch)
    add_case(f"{_catch}: nobody catches", nobody_catches, _out, _n, _lines)
    add_case(f"{_catch}: the step of the call is a stop", the_step_of_the_call_is_a_stop, _out, _catch)


@case
def an_exec_is_shown_by_other_means():
    """gdb would keep the other program's symbols for the code before the exec."""
    said = gdb("catch exec", "tcatch exec", "info breakpoints", "catch syscall execve", "continue", "continue", "reverse-continue", out=VFORKS)
    words = '"catch syscall execve" stops there, "tracestub query TRACE events exit" names the program, and "tracestub record --follow" records'
    assert said.count(words) == 2 and "\nNo breakpoints" in said, said
    assert len(re.findall(r"\(call to syscall execve\)", said)) == 2 and "by exec of /bin/true" in said, said


@case
def who_follows_the_child_is_told_that_it_is_not_there():
    for mode in "set follow-fork-mode child", "set detach-on-fork off":
        said = gdb(mode, "catch fork", "continue", "continue", "thread 2.1")
        assert "the child of the fork is not in this recording" in said and "#0 " not in said, said


run_cases()
