#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files are written by the command line only, and no value of an MCP call becomes another part of the question.  Names of
a recording are one line of each file that is written."""
import json
import os
import pathlib
import re
import resource
import select
import subprocess
import tempfile

import _frames
from _mcp import INFO, Client, of_tool
from _rsp import Rsp
from _server import Server
from _tap import DATA, LIMIT, TRACESTUB, case, run_cases

FOLDER = pathlib.Path(tempfile.mkdtemp())
TRACE = FOLDER / "t.ucir"
TRACE.write_bytes((DATA / "usercorn/x64_walk.ucir").read_bytes())
PROGRAM = DATA / "usercorn/x64_walk.elf"


def monitor(r, question):
    r.send("qRcmd," + question.encode().hex())
    said = ""
    while (reply := r.receive()).startswith("O") and reply != "OK":
        said += bytes.fromhex(reply[1:]).decode()
    return reply, said


@case
def a_client_of_the_port_writes_no_coverage():
    out = FOLDER / "written"
    with Server(TRACE, "--exec", PROGRAM, "--no-sandbox", "--export-dir", FOLDER) as server, Rsp(server.address) as r:
        for word in "--drcov", "--lcov":
            reply, said = monitor(r, f"coverage {word} {out}")
            assert "only the command tracestub query writes" in bytes.fromhex(reply[3:]).decode() + said, (reply, said)
            assert not out.exists()
        assert monitor(r, "coverage first 1")[0] == "OK"
    for word in "--drcov", "--lcov":
        subprocess.run([TRACESTUB, "query", "--quiet", TRACE, "--exec", PROGRAM, "coverage", word, out], check=True, timeout=LIMIT,
                       stdout=subprocess.DEVNULL)
        assert out.exists()
        out.unlink()


# What a value must not become: words of the grammar after a good beginning.
WITHOUT = "stack events threads processes modules maps registers unexplained hot coverage when back forward marks".split()
GOOD = {"what": "0x400100", "kinds": "rw", "memory": "0x400000:0x401000", "by": "address", "in": "0:9", "if": "$rax == 1", "at": "5"}


@case
def a_value_of_a_call_stays_one_value():
    out = FOLDER / "written"
    with Client(TRACE, "--exec", PROGRAM, "--no-sandbox", "--index", "none") as c:
        ask, = [tool for tool in c.result("tools/list")["tools"] if tool["name"] == "ask"]
        verbs = re.findall(r"^([a-z-]+).*?: ", ask["description"].partition("Verbs:\n")[2], re.M)
        assert len(verbs) > 30, verbs
        for name in verbs:
            needed = {} if name in WITHOUT else {"what": "u8:1" if name == "find" else "5" if name == "goto" else GOOD["what"]}
            if name in ("mark", "unmark"):
                continue
            for argument, schema in ask["inputSchema"]["properties"].items():
                if "string" not in schema["type"] or argument in ("recording", "question"):
                    continue
                good = needed.get(argument, GOOD.get(argument, "x"))
                for more in f"--drcov {out}", f"--lcov {out}", "first 1", "--partial", "in 0:5", "thread 1":
                    result = c.call("ask", question=name, **{**needed, argument: f"{good} {more}"})
                    assert result["isError"], (name, argument, more, result)
                    assert not out.exists()


@case
def the_text_of_a_mark_is_a_value():
    with Client(TRACE, "--index", "none") as c:
        result = c.call("mark", what="beta here it is at 5", at="77")
        assert result["isError"], result
        rows, _ = c.rows("mark", what="beta", at=77, text="in 0:9 at 5")
        assert [(r["position"], r["mark"], r["text"]) for r in rows] == [(77, "beta", "in 0:9 at 5")], rows
        assert c.call("mark", what="gamma", at=1, text="a\n5 evil from a text")["isError"]
        rows, _ = c.rows("marks")
        assert [(r["position"], r["mark"]) for r in rows] == [(77, "beta")], rows


@case
def a_symbol_may_be_called_as_a_word():
    """An operand is an operand, whatever it is called."""
    with Client(TRACE, "--index", "none") as c:
        for word in "in", "first", "--partial":
            result = c.call("executions", what=word)
            assert result["isError"] and "known symbol" in result["content"][0]["text"] or "symbols are known" in result["content"][0]["text"], result


@case
def a_name_is_one_line_of_a_file_of_coverage():
    name = "/lib\n  1, 0x0, 0x0, 0x0, /evil\r\x1b[2J.so"
    file = _frames.Frames(3, 9, 64, ("Pin", "1.0"))
    file.modload(name, 0x1000, 0x1fff)
    file.std(0x1000, 1, b"\x90", [], [])
    file.std(0x1001, 1, b"\x90", [], [])
    path, out = FOLDER / "t.frames", FOLDER / "out"
    path.write_bytes(file.close())
    subprocess.run([TRACESTUB, "query", "--quiet", path, "coverage", "--drcov", out], check=True, timeout=LIMIT, stdout=subprocess.DEVNULL)
    head = out.read_bytes().partition(b"BB Table: ")[0]
    assert head.count(b"\n") == 5 and b"\x1b" not in head and b"\r" not in head and b"/lib\\x0a" in head, head


@case
def a_source_s_name_is_one_line_of_lcov():
    source, program, out = FOLDER / "a\nDA:1,5\x1b.c", FOLDER / "a.out", FOLDER / "out"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-g", "-O0", "-o", program, source], check=True)
    text = subprocess.run(["objdump", "-h", program], check=True, capture_output=True, text=True).stdout
    assert ".debug_line" in text
    trace = FOLDER / "r.ucir"
    subprocess.run([TRACESTUB, "record", "--quiet", "-o", trace, program], timeout=LIMIT, capture_output=True, check=True)
    subprocess.run([TRACESTUB, "query", "--quiet", trace, "--exec", program, "coverage", "--lcov", out], check=True, timeout=LIMIT,
                   stdout=subprocess.DEVNULL)
    text = out.read_bytes()
    assert b"\x1b" not in text and b"a\\x0aDA:1,5\\x1b.c" in text, text[:300]


def user_time():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def batch_time(messages):
    """The processor's time that one line of messages takes."""
    before = user_time()
    with Client(TRACE, "--index", "none", handshake=False) as c:
        c.result("initialize", {**INFO, "protocolVersion": "2025-03-26"})
        c.write("[" + ",".join(messages) + "]")
        assert len(c.answers()) == len(messages)
    return user_time() - before


