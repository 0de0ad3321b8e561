#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The n-th allocation, read, write, ... of a command fails: what comes out is right, or is a sentence and a status.

Judged by output: a run that ends with the status of the undisturbed one has its output, whole; another ends with status 1
to 3 and says why, leaves no .part, and leaves nothing that makes the next run wrong.  A reply of a server is the undisturbed
one or an error; after an error the session is asked again from a position on that it is told.

`make check` tries the first calls of each kind that the program and the C library make: they are the same on every
machine.  How many follow depends on the versions of libraries, the kernel and the scheduler, so that the n-th of them is
another one elsewhere: `make check-faults` tries many of those, and with FAULTS=--all every n.  Other words choose cases by
what is in their names: FAULTS='--all why'.
"""
import collections
import contextlib
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from _tap import DATA, SRCDIR, TRACESTUB, add_case, run_cases, skip_all

TOOL = pathlib.Path(os.environ.get("TEST_BUILDDIR", SRCDIR)).resolve() / "tests/tools/faults.so"
IS_SANITIZED = b"__asan_init" in pathlib.Path(TRACESTUB).read_bytes()
SANITIZER_STATUS = 77
LIMIT = 120
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

TRACES = {
    "bap": "bap-samples/tw-arm.frames.gz",
    "gdbrecord": "gdbrecord-samples/walk64.core.gz",
    "rvnbintrace": "rvnbintrace-samples/edges.bin.gz",
    "tenet": "tenet-samples/wtf-walk64.log.gz",
    "text": "text/example",
    "tfile": "tfile-samples/work-regs.tf",
    "x64dbg": "x64dbg-samples/list64.trace64.gz",
}
USERCORN = "usercorn/x64_walk.ucir"
COMMANDS = {
    "info": ["info", "T"],
    "info --json": ["info", "--json", "T"],
    "index": ["index", "T", "--index", "OUT"],
    "export": ["export", "T", "-o", "OUT", "--positions", "100:160"],
    "plot": ["plot", "T", "-o", "OUT.svg"],
    "pack": ["pack", "T", "-o", "OUT"],
    "history": ["query", "T", "history", "$rax", "first", "20"],
    "hot": ["query", "T", "hot", "first", "20", "--json"],
    "calls": ["query", "T", "calls", "first", "20"],
    "why": ["query", "T", "why", "$rax", "at", "5000"],
    "find": ["query", "T", "find", "48 89 e5", "first", "3"],
    "strings": ["query", "T", "strings", "first", "20"],
    "coverage": ["query", "T", "coverage", "first", "20"],
    "mark": ["query", "T", "mark", "here", "at", "9"],
    "diff": ["diff", "T", "T"],
    "mcp": ["mcp", "T"],
    "serve": ["serve", "-", "T"],
}
# With what an earlier command has left: an index, a packed trace.
LATER = {
    "an index, history": (COMMANDS["index"], ["query", "T", "history", "$rax", "first", "20", "--index", "OUT"]),
    "an index, serve": (COMMANDS["index"], ["serve", "-", "T", "--index", "OUT"]),
    "a unix socket": (None, ["serve", "./SOCKET", "T"]),
    "unpack": (["pack", "T", "-o", "PACKED"], ["unpack", "PACKED", "-o", "OUT"]),
}

# Parts of a session, each from a position of its own on.
SESSION = [
    ["QStartNoAckMode", "qSupported:swbreak+", "qXfer:features:read:target.xml:0,fff", "g"],
    ["goto 10", "g", "m{pc:x},40", "m{sp:x},40"],
    ["goto 20", "s", "g", "bs", "bs", "g"],
    ["goto 0", "Z2,{sp:x},8", "c", "bc", "z2,{sp:x},8", "g"],
    ["goto 0", "qXfer:threads:read::0,fff", "qXfer:features:read:target.xml:0,fff", "history $rax first 3"],
    ["QTDP:1:{pc:x}:E:0:0", "QTStart", "QTStop", "qTStatus", "QTFrame:0", "QTFrame:ffffffff"],
    ["goto 30", "g", "m{sp:x},8", "D"],
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
    calls = [{"id": i, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
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


Done = collections.namedtuple("Done", "status out err files")


class Desk:
    """A folder in which a command runs, with a home in it; a copy of another one."""

    def __init__(self, like):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="faults-"))
        shutil.copytree(like, self.folder, dirs_exist_ok=True)

    def environment(self, fault):
        env = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(self.folder / "home"), "LD_PRELOAD": str(TOOL),
               "TRACESTUB_PROGRESS": "1000000"}
        if IS_SANITIZED:
            env["ASAN_OPTIONS"] = (f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"
                                   f":exitcode={SANITIZER_STATUS}").lstrip(":")
        if fault:
            env["FAULT"] = fault.replace("library", "alloc")
            if fault.startswith("library"):
                env["FAULT_LIBRARIES"] = "1"
        return env

    def run(self, argv, fault=None, counts=None, has_libraries=False):
        env, more = self.environment(fault), {}
        if counts is not None:
            env["FAULT_FD"], more["pass_fds"] = str(counts), [counts]
            if has_libraries:
                env["FAULT_LIBRARIES"] = "1"
        if "./SOCKET" in argv:
            status, out, err = self.talk(argv, env, more)
        else:
            text = {"serve": session(), "mcp": questions()}.get(argv[0], b"")
            done = subprocess.run([TRACESTUB, *argv], cwd=self.folder, env=env, capture_output=True, timeout=LIMIT,
                                  input=text, **more)
            status, out, err = done.returncode, done.stdout, done.stderr
        files = {p.name: p.read_bytes() for p in self.folder.glob("OUT*")}
        return Done(status, out, err.decode(errors="replace"), files)

    def talk(self, argv, env, more):
        """The same session through a socket: until the server has answered, or has hung up."""
        proc = subprocess.Popen([TRACESTUB, *argv], cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, bufsize=0, **more)
        said, out = b"", b""
        while (line := proc.stderr.readline()) and not line.startswith(b"Listening"):
            said += line
        if line:
            with socket.socket(socket.AF_UNIX) as client, contextlib.suppress(OSError):
                client.settimeout(LIMIT)
                client.connect(str(self.folder / "SOCKET"))
                client.sendall(session())
                while piece := client.recv(65536):
                    out += piece
                    if out.count(b"#") >= 2 and replies(out)[-1:] == [b"OK"] and len(replies(out)) == N_PACKETS:
                        break
            proc.send_signal(signal.SIGTERM)
        try:
            return proc.wait(LIMIT), out, said + proc.stderr.read()
        finally:
            proc.kill()
            proc.stderr.close()

    def close(self):
        shutil.rmtree(self.folder)


N_PACKETS = sum(map(len, SESSION))


def count(like, argv, has_libraries):
    """What the undisturbed command gives, and how often it makes each call."""
    desk = Desk(like)
    with tempfile.TemporaryFile() as file:
        result = desk.run(argv, counts=file.fileno(), has_libraries=has_libraries)
        file.seek(0)
        counts = dict(line.split() for line in file.read().decode().splitlines())
    desk.close()
    return result, {kind: int(n) for kind, n in counts.items()}


def is_same(argv, got, wanted):
    if argv[0] == "serve":
        return compare_session(got.out, wanted.out, not got.err)
    if argv[0] == "mcp":
        return compare_answers(got.out, wanted.out, not got.err)
    if got.out != wanted.out:
        return f"another output: {got.out[-200:]!r}"
    if argv[0] != "index" and got.files != wanted.files:      # an index has a signature of this home's
        return f"other files: {sorted(got.files)}"
    return None


def find_fault(argv, desk, wanted, fault):
    kind, n, error = fault
    got = desk.run(argv, fault=f"{kind}:{n}:{error}")
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
    if error == ENOSPC and any(name.endswith(".part") for name in got.files):
        return f"status {got.status}: {sorted(got.files)}"
    if argv[0] in ("index", "pack", "unpack") or "mark" in argv or "--index" in argv:
        again = desk.run(argv)
        if again.status != wanted.status or (wrong := is_same(argv, again, wanted)):
            return f"after it: status {again.status}, {wrong} {again.err[-300:]!r}"
    return None


def judge(like, argv, wanted, fault):
    """None, or what is wrong."""
    desk = Desk(like)
    try:
        return find_fault(argv, desk, wanted, fault)
    except subprocess.TimeoutExpired:
        return "it does not end"
    finally:
        desk.close()


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
        if kind == "files" and IS_SANITIZED:
            continue    # LeakSanitizer waits for ever for descriptors of its own
        if kind == "files":
            for n in choose(MOST_FILES - FEWEST_FILES, how_many, f"{argv}"):
                yield kind, n + FEWEST_FILES - 1, error
        else:
            for n in choose(counts[kind], how_many, f"{argv}{kind}{error}"):
                yield kind, n, error


def survives(data, before, argv):
    like = pathlib.Path(tempfile.mkdtemp(prefix="faults-like-"))
    (like / "T").write_bytes(data)
    os.utime(like / "T", (1, 1))
    if before:
        desk = Desk(like)
        assert desk.run(before).status == 0
        shutil.rmtree(like)
        desk.folder.rename(like)
    wanted, counts = count(like, argv, False)
    assert wanted.status in (0, 1), wanted
    again, with_libraries = count(like, argv, True)
    differs = "another status" if again.status != wanted.status else is_same(argv, again, wanted)
    assert not differs, f"two runs differ: {differs}"
    faults = list(faults_of(argv, {**counts, "library": with_libraries["alloc"]}))
    with ThreadPoolExecutor(2) as pool:
        wrong = [(f, w) for f, w in zip(faults, pool.map(lambda f: judge(like, argv, wanted, f), faults), strict=True) if w]
    shutil.rmtree(like)
    assert not wrong, f"{len(wrong)} of {len(faults)}: " + "\n".join(map(str, wrong[:8]))
    print(f"# {len(faults)} faults")


def contents(name):
    data = (DATA / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


if not TOOL.exists():
    skip_all("tests/tools/faults.so was not built")
for case_name, command in COMMANDS.items():
    add(f"usercorn: {case_name}", contents(USERCORN), None, command)
for case_name, (earlier, command) in LATER.items():
    add(f"usercorn: {case_name}", contents(USERCORN), earlier, command)
for trace_name in TRACES:
    for case_name in "index", "serve":
        if (trace_name, case_name) == ("tfile", "index"):   # it has none
            case_name = "info"
        add(f"{trace_name}: {case_name}", contents(TRACES[trace_name]), None, COMMANDS[case_name])
run_cases()
