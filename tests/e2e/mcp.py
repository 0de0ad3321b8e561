#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracestub mcp: a client that speaks the Model Context Protocol strictly, over stdio.

Each message from the server is checked: one line, JSON, "jsonrpc", an id that was asked, result or error but not both.
What the tools answer is compared with `tracestub query --json`, which has doors of its own tests.
"""
import json
import os
import select
import signal
import subprocess
import time

from _programs import Program
from _tap import DATA, TRACESTUB, case, run_cases

LIMIT = 60
WALK, WALK_ELF = str(DATA / "usercorn/x64_walk.ucir"), str(DATA / "usercorn/x64_walk.elf")
INFO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


class Client:
    def __init__(self, *argv, handshake=True):
        self.proc = subprocess.Popen([TRACESTUB, "mcp", "--quiet", *argv], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE)
        self.n, self.asked, self.rest = 0, {}, b""
        if handshake:
            result = self.result("initialize", INFO)
            assert result["protocolVersion"] == "2025-06-18" and "tools" in result["capabilities"], result
            assert result["serverInfo"]["name"] == "tracestub", result
            self.notify("notifications/initialized")

    def write(self, text):
        self.proc.stdin.write(text.encode() + b"\n")
        self.proc.stdin.flush()

    def notify(self, method, **params):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}))

    def ask(self, method, params=None):
        self.n += 1
        message = {"jsonrpc": "2.0", "id": self.n, "method": method}
        self.write(json.dumps(message if params is None else {**message, "params": params}))
        return self.n

    def message(self, timeout=LIMIT):
        """The next message; None if none comes in time."""
        end = time.monotonic() + timeout
        while b"\n" not in self.rest:
            if not select.select([self.proc.stdout], [], [], max(0, end - time.monotonic()))[0]:
                return None
            piece = os.read(self.proc.stdout.fileno(), 65536)
            assert piece, "the server has ended"
            self.rest += piece
        line, _, self.rest = self.rest.partition(b"\n")
        found = json.loads(line)
        assert found["jsonrpc"] == "2.0" and ("result" in found) != ("error" in found), found
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
        return self.result("tools/call", {"name": tool, "arguments": arguments})

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


def query(trace, *words):
    done = subprocess.run([TRACESTUB, "query", "--quiet", trace, *words, "--json"], capture_output=True, text=True,
                          timeout=LIMIT)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return lines[:-1], lines[-1]


@case
def tools_are_listed_with_their_schemas():
    with Client(WALK) as c:
        tools = {t["name"]: t for t in c.result("tools/list")["tools"]}
        for name in "recordings", "executions", "calls", "stack", "events", "threads", "maps", "goto", "when":
            assert name in tools, sorted(tools)
        for t in tools.values():
            schema = t["inputSchema"]
            assert t["description"] and schema["type"] == "object" and schema["additionalProperties"] is False, t
            assert set(schema["required"]) <= set(schema["properties"]), t
            assert all(p["type"] and p["description"] for p in schema["properties"].values()), t
        assert tools["executions"]["inputSchema"]["required"] == ["what"]
        assert "-" not in "".join(tools)
    with Client(WALK, str(DATA / "usercorn/x86_walk.ucir")) as c:
        for t in c.result("tools/list")["tools"]:
            assert t["name"] == "recordings" or "recording" in t["inputSchema"]["required"], t


@case
def a_tool_answers_what_query_answers():
    with Client(WALK, "--exec", WALK_ELF) as c:
        for tool, arguments, words in [
                ("executions", {"what": "fib"}, ["executions", "fib", "first", "100"]),
                ("executions", {"what": "fib", "last": 3}, ["executions", "fib", "last", "3"]),
                ("executions", {"what": "fib", "in": "1000:3000"}, ["executions", "fib", "in", "1000:3000", "first", "100"]),
                ("calls", {"what": "f*", "depth": 4, "first": 5}, ["calls", "f*", "depth", "4", "first", "5"]),
                ("events", {"what": "syscall"}, ["events", "syscall", "first", "100"]),
                ("stack", {"at": 3000}, ["stack", "at", "3000"]),
                ("stack", {"at": "50%"}, ["stack", "at", "50%"]),
                ("threads", {}, ["threads"])]:
            assert c.rows(tool, **arguments) == query(WALK, *words, "--exec", WALK_ELF), (tool, arguments)


@case
def without_a_bound_the_first_hundred_rows_are_shown():
    with Client(WALK) as c:
        rows, end = c.rows("executions", what="0x400000:0x500000")
        assert len(rows) == 100 and end["complete"] is False and end["total"] == 7480, end
        text = c.call("executions", what="0x400000:0x500000")["content"][0]["text"]
        assert "There are more rows" in text, text[-200:]


@case
def bad_calls_are_errors_and_bad_questions_are_results():
    with Client(WALK) as c:
        for params in ({"name": "nothing"}, {}, {"name": "executions"}, {"name": "executions", "arguments": []},
                       {"name": "executions", "arguments": {"what": "0x401000", "extra": 1}},
                       {"name": "executions", "arguments": {"what": 5}},
                       {"name": "executions", "arguments": {"what": "0x401000", "first": "5"}},
                       {"name": "executions", "arguments": {"what": "0x401000", "first": -1}},
                       {"name": "threads", "arguments": {"what": "x"}},
                       {"name": "recordings", "arguments": {"x": 1}}):
            assert c.error("tools/call", params) == -32602, params
        for what in "nosuch", "0x401000 first", "":
            result = c.call("executions", what=what)
            assert result["isError"] and "example:" in result["content"][0]["text"], result
            assert "structuredContent" not in result, result
        result = c.call("executions", what="0x401000", recording="other")
        assert result["isError"] and "other" in result["content"][0]["text"], result


@case
def messages_that_are_none_are_errors():
    with Client(WALK, handshake=False) as c:
        for line, code in (("{", -32700), ("[]", -32600), ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
                           ('{"id":1,"method":"ping"}', -32600), ('{"jsonrpc":"2.0","id":1}', -32600),
                           ('{"jsonrpc":"2.0","id":1,"method":"none"}', -32601),
                           ('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}', -32602)):
            c.write(line)
            assert c.message()["error"]["code"] == code, line
        c.write('{"jsonrpc":"2.0","method":"notifications/none"}')      # never answered
        assert c.result("ping") == {}
        assert c.result("initialize", {**INFO, "protocolVersion": "2024-11-05"})["protocolVersion"] == "2024-11-05"
        assert c.result("initialize", {**INFO, "protocolVersion": "1999-01-01"})["protocolVersion"] == "2025-06-18"


@case
def each_recording_has_its_own_position():
    pie = Program("pie", "ucir")
    with Client(WALK, pie.trace) as c:
        rows, _ = c.rows("recordings")
        assert rows == [{"recording": WALK, "positions": 7480}, {"recording": pie.trace, "positions": 15484}], rows
        c.rows("goto", recording="x64_walk.ucir", what="1000")
        c.rows("goto", recording=pie.trace, what="50%")
        for name, position in ("x64_walk.ucir", 1000), ("pie.ucir", 7742):
            rows, _ = c.rows("when", recording=name)
            assert rows[0]["position"] == position, rows
        c.rows("goto", recording="x64_walk.ucir", what="+5")
        assert c.rows("when", recording="x64_walk.ucir")[0][0]["position"] == 1005
        c.rows("back", recording="x64_walk.ucir")
        assert c.rows("when", recording="x64_walk.ucir")[0][0]["position"] == 1000
        c.rows("forward", recording="x64_walk.ucir")
        assert c.rows("when", recording="x64_walk.ucir")[0][0]["position"] == 1005
        assert c.error("tools/call", {"name": "when", "arguments": {}}) == -32602


@case
def a_cancelled_call_is_not_answered():
    """A call that waits for reading: the server is stopped while the trace is still being read."""
    with Client(WALK) as c:
        number = c.ask("tools/call", {"name": "executions", "arguments": {"what": "0x400000:0x500000", "first": 7480}})
        c.notify("notifications/cancelled", requestId=number)
        c.notify("notifications/cancelled", requestId=9999)
        follow = c.ask("ping")
        found = c.message()
        if found["id"] == number:       # it was done before the notification came
            found = c.message()
        assert found["id"] == follow and found["result"] == {}, found
        assert c.result("ping") == {}


@case
def the_demos_corrupting_write_is_found_in_three_calls():
    """The program returns 21 though it printed "total 69" (tests/demo): line 40 of walk.c, in rt_main."""
    with Client(WALK, "--exec", WALK_ELF) as c:
        rows, _ = c.rows("last_write", what="total", at="end")
        assert rows[0]["function"] == "rt_main" and (rows[0]["old"], rows[0]["new"]) == ("0x45", "0x15"), rows
        position = rows[0]["position"]
        assert position == 7443
        chain, _ = c.rows("why", what="total", depth=1, at="end")
        assert chain[0]["position"] == position and chain[0]["function"] == "rt_main", chain
        before, _ = c.rows("last_write", what="total", at=position)
        assert before[0]["function"] == "bump" and before[0]["new"] == "0x45", before


@case
def a_client_that_leaves_ends_the_server():
    with Client(WALK) as c:
        c.ask("ping")
    with Client(WALK) as c:
        c.proc.send_signal(signal.SIGTERM)
        assert c.proc.wait(LIMIT) == -signal.SIGTERM
        c.proc.returncode = 0


run_cases()
