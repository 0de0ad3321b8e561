#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Questions about a part of the recording that has not been read yet wait for it: no answer differs from a later one.

Reading is held by tests/tools/held_server after HELD steps, and goes on when the test says so. Each question is
asked of a server that holds, and of one that has read all.
"""
import functools
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import time

from _lldb import lldb_path
from _rsp import LIMIT, Rsp
from _server import Server
from _tap import TRACESTUB, add_case, case, run_cases, skip

TOOL = os.environ.get("TEST_BUILDDIR", ".") + "/tests/tools/held_server"
START, HOT, MARK = 0x400000, 0x600000, 0x700000
STEPS, LOOPS, FRAMES = 20, 400, 300     # of a loop, of a frame, of the recording
N = STEPS * LOOPS * FRAMES + 1
HELD = N // 2                       # that is more than 2**20, of which something can be asked
TRACE = pathlib.Path("held.ucir").resolve()
LAST_PC = START + 0x1000            # the last instruction is executed once


def frame(ops, n_ops):
    return b"\x01" + struct.pack("<QI", 1, n_ops) + ops


def write(addr, value):
    return b"\x08" + struct.pack("<QIQ", addr, 8, value)


def jump(addr):
    return b"\x03" + struct.pack("<QI", addr, 1)


def make_trace():
    """Version 0: a loop that writes the same again and again; the last step, elsewhere, writes MARK."""
    header = b"UCIR" + bytes(4) + b"x86_64".ljust(32, b"\0") + b"linux".ljust(34, b"\0")
    loop = jump(START) + write(HOT, 1) + b"\x04\x01" * STEPS
    with open(TRACE, "wb") as f:
        f.write(header)
        for _ in range(FRAMES):
            f.write(frame(loop * LOOPS, LOOPS * (2 + STEPS)))
        f.write(frame(jump(LAST_PC) + write(MARK, 2) + b"\x04\x01", 3))


class Held:
    """A server that has read HELD steps, until release()."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="held-")
        self.address, self.go = f"{self.folder}/socket", pathlib.Path(f"{self.folder}/go")
        self.proc = subprocess.Popen([TOOL, TRACE, self.address, str(HELD), self.go], stderr=subprocess.PIPE, text=True,
                                     env={**os.environ, "HELD_EXPORT_DIR": self.folder})
        line = self.proc.stderr.readline()
        assert "Listening" in line, line

    def release(self):
        self.go.touch()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if exc[0] is not None:
            self.proc.kill()
        status = self.proc.wait(LIMIT)
        text = self.proc.stderr.read()
        self.proc.stderr.close()
        shutil.rmtree(self.folder)
        assert exc[0] is not None or status == 0, text


@functools.cache
def whole_server():
    server = Server(str(TRACE), "--index", "none", "--export-dir", ".")
    with Rsp(server.address) as r:
        command(r, "wait")
    return server


def complete():
    return Rsp(whole_server().address)


def answer_all(r):
    """A reply with the console output before it."""
    text = ""
    while (reply := r.receive()).startswith("O") and reply != "OK":
        text += bytes.fromhex(reply[1:]).decode()
    return text, reply


def answer(r):
    """The same without what says how far reading is."""
    text, reply = answer_all(r)
    return re.sub(r"read so far: \d+ %\n", "", text), reply


def say(r, line):
    """What a monitor command prints."""
    r.send("qRcmd," + line.encode().hex())
    return answer_all(r)[0]


def command(r, line):
    r.send("qRcmd," + line.encode().hex())
    return answer(r)


def ask(r, packet):
    r.send("qRcmd," + packet[8:].encode().hex() if packet.startswith("monitor ") else packet)
    return answer(r)


# ------------------------------------------------------------------------------------------------ raw packets

def is_quiet(r):
    """Has no reply come? What the server does when it is asked once more shows it: it answers in order."""
    r.socket.settimeout(0.1)
    try:
        r.data += r.socket.recv(1 << 16)
    except TimeoutError:
        pass
    finally:
        r.socket.settimeout(LIMIT)
    return not re.search(rb"\$(?!O[0-9a-f])", r.data)


