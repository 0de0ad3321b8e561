#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The n-th allocation, read, write, ... of a command fails: what comes out is right, or is a sentence and a status.

Judged by output: a run that ends with the status of the undisturbed one has its output, whole; another ends with status 1
to 3 and says why, leaves no .part, and leaves nothing that makes the next run wrong.  No file gets its name before it is
synced, and in an undisturbed run no folder keeps a new name that is not synced.  A reply of a server is the undisturbed
one or an error; after an error the session is asked again from a position on that it is told.

`make check` tries the first calls of each kind that the program and the C library make: they are the same on every
machine.  How many follow depends on the versions of libraries, the kernel and the scheduler, so that the n-th of them is
another one elsewhere: `make check-faults` tries many of those, and with FAULTS=--all every n, of all commands on all
formats.  Other words choose cases by what is in their names: FAULTS='--all why'.
"""
import collections
import contextlib
import gzip
import json
import os
import pathlib
import queue
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from _faulted import IS_MEASURED, IS_SANITIZED, LIMIT, TOOL, Desk, environment
from _mcp import of_tool
from _tap import DATA, TRACESTUB, add_case, run_cases, skip_all

EINTR, EIO, EAGAIN, ENOMEM, EMFILE, ENOSPC, ECONNABORTED, SHORT = 4, 5, 11, 12, 24, 28, 103, 0
HOUR = 3600
# How many of the first calls fail in `make check`; with --some, how many of the first, of the last, and of those between.
FAULTS = {
    ("alloc", ENOMEM): (8, (16, 64, 48)), ("library", ENOMEM): (0, (8, 8, 24)),
    ("read", EIO): (3, (8, 32, 16)), ("read", EINTR): (2, (8, 8, 8)), ("read", SHORT): (2, (8, 8, 8)),
    ("write", ENOSPC): (3, (8, 8, 8)), ("write", EINTR): (2, (8, 8, 0)), ("write", SHORT): (2, (8, 8, 0)),
    ("sync", EIO): (2, (8, 8, 0)), ("rename", EIO): (2, (8, 8, 0)), ("open", EMFILE): (4, (8, 8, 8)),
    ("map", ENOMEM): (2, (8, 8, 0)), ("thread", EAGAIN): (1, (8, 8, 0)), ("accept", EMFILE): (1, (1, 0, 0)),
    ("accept", EINTR): (1, (1, 0, 0)), ("accept", ECONNABORTED): (1, (1, 0, 0)), ("clock", HOUR): (1, (8, 8, 0)),
    ("clock", -HOUR): (1, (8, 8, 0)), ("files", 0): (7, (99, 0, 0)),
}
# The call is made again, or nothing depends on it: nothing is lost.
HARMLESS = {(kind, e) for kind in ("read", "write") for e in (EINTR, SHORT)} | {
    (kind, e) for kind, e in FAULTS if kind in ("accept", "clock")}
FEWEST_FILES, MOST_FILES = 3, 20

# A recording of each format, and a register that it has.
USERCORN = "usercorn"
TRACES = {
    USERCORN: ("usercorn/x64_walk.ucir", "$rax"),
    "bap": ("bap-samples/tw-x86_64-unfinished.frames.gz", "$rax"),
    "gdbrecord": ("gdbrecord-samples/list-arm.core.gz", "$r0"),
    "rvnbintrace": ("rvnbintrace-samples/edges.bin.gz", "$rax"),
    "tenet": ("tenet-samples/wtf-walk64.log.gz", "$rax"),
    "text": ("text/example", "$rax"),
    "tfile": ("tfile-samples/work-regs.tf", "$rax"),
    "x64dbg": ("x64dbg-samples/fib64.trace64.gz", "$rax"),
    "bap with threads": ("bap-samples/tw-arm.frames.gz", "$r0"),    # that read ahead: it is long
}
COMMANDS = {
    "info": ["info", "T"],
    "info --json": ["info", "--json", "T"],
    "index": ["index", "T", "--index", "OUT"],
    "export": ["export", "T", "-o", "OUT", "--positions", "0:60"],
    "plot": ["plot", "T", "-o", "OUT.svg"],
    "pack": ["pack", "T", "-o", "OUT"],
    "history": ["query", "T", "history", "REGISTER", "first", "20"],
    "hot": ["query", "T", "hot", "first", "20", "--json"],
    "calls": ["query", "T", "calls", "first", "20"],
    "why": ["query", "T", "why", "REGISTER", "at", "70%"],
    "find": ["query", "T", "find", "48 89 e5", "first", "3"],
    "strings": ["query", "T", "strings", "first", "20"],
    "coverage": ["query", "T", "coverage", "first", "20"],
    "mark": ["query", "T", "mark", "here", "at", "1"],
    "diff": ["diff", "T", "T"],
    "mcp": ["mcp", "T"],
    "gdb": ["gdb", "T"],
    "serve": ["serve", "-", "T"],
}
# With what an earlier command has left: an index, a packed trace.
LATER = {
    "an index, history": (COMMANDS["index"], [*COMMANDS["history"], "--index", "OUT"]),
    "an index, serve": (COMMANDS["index"], ["serve", "-", "T", "--index", "OUT"]),
    "an index, a file of find": (["index", "T"], ["query", "T", "find", "01 02 03 04 05 06 07 99"]),
    "a unix socket": (None, ["serve", "./SOCKET", "T"]),
    "unpack": (["pack", "T", "-o", "PACKED"], ["unpack", "PACKED", "-o", "OUT"]),
}
HAVE_NO_INDEX = ("tfile",)

# Parts of a session, each from a position of its own on.
SESSION = [
    ["QStartNoAckMode", "qSupported:swbreak+", "qXfer:features:read:target.xml:0,fff", "g"],
    ["goto 25%", "g", "m{pc:x},40", "m{sp:x},40"],
    ["goto 50%", "s", "g", "bs", "bs", "g"],
    ["goto 0", "Z2,{sp:x},8", "c", "bc", "z2,{sp:x},8", "g"],
    ["goto 0", "qXfer:threads:read::0,fff", "qXfer:features:read:target.xml:0,fff", "history $rax first 3"],
    ["QTDP:1:{pc:x}:E:0:0", "QTStart", "QTStop", "qTStatus", "QTFrame:0", "QTFrame:ffffffff"],
    ["goto 75%", "g", "m{sp:x},8", "D"],
]
PROGRESS = re.compile(b"O" + b"|O".join(text.hex().encode() for text in (b"read so far: ", b"collecting: ")))
RUN = re.compile(rb"(.)\*(.)", re.S)
PC_SP = (0x401000, 0x7fffffff0000)
QUESTIONS = [("recordings", {}), ("hot", {"first": 3}), ("events", {"first": 3}), ("executions", {"what": "0x401000"}),
             ("history", {"what": "$rax", "first": 3}), ("threads", {})]


def session():
    """All packets, each part as one that moves is a monitor command; without acknowledgements, in one go."""
    def packet(text):
        text = text.format(pc=PC_SP[0], sp=PC_SP[1])
        payload = ("qRcmd," + text.encode().hex() if text.startswith(("goto ", "history ")) else text).encode()
        return b"$%s#%02x" % (payload, sum(payload) & 255)
    return b"+" + b"".join(packet(text) for part in SESSION for text in part)


def replies(out):
    """The reply of each packet, with its console output."""
    found, console = [], b""
    for payload in re.findall(rb"\$([^#]*)#..", out, re.S):
        if b"}" not in payload:     # binary replies have no run lengths
            payload = RUN.sub(lambda m: m[1] * (m[2][0] - 28), payload)
        if PROGRESS.match(payload):
            continue
        if payload[:1] == b"O" and payload != b"OK":
            console += payload
        else:
            found.append(console + payload)
            console = b""
    return found


def is_refusal(reply):
    """An error, or a run of tracepoints that was ended by one."""
    return re.search(rb"(^|O[0-9a-f]+)E[0-9a-fA-F.]|;t(error|full):", reply)


def without_time(reply):
    return re.sub(rb"(start|stop)time:[0-9a-f]*", b"", reply) if reply.startswith(b"T") else reply


def compare_session(out, wanted, is_whole):
    """None, or the first reply that is neither right nor an error; what follows an error in its part is not compared."""
    got, right, at = replies(out), replies(wanted), 0
    for part in SESSION:
        for place, text in enumerate(part):
            if at >= len(got):
                return f"{at} replies of {len(right)}" if is_whole else None
            if without_time(got[at]) != without_time(right[at]):
                if not is_refusal(got[at]):
                    return f"{text}: {got[at]!r}, not {right[at]!r}"
                at += len(part) - place
                break
            at += 1
    return None


def questions():
    start = [{"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                          "clientInfo": {"name": "test", "version": "1"}}},
             {"method": "notifications/initialized"}]
    calls = [{"id": i, "method": "tools/call", "params": of_tool(name, arguments)}
             for i, (name, arguments) in enumerate(QUESTIONS, 1)]
    return "".join(json.dumps({"jsonrpc": "2.0", **m}) + "\n" for m in start + calls).encode()


def is_error(answer):
    """Of the protocol, of a tool, or of a row: a recording that could not be read."""
    result = answer.get("result", {})
    return "error" in answer or result.get("isError") or any(
        "error" in row for row in result.get("structuredContent", {}).get("rows", []))


def compare_answers(out, wanted, is_whole):
    def by_id(text):
        return {m.get("id"): m for m in map(json.loads, text.splitlines())}
    got, right = by_id(out), by_id(wanted)
    for number, answer in right.items():
        if number not in got:
            if is_whole and None not in got:    # the line could not be read, and its number neither
                return f"no answer {number}"
        elif got[number] != answer and not is_error(got[number]):
            return f"answer {number}: {got[number]}"
    return None


N_PACKETS = sum(map(len, SESSION))


def is_over(out):
    """Has the last packet been answered?"""
    return out.count(b"#") >= 2 and replies(out)[-1:] == [b"OK"] and len(replies(out)) == N_PACKETS


def talk(path):
    """The session through a socket: until the server has answered, or has hung up."""
    out = b""
    with socket.socket(socket.AF_UNIX) as client, contextlib.suppress(OSError):
        client.settimeout(LIMIT)
        client.connect(path)
        client.sendall(session())
        while not is_over(out) and (piece := client.recv(65536)):
            out += piece
    return out


def run(desk, fault="", counts=None):
    if "./SOCKET" in desk.argv:
        return desk.run(fault, counts=counts, client=talk)
    if desk.argv[0] == "serve":
        return desk.run(fault, session(), counts, is_over)   # who hangs up earlier interrupts what runs
    return desk.run(fault, questions() if desk.argv[0] == "mcp" else b"", counts)


def count(desk):
    """What the undisturbed command gives, and how often it makes each call, in whichever of its processes."""
    counts = collections.defaultdict(int)
    desk.tidy()
    with tempfile.TemporaryFile() as file:
        result = run(desk, counts=file.fileno())
        file.seek(0)
        for kind, n in map(str.split, file.read().decode().splitlines()):
            counts[kind] = max(counts[kind], int(n))
    return result, counts


def is_same(argv, got, wanted):
    if argv[0] == "serve":
        return compare_session(got.out, wanted.out, not got.err)
    if argv[0] == "mcp":
        return compare_answers(got.out, wanted.out, not got.err)
    if got.out != wanted.out:
        return f"another output: {got.out[-200:]!r}"
    # an index has a signature of this home's, and notes when it has compared the whole of the trace
    if argv[0] != "index" and "--index" not in argv and got.files != wanted.files:
        return f"other files: {sorted(got.files)}"
    return None


def find_fault(desk, wanted, fault):
    """None, or what is wrong."""
    (kind, n, error), argv = fault, desk.argv
    got = run(desk, f"{kind}:{n}:{error}")
    if got.status == wanted.status:
        wrong = is_same(argv, got, wanted)
        if not wrong and (kind, error) in HARMLESS and len(got.out.splitlines()) != len(wanted.out.splitlines()):
            wrong = "another output"
        if wrong:
            return f"status {got.status}, {wrong} {got.err[-300:]}"
    elif got.status not in (1, 2, 3) or (kind, error) in HARMLESS:
        return f"status {got.status}: {got.err[-1500:]}"
    elif not got.err.strip() or len(got.err.splitlines()) > 6:
        return f"status {got.status}: {len(got.err.splitlines())} lines: {got.err[-300:]}"
    if error == ENOSPC and got.parts:
        return f"status {got.status}: {got.parts}"
    if argv[0] in ("index", "pack", "unpack") or "mark" in argv or "find" in argv or "--index" in argv:
        again = run(desk)
        if again.status != wanted.status or (wrong := is_same(argv, again, wanted)):
            return f"after it: status {again.status}, {wrong} {again.err[-300:]!r}"
    return None


def judge(desks, wanted, fault):
    """None, or what is wrong, at whichever desk is free."""
    desk = desks.get()
    try:
        desk.tidy()
        return find_fault(desk, wanted, fault)
    except subprocess.TimeoutExpired:
        return "it does not end"
    finally:
        desks.put(desk)


def add(name, *args):
    if IS_SANITIZED and "--some" not in sys.argv[1:] and not re.fullmatch("usercorn: (index|pack|mcp|serve|a unix socket)", name):
        return      # it is slow, and all formats and commands have their turn without it
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if not words or any(word in name for word in words):
        add_case(name, survives, *args)


def choose(n, how_many, seed):
    if "--all" in sys.argv[1:]:
        return list(range(1, n + 1))
    first, (last, between) = (how_many[0] + 3) // 4 if IS_SANITIZED else how_many[0], (0, 0)
    if "--some" in sys.argv[1:]:
        first, last, between = how_many[1]
    chance = random.Random(seed)
    return sorted({*range(1, min(n, first) + 1), *range(max(1, n - last + 1), n + 1),
                   *(chance.randrange(1, n + 1) for _ in range(between if n else 0))})


def faults_of(argv, counts):
    for (kind, error), how_many in FAULTS.items():
        if kind == "files" and (IS_SANITIZED or IS_MEASURED):
            continue    # LeakSanitizer waits for ever for descriptors of its own, gcov complains of each file
        if kind == "alloc" and "--all" in sys.argv[1:]:
            continue    # they are among those of all libraries
        if kind == "files":
            for n in choose(MOST_FILES - FEWEST_FILES, how_many, f"{argv}"):
                yield kind, n + FEWEST_FILES - 1, error
        else:
            for n in choose(counts[kind], how_many, f"{argv}{kind}{error}"):
                yield kind, n, error


def prepare(folder, trace, before):
    """What the command finds: the trace, a debugger that does nothing, and what the command @before leaves."""
    name, _ = TRACES[trace]
    data = (DATA / name).read_bytes()
    (folder / "T").write_bytes(gzip.decompress(data) if name.endswith(".gz") else data)
    os.utime(folder / "T", (1, 1))
    (folder / "gdb").write_text("#!/bin/sh\necho started\n")
    (folder / "gdb").chmod(0o755)
    if before:
        subprocess.run([TRACESTUB, *before], cwd=folder, env=environment(folder), check=True, timeout=LIMIT, capture_output=True)


INJECTED = collections.Counter()
N_AT_ONCE = int(os.environ.get("TEST_JOBS", 2))


def survives(trace, before, argv):
    like = pathlib.Path(tempfile.mkdtemp(prefix="faults-like-"))
    prepare(like, trace, before)
    argv = [TRACES[trace][1] if word == "REGISTER" else word for word in argv]
    desks = queue.SimpleQueue()
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, like)
        for _ in range(N_AT_ONCE):
            desk = Desk(like, argv)
            stack.callback(desk.close)
            desks.put(desk)
        wanted, counts = count(desk)
        assert wanted.status in (0, 1), f"status {wanted.status}: {wanted.err}"
        again, _ = count(desk)
        differs = "another status" if again.status != wanted.status else is_same(argv, again, wanted)
        assert not differs, f"two runs differ: {differs}"
        faults = list(faults_of(argv, counts))
        with ThreadPoolExecutor(N_AT_ONCE) as pool:
            wrong = [(f, w) for f, w in zip(faults, pool.map(lambda f: judge(desks, wanted, f), faults), strict=True) if w]
    kinds = collections.Counter(kind for kind, _, _ in faults)
    INJECTED.update(kinds)
    print(f"# {len(faults)} faults:", ", ".join(f"{kind} {n}" for kind, n in kinds.items()))
    assert not wrong, f"{len(wrong)} of {len(faults)}: " + "\n".join(map(str, wrong[:8]))


def add_all():
    """
    In `make check` every command has one format, and every format a few commands: it takes too long otherwise.  That one
    format has the sandbox, whose broker costs as much as a small recording does, in every command.
    """
    everything = {**{name: (None, argv) for name, argv in COMMANDS.items()}, **LATER}
    for trace in TRACES:
        for name, (before, argv) in everything.items():
            needs_index = argv[0] == "index" or (before and before[0] == "index")
            usual = ("info" if trace in HAVE_NO_INDEX else "index", "serve")
            is_wanted = trace == USERCORN or name in usual or ("--all" in sys.argv[1:] and " " not in trace)
            if not is_wanted or (needs_index and trace in HAVE_NO_INDEX):
                continue
            is_bare = "--all" in sys.argv[1:] and trace != USERCORN and argv[0] != "unpack"
            add(f"{trace}: {name}", trace, before, [*argv, "--no-sandbox"] if is_bare else argv)


if not TOOL.exists():
    skip_all("tests/tools/faults.so was not built")
add_all()
try:
    run_cases()
finally:
    print(f"# {INJECTED.total()} faults in all:", ", ".join(f"{kind} {n}" for kind, n in INJECTED.items()))
