# SPDX-License-Identifier: MIT
"""gdb's machine interface: a strict parser of what it prints, and a session.

    with Mi("x64_walk") as mi:
        mi("-break-insert bump")["bkpt"]["func"]        "bump"
        mi.run("-exec-continue --reverse")["reason"]    "no-history"

parse_line() takes the grammar of gdb's manual ("GDB/MI Output Syntax") to the letter. What the grammar does not allow
is a MiError with the line and the column, because a front end may fail at it; so is a tuple with a name twice. A value
is a str, a dict (tuple), or a list of values or of (name, value).
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

from _recording import Recording
from _server import LIMIT, Server

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "e": "\033", '"': '"',
           "\\": "\\"}
OCTAL = re.compile(r"[0-3][0-7]{2}")
RESULT_CLASSES = "done", "running", "connected", "error", "exit"
STREAMS = {"~": "console", "@": "target", "&": "log"}
ASYNC = {"*": "exec", "+": "status", "=": "notify"}


class MiError(Exception):
    """A line that is not of the grammar."""


class Line:
    """One line, read from left to right."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def error(self, expected):
        raise MiError(f"column {self.at}: expected {expected}: {self.text!r}")

    def peek(self):
        return self.text[self.at:self.at + 1]

    def take(self, character):
        if self.peek() != character or not character:
            self.error(repr(character))
        self.at += 1

    def match(self, pattern, expected):
        found = pattern.match(self.text, self.at) or self.error(expected)
        self.at = found.end()
        return found[0]

    def c_string(self):
        """What stands in quotes: bytes that are not ASCII are written as \\ooo."""
        self.take('"')
        data = bytearray()
        while self.peek() != '"':
            data += self.character()
        self.take('"')
        return data.decode(errors="surrogateescape")

    def character(self):
        c = self.peek()
        if not c or ord(c) < 0x20 or ord(c) == 0x7f:
            self.error("a printable character")
        self.at += 1
        if c != "\\":
            return c.encode()
        if octal := OCTAL.match(self.text, self.at):
            self.at = octal.end()
            return bytes([int(octal[0], 8)])
        c = self.peek()
        if c not in ESCAPES or not c:
            self.error("an escape")
        self.at += 1
        return ESCAPES[c].encode()

    def value(self):
        if self.peek() == '"':
            return self.c_string()
        if self.peek() == "{":
            return self.tuple()
        if self.peek() == "[":
            return self.list()
        return self.error("a value")

    def result(self):
        name = self.match(NAME, "a name")
        self.take("=")
        return name, self.value()

    def sequence(self, end, item):
        """Items with commas between them, until @end."""
        items = []
        if self.peek() != end:
            items.append(item())
            while self.peek() == ",":
                self.take(",")
                items.append(item())
        self.take(end)
        return items

    def tuple(self):
        self.take("{")
        return self.named(self.sequence("}", self.result))

    def list(self):
        self.take("[")
        return self.sequence("]", self.value if self.peek() in ('"', "{", "[") else self.result)

    def named(self, pairs):
        found = dict(pairs)
        if len(found) != len(pairs):
            self.error("names that differ")
        return found

    def results(self):
        """("," result)* to the end of the line."""
        pairs = []
        while self.at < len(self.text):
            self.take(",")
            pairs.append(self.result())
        return self.named(pairs)


def parse_line(text):
    """("prompt",), (stream, text), or (kind, token, class, results) with kind "result", "exec", "status" or "notify"."""
    if text == "(gdb) ":
        return ("prompt",)
    line = Line(text)
    if text[:1] in STREAMS and text:
        line.take(text[0])
        said = line.c_string()
        if line.peek():
            line.error("the end of the line")
        return STREAMS[text[0]], said
    token = re.match(r"\d*", text)[0]
    line.at, kind = len(token), text[len(token):len(token) + 1]
    if kind != "^" and kind not in ASYNC or not kind:
        line.error("a record")
    line.take(kind)
    name = line.match(NAME, "a class")
    if kind == "^" and name not in RESULT_CLASSES:
        line.error(f"one of {RESULT_CLASSES}")
    return "result" if kind == "^" else ASYNC[kind], int(token) if token else None, name, line.results()


class Refused(Exception):
    """^error: what gdb says."""


class Mi:
    def __init__(self, name, *options, version=3, is_async=False):
        self.recording = Recording(name) if isinstance(name, str) else name
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mi-"))
        self.recording.copy_sources(self.folder)
        self.server = Server(self.recording.trace, *options)
        env = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "dumb"}
        env.pop("DEBUGINFOD_URLS", None)
        self.proc = subprocess.Popen([self.recording.gdb(), "-nx", "-q", f"--interpreter=mi{version}",
                                      self.recording.exec], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True, cwd=self.folder, env=env,
                                     start_new_session=True)
        self.lines, self.token, self.transcript = queue.Queue(), 0, []
        self.events, self.said = [], ""     # of the last command: other records, what the streams said
        threading.Thread(target=self.read_output, daemon=True).start()
        self.wait_for("prompt")
        self("-gdb-set auto-load off")
        self("-gdb-set debuginfod enabled off")
        self(f"-gdb-set mi-async {'on' if is_async else 'off'}")
        self("-list-features")

    def read_output(self):
        for line in self.proc.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def next_record(self):
        try:
            line = self.lines.get(timeout=LIMIT)
        except queue.Empty:
            line = None
        assert line is not None, f"nothing more from gdb\n{self}"
        self.transcript.append(line)
        return parse_line(line)

    def wait_for(self, kind, name=None):
        """The next record of that kind and class; the others are kept."""
        while True:
            record = self.next_record()
            if record[0] == kind and (name is None or record[2] == name):
                return record
            if record[0] in STREAMS.values():
                self.said += record[1]
            else:
                self.events.append(record)

    def __call__(self, command):
        """Give gdb a command, return its results. Raises Refused."""
        self.token += 1
        self.events, self.said = [], ""
        self.transcript.append(f"> {command}")
        self.proc.stdin.write(f"{self.token}{command}\n")
        self.proc.stdin.flush()
        _, token, name, results = self.wait_for("result")
        assert token == self.token, f"the answer to {token}, not {self.token}\n{self}"
        if name == "error":
            raise Refused(results["msg"])
        return results

    def run(self, command):
        """Let the program run, return how it stopped."""
        self(command)
        return self.wait_for("exec", "stopped")[3]

    def connect(self):
        return self(f"-target-select remote {self.server.address}")

    def console(self, command):
        """A command of gdb's own language: what it printed."""
        self(f'-interpreter-exec console "{command}"')
        return self.said

    def position(self):
        """The session's position, as the server reports it; gdb's pc is the oracle's there."""
        k = int(re.search(r"position (\d+)", self.console("monitor when"))[1])
        pc = int(self("-data-evaluate-expression --thread 1 (long)$pc")["value"])
        assert pc == self.recording.pcs()[k], f"position {k}: pc {pc:#x}\n{self}"
        return k

    def __str__(self):
        return "\n".join(self.transcript)[-5000:] + f"\nserver: {self.server.said()}"

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        try:
            if exc[0] is None:
                self("-gdb-exit")
                assert self.proc.wait(LIMIT) == 0, f"gdb ended with status {self.proc.returncode}\n{self}"
                self.server.close()
        finally:
            if self.proc.poll() is None:
                os.killpg(self.proc.pid, signal.SIGKILL)
                self.proc.wait()
            if self.server.is_alive():
                self.server.proc.kill()
                self.server.proc.wait()
            shutil.rmtree(self.folder, ignore_errors=True)