LATE = ["monitor goto end", "monitor goto 50%", f"monitor goto {N}", f"monitor goto {N + 1}", "monitor goto next-fault",
        "monitor goto next-syscall", "monitor wait", f"QTFrame:{N - 1:x}", f"QTFrame:{N + 1:x}",
        f"QTFrame:pc:{LAST_PC:x}", f"QTFrame:range:{LAST_PC:x}:{LAST_PC + 8:x}",
        f"QTFrame:outside:{START:x}:{START + 0x20:x}", "QTFrame:tdp:2",
        "qTBuffer:0,100", "c"]


def check_late(packet):
    with complete() as r:
        expected = ask(r, packet)
    with Held() as held, Rsp(held.address) as r:
        r.send("qRcmd," + packet[8:].encode().hex() if packet.startswith("monitor ") else packet)
        assert is_quiet(r), f"answered before it was read: {r.data}"
        held.release()
        got = answer(r)
        assert expected == got


for packet in LATE:
    add_case(f"{packet} waits and is answered as after reading", check_late, packet)


@case
def an_export_waits_and_has_all_frames():
    for command in "QTSave:" + b"x.tf".hex(), "qRcmd," + b"export x.tf".hex():
        with Held() as held, Rsp(held.address) as r:
            r.send(command)
            assert is_quiet(r)
            held.release()
            if command.startswith("qRcmd"):
                while "saving" not in (text := bytes.fromhex(r.receive()[1:]).decode()):
                    pass
                assert text.startswith(f"saving {N + 1} trace frames"), text
            r.socket.sendall(b"\x03")      # all of them would take long
            assert answer(r)[1].startswith("E")


SOON = ["monitor goto 1234", "monitor goto begin", "QTFrame:10", f"QTFrame:pc:{START + 3:x}", f"QTFrame:ffffffff",
        f"QTFrame:range:{START:x}:{START + 2:x}", "s", "g", f"m{START:x},4", "qfThreadInfo", "monitor goto previous-fault", "monitor goto next-signal"]


def check_soon(packet):
    with complete() as r:
        expected = ask(r, packet)
    with Held() as held, Rsp(held.address) as r:
        got = ask(r, packet)
        strip = re.compile(r" of \d+ \([0-9.]+%\)")
        assert (strip.sub("", expected[0]), expected[1]) == got
        held.release()


for packet in SOON:
    add_case(f"{packet} is answered from what has been read", check_soon, packet)


@case
def connecting_does_not_wait_and_numbers_are_not_shown_as_final():
    with Held() as held, Rsp(held.address) as r:
        for packet in "qSupported:swbreak+", "?", "g", "qfThreadInfo", "qTfP", "qTfV", "qXfer:features:read:target.xml:0,100":
            assert r.ask(packet), packet
        status = r.ask("qTStatus")
        assert status.startswith("T0;") and "tframes" not in status and "tcreated" not in status, status
        notes = bytes.fromhex(re.search("notes:([0-9a-f]*)", status)[1]).decode()
        assert re.fullmatch(r"read so far: \d+ %", notes), notes
        when = say(r, "when")
        assert re.fullmatch(r"position 0, thread \S+, pc 0x400000\nread so far: \d+ %\n", when), when
        info = say(r, "info")
        assert re.search(r"^read so far: \d+ %$", info, re.M) and "so far" in re.search("^positions.*", info, re.M)[0], info
        held.release()
        command(r, "wait")
        assert "read so far" not in say(r, "info")
        assert f"tframes:{N + 1:x};" in r.ask("qTStatus")


@case
def an_interrupt_ends_a_wait_and_changes_nothing():
    with Held() as held, Rsp(held.address) as r:
        assert r.ask("s").startswith("T05")
        for packet in LATE[:-1]:
            r.send("qRcmd," + packet[8:].encode().hex() if packet.startswith("monitor ") else packet)
            r.socket.sendall(b"\x03")
            text, reply = answer(r)
            assert reply.startswith("E"), (packet, reply)
            assert "position 1," in say(r, "when")
            assert r.ask("bs").startswith("T05"), "it is for nothing else"
            assert r.ask("s").startswith("T05")
        r.send("c")
        r.socket.sendall(b"\x03")
        assert answer(r)[1].startswith("T02")
        held.release()