@case
def a_batch_takes_as_long_as_it_has_messages():
    """Removing each message from the front of the list took 72 s for 520,000: 10 s for these."""
    assert batch_time(["1"] * 200000) < 4


def waiting_time(n):
    """The processor's time of @n requests that wait for a slow one and are cancelled, the last one first."""
    before = user_time()
    with Client(TRACE, "--index", "none") as c:
        with c.together():
            slow = c.ask("tools/call", of_tool("find", {"what": '"zzzzqq"'}))
            waiting = [c.ask("tools/call", of_tool("when", {})) for _ in range(n)]
            for number in reversed(waiting):
                c.notify("notifications/cancelled", requestId=number)
        last = c.ask("tools/call", of_tool("when", {}))
        seen = set()
        while last not in seen:
            seen.add(c.message()["id"])
    assert slow in seen
    return user_time() - before


@case
def requests_that_wait_take_as_long_as_there_are():
    """Each cancelled request looked through all that waited: four times as many took sixteen times as long."""
    assert waiting_time(20000) < 8 * (waiting_time(5000) + .1)


@case
def a_client_may_write_all_before_it_reads():
    """Server and client waited for each other: both pipes were full.  20,000 requests are ten times as long as a pipe."""
    with Client(TRACE, "--index", "none") as c:
        text = b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % i for i in range(2, 20002))
        fd = c.proc.stdin.fileno()
        os.set_blocking(fd, False)
        while text:
            assert select.select([], [fd], [], LIMIT)[1], f"the server does not read: {len(text)} bytes are left"
            text = text[os.write(fd, text):]
        assert [c.message()["id"] for _ in range(2, 20002)] == list(range(2, 20002))


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n%s) SELECT count(*) FROM n"


def write_while_it_takes(c, text, most):
    """How much of @text, again and again, the server reads before it stops to."""
    fd, n = c.proc.stdin.fileno(), 0
    os.set_blocking(fd, False)
    while n < most and select.select([], [fd], [], 3)[1]:
        n += os.write(fd, text[n % len(text):])
    return n


@case
def requests_that_wait_for_a_call_are_bounded():
    """32,768 of them or 4 MiB, one line more, and what the pipe and the server's buffer hold."""
    for message in {"id": 7, "method": "ping/no"}, {"id": 7, "method": "x" * 100000}, [{}] * 30000:
        c = Client(TRACE, "--index", "none", "--no-sandbox")
        try:
            c.ask("tools/call", {"name": "sql", "arguments": {"statement": ENDLESS % ""}})
            text = json.dumps(message, separators=",:").encode() + b"\n"
            n = write_while_it_takes(c, text, 24 << 20)
            assert n < 32768 * len(text) + (1 << 20) and n < (7 << 20), (n, len(text))
            status = pathlib.Path(f"/proc/{c.proc.pid}/status").read_text()
            assert int(re.search(r"VmHWM:\s+(\d+)", status)[1]) < 160 << 10, status
        finally:
            c.proc.kill()
            c.proc.wait()


@case
def requests_beyond_the_bound_are_answered():
    with Client(TRACE, "--index", "none") as c:
        with c.together():
            c.ask("tools/call", {"name": "sql", "arguments": {"statement": ENDLESS % " LIMIT 1000000"}})
            asked = [c.ask("resources/templates/list", {"_meta": {"of": "x" * 100}}) for _ in range(40000)]
        assert [c.message()["id"] for _ in range(40001)] == [asked[0] - 1, *asked]


run_cases()
