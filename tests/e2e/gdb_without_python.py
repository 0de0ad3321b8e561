#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A gdb that was built without Python, as Debian's gdb-minimal: gdbinit's commands work, and a monitor command that is
refused says why before gdb's own error.

Debian's gdb-minimal cannot be installed beside gdb: it is downloaded once and unpacked into the folder of _cache.py.
"""
import os
import subprocess
import tempfile

from _cache import cache_folder
from _recording import Recording
from _server import Server
from _tap import SRCDIR, case, run_cases, skip_all

DOWNLOAD_LIMIT = 120     # seconds
NO_PROGRAM = "this system's gdb-minimal has no program"
WALK = Recording("x64_walk")
REFUSED = "Protocol error with Rcmd"        # gdb says this to each monitor command that was not done, and takes no text


def gdb_minimal():
    """The program. Skips all cases where it is not there and cannot be had."""
    folder = cache_folder() / "gdb-minimal"
    program = folder / "usr/bin/gdb"
    if program.is_file():
        return program
    if (folder / "usr").is_dir():       # as Debian 13's
        skip_all(NO_PROGRAM)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as new:
            for command in ["apt-get", "download", "gdb-minimal"], ["sh", "-c", "dpkg-deb -x gdb-minimal_*.deb ."]:
                subprocess.run(command, cwd=new, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                               timeout=DOWNLOAD_LIMIT)
            folder.mkdir(exist_ok=True)
            os.rename(f"{new}/usr", folder / "usr")
    except (OSError, subprocess.SubprocessError) as why:
        said = (getattr(why, "stderr", None) or str(why)).splitlines() or ["?"]
        skip_all(f"gdb-minimal is not downloaded: {said[0]}")
    return program if program.is_file() else skip_all(NO_PROGRAM)


GDB = gdb_minimal()


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