@case
def a_client_that_waits_is_told_once_a_second():
    with Held() as held, Rsp(held.address) as r:
        begin = time.monotonic()
        r.send("qRcmd," + b"goto end".hex())
        texts = [bytes.fromhex(r.receive()[1:]).decode() for _ in range(2)]
        assert all(re.fullmatch(r"read so far: \d+ %\n", t) for t in texts), texts
        assert time.monotonic() - begin > 1.5
        held.release()
        assert f"position {N} of {N}" in answer(r)[0]


@case
def a_goto_that_is_announced_is_done_by_the_next_resume():
    with Held() as held, Rsp(held.address) as r:
        assert command(r, "announce goto end")[1] == "OK"
        r.send("s")
        assert is_quiet(r)
        r.socket.sendall(b"\x03")
        assert answer(r)[1].startswith("T02")
        assert r.ask("s").startswith("T05"), "it was given up"
        assert command(r, "announce goto end")[1] == "OK"
        r.send("s")
        assert is_quiet(r)
        held.release()
        # by its first packets this client is taken for lldb
        moved = "T05reason:exception;description:" + f"at position {N}".encode().hex()
        assert answer(r)[1].startswith(moved)
        assert f"position {N} of {N}" in say(r, "when")
        assert command(r, f"announce goto {N + 1}")[1] == "E01"
        assert r.ask("bs").startswith("T05"), "nothing is announced"


# ------------------------------------------------------------------------------------------------ gdb and lldb

def gdb(held, *commands):
    if not shutil.which("gdb"):
        skip("no gdb")
    init = pathlib.Path(__file__).resolve().parents[2] / "gdbinit"
    args = [a for c in (f"target remote {held.address}", *commands) for a in ("-ex", c)]
    return subprocess.Popen(["gdb", "-nx", "-batch", "-x", init, *args], stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def check_gdb(commands, pattern):
    with Held() as held:
        proc = gdb(held, "echo connected\\n", *commands)
        lines = []
        while not (line := proc.stdout.readline()).startswith("connected"):
            assert line, lines
            lines.append(line)
        held.release()
        text = proc.communicate(timeout=LIMIT)[0]
        assert re.search(pattern, text), text


for commands, pattern in {
    ("goto end",): f"position {N} of {N} ",
    ("goto 50%",): f"position {N // 2} of {N} ",
    (f"goto {N}",): f"position {N} of {N} ",
    (f"goto {N + 1}", "when"): f"'{N + 1}' is not a position: the last one is {N}; example: goto 50%\n[\\s\\S]*position 0 of {N}",
    ("goto next-fault", "when"): "there is no fault after position 0\n",
    (f"tfind {N - 1}", "goto frame"): f"position {N - 1} of {N} ",
    (f"tfind pc 0x{LAST_PC:x}", "print $trace_frame"): f"= {N - 1}\n",
    (f"trace *0x{LAST_PC:x}", "tstart", "monitor wait", "tstatus", "tfind", "print $trace_frame"): "= 0\n",
    ("continue", "when"): f"position {N} of {N} ",
}.items():
    add_case(f"gdb -batch: {', '.join(commands)} waits", check_gdb, commands, pattern)


@case
def gdb_interrupts_a_goto_that_waits():
    with Held() as held:
        proc = gdb(held, "echo connected\\n", "goto end", "when")
        text = ""
        while "read so far" not in text:    # the step of goto waits now, and gdb passes on ^C
            line = proc.stdout.readline()
            assert line, text
            text += line
        proc.send_signal(2)
        rest = proc.communicate(timeout=LIMIT)[0]
        assert "SIGINT" in rest and "position 0, thread" in rest, text + rest
        held.release()


@case
def lldb_waits_too():
    with Held() as held:
        proc = subprocess.Popen([lldb_path(), "--no-lldbinit", "--batch", "-o", f"process connect --plugin gdb-remote unix-connect://{held.address}",
                                 "-o", "version", "-o", "process plugin packet monitor goto end",
                                 "-o", "process plugin packet monitor when"], stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = ""
        while "lldb version" not in text:
            line = proc.stdout.readline()
            assert line, text
            text += line
        held.release()
        rest = proc.communicate(timeout=LIMIT)[0]
        assert f"position {N} of {N} " in rest, text + rest


make_trace()
try:
    run_cases()
finally:
    whole_server().close()
    TRACE.unlink()
