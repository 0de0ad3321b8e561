# SPDX-License-Identifier: MIT
"""A stock gdb at the other end of a pipe, in its own words.

    with Gdb("x64_walk") as g:
        g("break bump")
        g("continue")
        g.expect(r"Breakpoint 1, bump \\(by=34\\)")

Each call sends a command line and returns what gdb prints until it takes the
next one; expect() looks at what was printed last. With a recording's name a
server of its own comes along; with server= it uses one that runs already.
"""
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from _recording import Recording
from _server import LIMIT, Server

SETTINGS = ["set prompt", "set confirm off", "set pagination off", "set width 0", "set height 0",
            "set style enabled off", "set debuginfod enabled off", "set print thread-events off",
            "set print address on", "set auto-load off"]


class Gdb:
    def __init__(self, name, *options, server=None, connect="target remote", has_exec=True, argv=None, env=None,
                 log=False):
        self.recording = Recording(name) if isinstance(name, str) else name
        self.folder = tempfile.mkdtemp(prefix="gdb-")
        self.recording.copy_sources(pathlib.Path(self.folder))
        self.log_name = os.path.join(self.folder, "packets")
        self.n_sent, self.text, self.transcript = 0, "", []
        argv = argv or [self.recording.gdb(), "-nx", "-nh", "-q", *([self.recording.exec] if has_exec else [])]
        self.server = self.own_server = None
        if server is not None:
            self.server = server
        elif connect:
            self.server = self.own_server = Server(self.recording.trace, *options)
        self.start_gdb(argv, env or {})
        self("\n".join(SETTINGS))
        if log:     # for packets(); gdb writes it a character at a time, which takes more than what the session does
            self(f"set remotelogfile {self.log_name}")
        if connect:
            self.connected = self(f"{connect} {self.server.address}")

    # ---- the process

    def start_gdb(self, argv, env):
        env = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "dumb", **env}
        env.pop("DEBUGINFOD_URLS", None)
        self.proc = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     cwd=self.folder, env=env, start_new_session=True)
        self.output = queue.Queue()
        threading.Thread(target=self.read_output, daemon=True).start()

    def read_output(self):
        while data := self.proc.stdout.read1(65536):
            self.output.put(data.decode(errors="replace"))
        self.output.put(None)

    # ---- commands

    def __call__(self, command, timeout=LIMIT):
        """Give gdb a command (or several lines), return what it prints."""
        self.start(command)
        return self.finish(timeout)

    def start(self, command):
        """Give gdb a command and do not wait."""
        self.n_sent += 1
        self.transcript.append(f"(gdb) {command}\n")
        try:
            self.proc.stdin.write(f"{command}\necho \\n<{self.n_sent}>\\n\n".encode())
            self.proc.stdin.flush()
        except BrokenPipeError:
            raise AssertionError(f"gdb has ended\n{self}") from None

    def finish(self, timeout=LIMIT):
        """Wait for the end of a command that was started."""
        end, mark = time.monotonic() + timeout, f"\n<{self.n_sent}>\n"
        pieces, window = [], ""     # only what is new is searched: a walk prints megabytes
        while mark not in window:
            try:
                piece = self.output.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no answer from gdb in {timeout} s: {''.join(pieces)!r}\n{self}") from None
            if piece is None:
                raise AssertionError(f"gdb has ended: {''.join(pieces)!r}\n{self}")
            pieces.append(piece)
            window = window[-len(mark):] + piece
        self.text = "".join(pieces).removesuffix(mark).lstrip("\n")
        self.transcript.append(self.text + "\n")
        assert "Python Exception" not in self.text, f"gdbinit failed\n{self}"
        return self.text

    def interrupt(self):
        """^C, as from a terminal."""
        self.proc.send_signal(signal.SIGINT)

    def expect(self, pattern):
        """What gdb printed last has this regular expression in it. Returns the match."""
        found = re.search(pattern, self.text, re.M)
        assert found, f"expected {pattern!r}, got\n{self.text}\n{self}"
        return found

    def expect_not(self, pattern):
        assert not re.search(pattern, self.text, re.M), f"did not expect {pattern!r}, got\n{self.text}\n{self}"

    # ---- values

    def value(self, expression):
        """An integer, as gdb computes it."""
        self(f"output/d {expression}")
        try:
            return int(self.text)
        except ValueError:
            raise AssertionError(f"{expression}: {self.text}\n{self}") from None

    def address(self, expression):
        return self.value(f"(unsigned long) ({expression})")

    def position(self):
        """The session's position, as the server reports it; gdb's pc is the oracle's there."""
        self("monitor when")
        k = int(self.expect(r"position (\d+)")[1])
        pc, expected = self.address("$pc"), self.recording.pcs()[k]
        assert pc == expected, f"position {k}: pc {pc:#x}, but the oracle has {expected:#x}\n{self}"
        return k

    def positions(self, expression):
        """Where the oracle executes an address."""
        return self.recording.positions(self.address(expression))

    def packets(self, prefix=""):
        """What gdb, started with log=True, has sent so far, without frames; of those that begin so."""
        with open(self.log_name, encoding="latin-1") as log:
            sent = re.findall(r"\$(.*?)#[0-9a-f][0-9a-f]", "".join(x[2:-1] for x in log if x.startswith("w ")))
        return [p for p in sent if p.startswith(prefix)]

    def __str__(self):
        server = self.server.said() if self.server else ""
        return "session:\n" + "".join(self.transcript)[-6000:] + f"\nserver: {server}"

    # ---- the end

    def close(self):
        """gdb exits on `quit`, and does not complain."""
        if self.proc.poll() is None:
            self.proc.stdin.write(b"quit\n")
            self.proc.stdin.close()
        try:
            status = self.proc.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"gdb does not quit\n{self}") from None
        assert status == 0, f"gdb ended with status {status}\n{self}"
        if self.own_server:
            self.own_server.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        try:
            if exc[0] is None:
                self.close()
        finally:
            if self.proc.poll() is None:
                os.killpg(self.proc.pid, signal.SIGKILL)
                self.proc.wait()
            if self.own_server and self.own_server.is_alive():
                self.own_server.proc.kill()
                self.own_server.proc.wait()
            shutil.rmtree(self.folder, ignore_errors=True)
