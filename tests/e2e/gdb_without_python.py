#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A gdb that was built without Python, as Debian's gdb-minimal: gdbinit's commands work, and a monitor command that is
refused says why before gdb's own error.

gdb-minimal cannot be installed beside gdb: TEST_GDB_MINIMAL names the program gdb out of it (apt-get download
gdb-minimal; dpkg -x gdb-minimal_*.deb FOLDER).
"""
import os
import subprocess

from _recording import Recording
from _server import Server
from _tap import SRCDIR, case, run_cases, skip_all

GDB = os.environ.get("TEST_GDB_MINIMAL") or skip_all("TEST_GDB_MINIMAL does not name a gdb without Python")
WALK = Recording("x64_walk")
REFUSED = "Protocol error with Rcmd"        # gdb says this to each monitor command that was not done, and takes no text


def gdb(*commands):
    with Server(WALK.trace) as server:
        commands = f"target remote {server.address}", *commands
        done = subprocess.run([GDB, "-nx", "-batch", *(a for c in commands for a in ("-ex", c)), WALK.exec], timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL)
    return done.stdout.splitlines()


@case
def it_has_no_python():
    assert "Python scripting is not supported in this copy of GDB." in gdb("python print(1)")


@case
def when_and_goto_work():
    lines = gdb(f"source {SRCDIR}/gdbinit", "goto 1234", "reverse-stepi", "when")   # goto says where it has gone
    assert [line.split()[1] for line in lines if line.startswith("position ")] == ["1234", "1233"], lines


@case
def a_refusal_says_why_in_the_line_above():
    lines = gdb("monitor foo", "monitor goto nowhere", f"source {SRCDIR}/gdbinit", "goto nowhere")
    at = [i for i, line in enumerate(lines) if line == REFUSED]
    assert len(at) == 3, lines
    for i, word in zip(at, ("'foo'", "'nowhere'", "'nowhere'")):
        assert word in lines[i - 1] or word.replace("'", '"') in lines[i - 1], lines


run_cases()
