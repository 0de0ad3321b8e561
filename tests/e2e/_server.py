# SPDX-License-Identifier: MIT
"""tracestub as a process of its own.

    with Server("TRACE", "--exec", "PROG") as server:
        server.address      "127.0.0.1:40123", a port that the system chose
"""
import os
import re
import signal
import subprocess
import tempfile
import time

from _tap import LIMIT, TRACESTUB


class Server:
    def __init__(self, trace, *options, comm="127.0.0.1:0"):
        self.err = tempfile.TemporaryFile("w+b")
        self.proc = subprocess.Popen([TRACESTUB, "serve", comm, trace, *options], stdin=subprocess.DEVNULL,
                                     stdout=self.err, stderr=self.err)
        self.address = self.wait_until_it_listens(comm)
        self.pid = self.proc.pid

    def said(self):
        """All that it has printed.  Read by place: the server writes where the file's offset is, which both share."""
        return os.pread(self.err.fileno(), os.fstat(self.err.fileno()).st_size, 0).decode(errors="replace")

    def wait_until_it_listens(self, comm):
        pattern = re.compile(r"(\d+\.\d+\.\d+\.\d+:[1-9]\d*)" if ":" in comm else f"({re.escape(comm)})")
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            if found := pattern.search(self.said()):
                return found[1]
            if self.proc.poll() is not None:
                break
            time.sleep(0.005)
        self.proc.kill()
        self.proc.wait()
        raise AssertionError(f"the server does not listen: {self.said()}")

    def is_alive(self):
        return self.proc.poll() is None

    def wait(self, timeout=LIMIT):
        """The status with which it ends by itself."""
        return self.proc.wait(timeout)

    def close(self):
        """The server is still running, and ends on request."""
        was_alive = self.is_alive()
        if was_alive:
            self.proc.send_signal(signal.SIGTERM)
        try:
            status = self.proc.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.proc.kill()
            self.proc.wait()
            raise AssertionError(f"the server does not end: {self.said()}") from None
        assert status == 0, f"the server ended with status {status}: {self.said()}"
        self.err.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if exc[0] is None:
            self.close()
        elif self.is_alive():
            self.proc.kill()
            self.proc.wait()
