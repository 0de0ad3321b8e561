# SPDX-License-Identifier: MIT
"""A strict client of the Model Context Protocol over stdio.

Each message from the server is checked: one line, JSON, "jsonrpc", an id that was asked, result or error but not both.
"""
import collections
import contextlib
import json
import os
import select
import subprocess
import time

from _tap import LIMIT, TRACESTUB

TOOLS = {"overview", "where", "ask", "why", "flows", "source", "diff", "sql", "mark", "recordings"}
INFO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def of_tool(tool, arguments):
    """The parameters of tools/call."""
    if tool in TOOLS:
        return {"name": tool, "arguments": arguments}
    return {"name": "ask", "arguments": {"question": tool.replace("_", "-"), **arguments}}


class Client:
    def __init__(self, *argv, handshake=True, stderr=None):
        self.proc = subprocess.Popen([TRACESTUB, "mcp", *([] if stderr else ["--quiet"]), *argv], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=stderr)
        self.n, self.asked = 0, {}
        self.lines, self.rest = collections.deque(), []     # what came: whole lines, and pieces of the next one
        self.kept, self.keeps = [], False
        if handshake:
            result = self.result("initialize", INFO)
            assert result["protocolVersion"] == "2025-06-18" and "tools" in result["capabilities"], result
            assert result["serverInfo"]["name"] == "tracestub", result
            self.notify("notifications/initialized")

    def write(self, text):
        self.kept.append(text.encode() + b"\n")
        if not self.keeps:
            self.send()

    def send(self):
        """A server that is not read from stops to read, too: so what it answers meanwhile is taken."""
        data, self.kept = memoryview(b"".join(self.kept)), []
        while data:
            can_read, can_write, _ = select.select([self.proc.stdout], [self.proc.stdin], [])
            if can_read:
                self.take()
            if can_write:
                data = data[os.write(self.proc.stdin.fileno(), data[:select.PIPE_BUF]):]

    def take(self):
        piece = os.read(self.proc.stdout.fileno(), 65536)
        assert piece, "the server has ended"
        *whole, rest = piece.split(b"\n")
        if whole:
            whole[0] = b"".join([*self.rest, whole[0]])
            self.lines.extend(whole)
            self.rest = []
        self.rest.append(rest)

    @contextlib.contextmanager
    def together(self):
        """The messages written meanwhile go in one write: the server has all of them before it answers the first."""
        self.keeps = True
        yield
        self.keeps = False
        self.send()

    def notify(self, method, **params):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}))

    def ask(self, method, params=None):
        self.n += 1
        message = {"jsonrpc": "2.0", "id": self.n, "method": method}
        self.write(json.dumps(message if params is None else {**message, "params": params}))
        return self.n

    def line(self, timeout=LIMIT):
        """What the next line says; None if none comes in time."""
        end = time.monotonic() + timeout
        while not self.lines:
            if not select.select([self.proc.stdout], [], [], max(0, end - time.monotonic()))[0]:
                return None
            self.take()
        return json.loads(self.lines.popleft())

    def message(self, timeout=LIMIT):
        """The next message; None if none comes in time."""
        found = self.line(timeout)
        assert found is None or (found["jsonrpc"] == "2.0" and ("result" in found) != ("error" in found)), found
        return found

    def answers(self):
        """The answers to a batch."""
        found = self.line()
        assert isinstance(found, list) and found, found
        return found

    def answer(self, method, params=None):
        number = self.ask(method, params)
        found = self.message()
        assert found and found["id"] == number, (found, number)
        return found

    def result(self, method, params=None):
        found = self.answer(method, params)
        assert "result" in found, found
        return found["result"]

    def error(self, method, params=None):
        found = self.answer(method, params)
        assert "error" in found and found["error"]["message"], found
        return found["error"]["code"]

    def call(self, tool, **arguments):
        """What a tool answers, or a verb, by its name with '_' for '-': that is one of the tool ask."""
        return self.result("tools/call", of_tool(tool, arguments))

    def rows(self, tool, **arguments):
        """Rows and end; text and structure say the same."""
        result = self.call(tool, **arguments)
        assert not result["isError"] and [c["type"] for c in result["content"]] == ["text"], result
        structure = result["structuredContent"]
        assert json.loads(result["content"][0]["text"].split("\nThere are more rows")[0]) == structure, result
        return structure["rows"], structure["end"]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if exc[0]:
            self.proc.kill()
        self.proc.stdin.close()
        status = self.proc.wait(LIMIT)
        assert exc[0] or status == 0, status
