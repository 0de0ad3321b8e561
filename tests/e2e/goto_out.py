#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""goto caller and goto out: where gdb's reverse-finish and finish lead in a program with debug information, at calls of each kind.

gdb finds the caller by the program's unwind information, which tracestub does not read.
"""
import json
import re
import subprocess

from _record import LIMIT, build, load_address, record
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


@case
def gdb_finds_the_callers_of_stripped_code():
    """Without unwind information, without frame pointers, and across a signal: as the source has them."""
    program = build("nested.c", "bare", "-O2 -fno-optimize-sibling-calls -fno-asynchronous-unwind-tables -fno-unwind-tables -fomit-frame-pointer -w")
    symbols = sorted((int(line.split()[0], 16), line.split()[2]) for line in
                     subprocess.run(["nm", "--defined-only", program], capture_output=True, text=True, check=True).stdout.splitlines()
                     if line.split()[1] in "tT")
    subprocess.run(["strip", "-s", "-R", ".eh_frame", "-R", ".eh_frame_hdr", program], check=True)
    done = record("bare.ucir", program)
    assert done.returncode in (0, 1), done
    base = load_address("bare.ucir")

    def function(pc):
        below = [name for addr, name in symbols if addr <= pc - base]
        return below[-1] if 0 <= pc - base < 0x4000 and below else None

    def executions(name):
        addr = base + next(addr for addr, symbol in symbols if symbol == name)
        done = subprocess.run([TRACESTUB, "query", "bare.ucir", "executions", hex(addr), "--json", "--quiet"], capture_output=True,
                              text=True, timeout=LIMIT, check=False)
        return [json.loads(line)["position"] for line in done.stdout.splitlines()[:-1]]

    leaf, handler = executions("leaf"), executions("handler")[0]
    wanted = {leaf[0]: ["leaf", "middle", "deep", "deep", "deep", "deep", "main"], leaf[1] + 1: ["leaf", "middle", "deep", "deep", "deep", "deep", "main"],
              next(k for k in leaf if k > handler) + 2: ["leaf", "middle", "handler"]}
    script = [word for k in wanted for command in (f"goto {k}", "bt", "finish") for word in ("-ex", command)]
    shown = subprocess.run([TRACESTUB, "gdb", "bare.ucir", "--", "-batch", *script], capture_output=True, text=True, timeout=LIMIT, check=False).stdout
    parts = shown.split("Program stopped.")[1:]
    assert len(parts) == len(wanted), shown
    for (k, names), part in zip(wanted.items(), parts):
        pcs = [int(pc, 16) for pc in re.findall(r"^#\d+ +0x([0-9a-f]+) in", part, re.M)]
        mine = [function(pc) for pc in pcs]
        assert mine[:len(names)] == names and (names[-1] == "main" or "<signal handler called>" in part), (k, mine, part)
        assert "main" in mine and all(pc > 0x1000 for pc in pcs[:mine.index("main")]), (k, mine, part)
        out = re.search(r"\n#.*\n(?:Run till exit.*\n)?0x([0-9a-f]+) in (?!.*\n#)", part)
        assert out and function(int(out[1], 16)) == names[1], (k, part)


run_cases()
