#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A thread that is only looked at is not the one that steps; a breakpoint of a thread outlives a visit to positions
before it.
"""
import os
import re
import shutil
import subprocess

from _record import LIMIT, build, record, recorder
from _tap import TRACESTUB, case, run_cases, skip

STOP = "break add if who == 1 && i == 4", "continue", "delete"
LOOKS = "info threads", "thread apply all -ascending print $sp"


def recording():
    """Made by the first case that wants it."""
    shutil.which("gdb") or skip("no gdb")
    if not os.path.exists("workers.ucir"):
        recorder()
        assert record("workers.ucir", build("workers.c", "workers", "-O0 -g -pthread")).returncode == 0
    return "workers.ucir"


def run(argv, commands):
    env = {k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"}
    return subprocess.run([*argv, "-batch", *(a for c in commands for a in ("-ex", c))], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL, env=env).stdout


def gdb(*commands):
    return run([TRACESTUB, "gdb", recording(), "--exec", "workers", "--", "-nx"], commands)


def bare(*commands):
    """In a gdb without tracestub's commands."""
    server = f"target extended-remote | {TRACESTUB} serve --once --quiet - {recording()} --exec workers"
    return run(["gdb", "-nx"], ("file workers", server, *commands))


def places(said):
    """Thread and pc after each step."""
    return re.findall(r"^\$\d+ = (\d+)\n=> (0x[0-9a-f]+)", said, re.M)


STEP_BACK = "reverse-stepi", "print $_thread", "x/i $pc"


@case
def a_thread_that_was_looked_at_is_not_the_one_that_steps_back():
    """bare: there "bs" follows a "Hc0", which leaves the thread to the server."""
    for door in gdb, bare:
        right = places(door(*STOP, *STEP_BACK * 2))
        assert len(right) == 2 and len({thread for thread, _ in right}) == 1, right
        for look in LOOKS:
            assert places(door(*STOP, look, *STEP_BACK * 2)) == right, (door, look)


@case
def a_thread_that_was_selected_steps_back_itself():
    said = gdb(*STOP, "thread 1", *STEP_BACK, "show scheduler-locking")
    assert [thread for thread, _ in places(said)] == ["1"], said
    assert '"replay"' in said, said


@case
def when_names_the_thread_that_stopped():
    looked = gdb(*STOP, "when", "thread apply 1 print $sp", "when")
    first, second = re.findall(r"^position .*", looked, re.M)
    assert first == second, looked


@case
def a_breakpoint_of_a_thread_is_kept_before_the_thread_begins():
    said = gdb(*STOP, "eval \"break add thread %d\", $_thread", "goto begin", "info threads", "info breakpoints",
               "continue", "print i", "print who")
    assert "deleted" not in said.split("detached")[0].rsplit("$", 1)[0], said
    assert re.search(r"^  \d .*\(?begins at position \d+\)? +<unavailable>", said, re.M), said    # without brackets since gdb 17
    assert re.findall(r"^\$\d+ = (\d+)$", said, re.M)[-2:] == ["0", "1"], said


run_cases()
