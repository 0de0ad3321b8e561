#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A watchpoint stops where its bytes are mapped, mapped over and unmapped, both ways; not where they get other rights."""
import os
import re
import shutil
import subprocess

from _record import LIMIT, SOURCES, build, record, recorder
from _rsp import Rsp
from _server import Server
from _tap import TRACESTUB, case, run_cases, skip

FORWARDS = ["<unreadable>", "0", "97", "98", "0", "99", "<unreadable>"]


def recording():
    if not os.path.exists("unmapped.ucir"):
        recorder()
        assert record("unmapped.ucir", build("unmapped.c", "unmapped", "-O0 -g -w -static")).returncode == 0
    return "unmapped.ucir"


def gdb(*commands):
    shutil.which("gdb") or skip("no gdb")
    env = {k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"}
    return subprocess.run([TRACESTUB, "gdb", recording(), "--exec", "unmapped", "--", "-nx", "-batch",
                           *(a for c in commands for a in ("-ex", c))], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=LIMIT, stdin=subprocess.DEVNULL, env=env).stdout


def line(text):
    lines = (SOURCES / "unmapped.c").read_text().splitlines()
    return 1 + next(n for n, one in enumerate(lines) if text in one)


WATCH = (f"break {line('puts')}", "continue", "delete", "print place + 8", "watch *(char *)$")


def pairs(said):
    values = re.findall(r"^(?:Old|New) value = (<unreadable>|-?\d+)", said, re.M)
    return list(zip(values[::2], values[1::2]))


@case
def each_change_is_a_stop_backwards():
    said = gdb(*WATCH, *["reverse-continue"] * 6)
    assert pairs(said) == list(zip(FORWARDS[::-1], FORWARDS[-2::-1])), said


@case
def each_change_is_a_stop_forwards():
    said = gdb(*WATCH, "goto begin", *["continue"] * 6)
    assert pairs(said)[-6:] == list(zip(FORWARDS, FORWARDS[1:])), said


@case
def other_rights_are_no_stop():
    """By raw packets, since gdb drops a stop at which the value is the same."""
    place = int(re.search(r"= 0x([0-9a-f]+)", gdb(*WATCH[:4]))[1], 16)
    with Server(recording()) as server, Rsp(server.address) as r:
        r.ask("qSupported:swbreak+;hwbreak+")
        assert r.ask(f"Z2,{place:x},1") == "OK"
        stops = []
        while "watch:" in (stop := r.ask("c")):
            stops.append(stop)
            assert len(stops) < 20
        assert len(stops) == 6, stops


run_cases()
