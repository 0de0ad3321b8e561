# SPDX-License-Identifier: MIT
"""A command that runs again and again, each time with another call that fails (tests/tools/faults.c)."""
import collections
import contextlib
import os
import pathlib
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

from _tap import IS_SANITIZED, LIMIT, SRCDIR, TRACESTUB

TOOL = pathlib.Path(os.environ.get("TEST_BUILDDIR", SRCDIR)).resolve() / "tests/tools/faults.so"
IS_MEASURED = b"__gcov_exit" in pathlib.Path(TRACESTUB).read_bytes()
SANITIZER_STATUS = 77

Done = collections.namedtuple("Done", "status out err files parts")


def environment(folder):
    return {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": f"{folder}/home", "TRACESTUB_PROGRESS": "1000000",
            "TRACESTUB_GDB": f"{folder}/gdb"}


class Run:
    """One process: what it writes, until it ends or LIMIT has passed."""

    def __init__(self, pid, to, out, err):
        self.pid, self.to, self.end = pid, to, time.monotonic() + LIMIT
        self.said = {out: bytearray(), err: bytearray()}
        self.out, self.err = self.said.values()
        self.poll = select.poll()
        for fd in self.said:
            self.poll.register(fd, select.POLLIN)

    def read_some(self):
        """Whether there may be more."""
        if not self.said:
            return False
        ready = self.poll.poll(max(0, self.end - time.monotonic()) * 1000)
        if not ready:
            raise subprocess.TimeoutExpired(TRACESTUB, LIMIT)
        for fd, _ in ready:
            piece = os.read(fd, 1 << 16)
            self.said[fd] += piece
            if not piece:
                self.close(fd)
        return True

    def hang_up(self):
        """The end of its input."""
        if self.to is not None:
            os.close(self.to)
            self.to = None

    def close(self, fd):
        self.poll.unregister(fd)
        os.close(fd)
        del self.said[fd]


class Desk:
    """A folder with a home in it, and a command there: each run finds the folder as it was at first, a copy of @like."""

    def __init__(self, like, argv):
        self.folder, self.like, self.argv, self.first = tempfile.mkdtemp(prefix="faults-"), like, argv, None
        self.server, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        env = {**environment(self.folder), "LD_PRELOAD": str(TOOL), "FAULT_SERVER": str(theirs.fileno())}
        if IS_SANITIZED:
            env["ASAN_OPTIONS"] = (f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"
                                   f":exitcode={SANITIZER_STATUS}").lstrip(":")
        with theirs:
            self.proc = subprocess.Popen([TRACESTUB, *argv], cwd=self.folder, env=env, pass_fds=[theirs.fileno()])

    def listing(self, folder):
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                yield entry.path
                yield from self.listing(entry.path)
            else:
                st = entry.stat(follow_symlinks=False)
                yield entry.path, st.st_ino, st.st_size, st.st_mtime_ns

    def tidy(self):
        """The folder as it was at first."""
        if self.first is not None and set(self.listing(self.folder)) == self.first:
            return
        for entry in os.scandir(self.folder):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)
        shutil.copytree(self.like, self.folder, dirs_exist_ok=True)
        self.first = set(self.listing(self.folder))

    def start(self, fault, text, counts):
        """A process that reads @text; the number of its calls is written to the descriptor @counts, unless None."""
        (stdin, to), (out, stdout), (err, stderr) = os.pipe(), os.pipe(), os.pipe()
        given = [stdin, stdout, stderr]
        socket.send_fds(self.server, [fault.encode() or b" "], given + ([] if counts is None else [counts]))
        for fd in given:
            os.close(fd)
        pid, = struct.unpack("i", self.server.recv(4))
        with contextlib.suppress(BrokenPipeError):
            os.write(to, text)      # less than a pipe holds
        return Run(pid, to, out, err)

    def run(self, fault="", text=b"", counts=None, is_over=None, client=None):
        """
        Run the command with @text as its input, whose end comes when @is_over (of what it wrote, if there is one); @client
        is called with the path of its socket as soon as it listens.
        """
        run, out = self.start(fault, text, counts), None
        try:
            if client:
                out = self.talk(run, client)
            if not is_over:
                run.hang_up()
            while run.read_some():
                if is_over and is_over(bytes(run.out)):
                    run.hang_up()
        except subprocess.TimeoutExpired:
            os.kill(run.pid, signal.SIGKILL)
            raise
        finally:
            status, = struct.unpack("i", self.server.recv(4))
            run.hang_up()
            for fd in list(run.said):
                run.close(fd)
        files = {p.name: p.read_bytes() for p in pathlib.Path(self.folder).glob("OUT*")}
        parts = sorted(map(str, pathlib.Path(self.folder).rglob("*.part")))
        err = [line for line in run.err.decode(errors="replace").splitlines(True) if "warn: --no-sandbox: " not in line]
        return Done(os.waitstatus_to_exitcode(status), bytes(run.out) if out is None else out, "".join(err), files, parts)

    def talk(self, run, client):
        while b"Listening" not in run.err or not run.err.endswith(b"\n"):
            if not run.read_some():
                return b""
        try:
            return client(f"{self.folder}/SOCKET")
        finally:
            with contextlib.suppress(ProcessLookupError):   # it has ended before
                os.kill(run.pid, signal.SIGTERM)

    def close(self):
        self.server.close()
        self.proc.wait(LIMIT)
        shutil.rmtree(self.folder)
