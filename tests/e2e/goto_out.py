#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""goto caller and goto out: where gdb's reverse-finish and finish lead in a program with debug information, at calls of each kind.

gdb finds the caller by the program's unwind information, which tracestub does not read.
"""
import json
import re
import subprocess

from _record import LIMIT, build, record
from _tap import TRACESTUB, case, run_cases

FUNCTIONS = "leaf", "middle", "deep", "handler"


def rows(*words):
    done = subprocess.run([TRACESTUB, "query", "nested.ucir", *words, "--json", "--quiet"], capture_output=True, text=True,
                          timeout=LIMIT)
    assert done.returncode in (0, 1), done
    return [json.loads(line) for line in done.stdout.splitlines()][:-1]


def where(commands):
    """The positions that `when` tells."""
    script = [word for command in commands for word in ("-ex", command)]
    shown = subprocess.run([TRACESTUB, "gdb", "nested.ucir", "--", "-batch", *script], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, timeout=LIMIT).stdout
    return [int(found) for found in re.findall(r"^position (\d+) of", shown, re.M)], shown


def begin():
    record("nested.ucir", build("nested.c", "nested", "-O2 -fno-optimize-sibling-calls -g -w"))
    starts = {name: [e["position"] for e in rows("executions", name)] for name in FUNCTIONS}
    assert [len(starts[name]) for name in FUNCTIONS] == [4, 2, 4, 1], starts
    return starts


@case
def they_lead_where_gdb_leads():
    starts = begin()
    inside = [starts["leaf"][1] + 2, starts["middle"][0] + 2, starts["deep"][0], starts["deep"][2] + 1]
    asked, by_gdb = [], []
    for k in inside:
        asked += [f"goto {k}", "goto caller", f"goto {k}", "goto out"]
        by_gdb += [f"goto {k}", "reverse-finish", "when", f"goto {k}", "finish", "when"]
    expected, shown = where(by_gdb)
    assert len(expected) == 4 * len(inside), shown
    got, shown = where(asked)
    assert got == expected, (list(zip(asked, got, expected)), shown)


@case
def a_handler_was_called_by_its_signal():
    starts = begin()
    signals = [e["position"] for e in rows("events", "signal")]
    handler = starts["handler"][0]
    got, shown = where([f"goto {handler}", "goto caller", f"goto {handler}", "goto out"])
    assert len(signals) == 1 and got[1] == signals[0], (got, signals, shown)
    after, before = (rows("registers", "rsp", "rbx", "at", str(k)) for k in (got[3], signals[0]))
    assert got[3] > starts["leaf"][-1] and after == before, (after, before)      # sigreturn has brought them back


@case
def what_nobody_called_says_so():
    begin()
    got, shown = where(["goto 0", "goto caller", "goto out"])
    assert got == [0] and shown.count("no such place") == 2, shown


run_cases()
