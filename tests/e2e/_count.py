# SPDX-License-Identifier: MIT
"""How many instructions a command executes: the same number in each run, however busy the machine is.

    counter = Counter("info", small, *OPTIONS)      # one run that is not counted
    counter.count("info", path, *OPTIONS)
    counter.close()

One process under cachegrind makes all runs, each in a child (tests/tools/forks.c): the start under valgrind costs more than
most runs do.
"""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile

from _tap import LIMIT, SRCDIR, TRACESTUB

FORKS = pathlib.Path(os.environ.get("TEST_BUILDDIR", SRCDIR)) / "tests/tools/forks.so"


def can_count():
    return shutil.which("valgrind") and FORKS.exists()


class Counter:
    def __init__(self, *argv):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        ours, its = socket.socketpair()
        ours.settimeout(LIMIT)
        self.lines = ours.makefile("rw")
        self.socket = ours
        self.proc = subprocess.Popen(
            ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", f"--log-file={self.folder}/%p",
             TRACESTUB, *argv], env={**os.environ, "LD_PRELOAD": str(FORKS)}, stdin=its, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        its.close()

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.proc.wait(LIMIT)
        shutil.rmtree(self.folder)

    def count(self, *argv):
        self.lines.write("\t".join(map(str, argv)) + "\n")
        self.lines.flush()
        child, status = self.lines.readline().split()
        assert status == "0", (argv, status)
        said = (self.folder / child).read_text()
        return int(re.search(r"I +refs: +([\d,]+)", said)[1].replace(",", ""))
