#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""goto previous line goes where gdb's reverse-next goes, for clients without one: tracestub lldb has reverse-next by it."""
import functools
import json
import re
import shutil
import subprocess

from _record import LIMIT, build, record
from _tap import TRACESTUB, case, run_cases, skip

OUT = "turns.ucir"
LAST = 15      # the line "v -= 1"


@functools.cache
def last_turn():
    """Where the last execution of line LAST begins."""
    assert record(OUT, build("turns.c", "turns", "-O0 -g -w")).returncode == 0
    done = subprocess.run([TRACESTUB, "query", OUT, "executions", f"turns.c:{LAST}", "--json", "--quiet"], capture_output=True, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()][:-1]
    starts = [r["position"] for r in rows if r["pc"] == rows[0]["pc"]]
    assert len(starts) == 3, rows
    return starts[-1]


def positions(tool, option, *commands):
    words = [w for c in commands for w in (option, c)]
    more = ["-batch"] if tool == "gdb" else []
    done = subprocess.run([TRACESTUB, tool, OUT, "--", *more, *words, *([] if more else ["-o", "quit"])], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, timeout=LIMIT)
    return [int(k) for k in re.findall(r"position (\d+)", done.stdout)], done.stdout


@case
def as_gdb_goes_backwards():
    """Three lines and a loop's head a turn, with two calls passed over; from within a function to its caller."""
    for start in last_turn(), last_turn() - 8:
        expected, _ = positions("gdb", "-ex", f"monitor goto {start}", "flushregs", *["reverse-next", "monitor when"] * 8)
        got, said = positions("gdb", "-ex", f"monitor goto {start}", *["monitor goto previous line"] * 8)
        assert got == expected and len(set(got)) == 9, (expected, got, said)


@case
def the_head_of_the_first_turn_is_a_line():
    """By the source five lines a turn, the loop's head with them; gdb 13 passes over the first one."""
    got, said = positions("gdb", "-ex", f"monitor goto {last_turn()}", *["monitor goto previous line"] * 14, "info line *$pc")
    assert len(set(got)) == 15, said
    line, said = positions("gdb", "-ex", f"monitor goto {got[14]}", "flushregs", "info line *$pc")
    assert re.search(r"Line 11 of", said), said


@case
def lldb_has_reverse_next():
    shutil.which("lldb") or skip("no lldb")
    start = last_turn()
    expected, _ = positions("gdb", "-ex", f"monitor goto {start}", *["monitor goto previous line"] * 4)
    got, said = positions("lldb", "-o", f"goto {start}", "thread step-inst", "when", *["reverse-next", "thread step-inst", "when"] * 4)
    moved = [k for i, k in enumerate(got) if not i or got[i - 1] != k]
    assert all(k in moved for k in expected), (expected, got, said)


run_cases()
