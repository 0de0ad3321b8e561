#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""info threads, thread, info inferiors: one thread, which says where in the recording it stands; two threads, of
which one is stepped.
"""
import os
import re
import shutil
import subprocess

from _gdb import Gdb
from _record import LIMIT, build, record, recorder
from _sentences import END_OF_HISTORY
from _tap import TRACESTUB, case, run_cases, skip


@case
def one_thread_with_its_position():
    with Gdb("x64_walk") as g:
        last = len(g.recording.pcs()) - 1
        g("stepi 123")
        g("info threads")
        g.expect(rf"^\* 1 +Thread .*123.*{last}")
        g("thread 1")
        g.expect(r"\[Switching to thread 1")
        g("thread apply all backtrace 1")
        g.expect("#0 ")
        g("info inferiors")
        g.expect(r"^\* 1 +(process|Remote)")


def threads_of(text):
    """Thread and position that each "when" told."""
    return [(m[2], int(m[1])) for m in re.finditer(r"^position (\d+) of \d+ .*, thread (\S+), pc", text, re.M)]


def gdb(*commands):
    """What it prints of the recording two.ucir."""
    return subprocess.run([TRACESTUB, "gdb", "two.ucir", "--exec", "two", "--", "-nx", "-batch",
                           *(a for c in commands for a in ("-ex", c))], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=LIMIT, stdin=subprocess.DEVNULL,
                          env={k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"}).stdout


@case
def a_step_is_of_its_thread_and_ends_where_that_begins():
    """errno.c: other() is called in the second thread."""
    recorder()
    shutil.which("gdb") or skip("no gdb")
    assert record("two.ucir", build("errno.c", "two")).returncode == 0
    # Back to the thread's beginning, before which the first thread ran.
    said = gdb("break other", "continue", "when", "reverse-stepi 5000", "when", "reverse-stepi", "when",
               "with scheduler-locking on -- stepi", "when", "with scheduler-locking on -- reverse-stepi", "when",
               "break told", "reverse-continue", "when")
    (second, at), begin, again, after, back, before = threads_of(said)[:6]
    assert begin == again == back == (second, begin[1]) and 0 < begin[1] < at, said
    assert after == (second, begin[1] + 1), said
    assert "This thread begins here" in said and re.search(END_OF_HISTORY, said), said
    assert before[0] != second and 0 < before[1] < begin[1], said       # told() in the first thread: its history is there
    shown = gdb(f"goto {begin[1] - 1}", "when")
    assert set(threads_of(shown)) == {(before[0], begin[1] - 1)}, shown


run_cases()
