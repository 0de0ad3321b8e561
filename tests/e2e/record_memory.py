#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory of a recorded program is what QEMU's own gdb stub shows at the same instruction, on each processor.

The places are instructions that are executed once, spread over the recording: there the stub's breakpoints stop. Compared are
all writable mappings of the program's file, and the stack from its pointer on. A process id is another one in each run.
"""
import collections
import os
import pathlib
import socket
import subprocess
import time

from _record import COMPILERS, LIMIT, build, build_bare, emulator, record, use_engine
from _rsp import Rsp
from _tap import add_case, run_cases
from _naive_ucir2 import Ucir2

use_engine("qemu")

ENV = {"PATH": os.environ["PATH"], "QEMU_RAND_SEED": "7"}
SP = {"x86_64": 44, "i386": 30, "aarch64": 4, "arm": 12, "riscv64": 3, "mips": 31, "ppc64": 3}
ENDS = {"mips": "big", "ppc64": "big"}
N_PLACES, STACK, PIECE = 12, 1536, 128


class Memory:
    """What was written, by byte; what was not is zero, as a new page is."""

    def __init__(self):
        self.bytes = {}

    def take(self, group):
        for addr, what in group.writes:
            if isinstance(what, bytes):
                self.bytes.update(enumerate(what, addr))
            else:
                for gone in [a for a in self.bytes if addr <= a < addr + what]:
                    del self.bytes[gone]

    def at(self, addr, length):
        return bytes(self.bytes.get(a, 0) for a in range(addr, addr + length))


def once(recording):
    """Indices of steps whose instruction is executed once."""
    counts = collections.Counter(s.pc for s in recording.all_steps)
    alone = [i for i, s in enumerate(recording.all_steps) if counts[s.pc] == 1]
    return alone[::max(1, len(alone) // N_PLACES)]


def expected(recording, places, target):
    """(pc, [(address, bytes)]) before each of the steps in @places."""
    ranges = [(a, n) for k in recording.keyframes for _, a, n, prot, _, _, file in k.maps if prot & 2 and file]
    assert ranges, recording.keyframes[0].maps
    memory, wanted = Memory(), set(places)
    for k in recording.keyframes:
        memory.take(k)
    for i, (step, regs) in enumerate(recording.states()):
        if i in wanted:
            yield step.pc, [(a, memory.at(a, n)) for a, n in [*ranges, (regs[SP[target]], STACK)]]
        memory.take(step)
        for *_, inner in step.calls + step.signals:
            memory.take(inner)


class Stub(Rsp):
    """QEMU's: it wants each packet to be acknowledged."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.socket.settimeout(LIMIT)
        self.data = b""

    def receive(self):
        payload = super().receive()
        self.socket.sendall(b"+")
        return payload


def connected(path, qemu):
    """The stub, as soon as it listens."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end and qemu.poll() is None:
        try:
            return Stub(path)
        except OSError:
            time.sleep(0.02)
    raise AssertionError(("no stub", qemu.poll()))


def shown(stub, addr, length):
    data = b""
    while len(data) < length:
        reply = stub.ask(f"m{addr + len(data):x},{min(PIECE, length - len(data)):x}")
        if reply.startswith("E"):
            break       # above the stack
        data += bytes.fromhex(reply)
    return data


def differences(ours, theirs, pids, order):
    """Words of 4 bytes that differ, but for the process ids."""
    words = [(i, ours[i:i + 4], theirs[i:i + 4]) for i in range(0, min(len(ours), len(theirs)) & ~3, 4)]
    return [w for w in words if w[1] != w[2] and (int.from_bytes(w[1], order), int.from_bytes(w[2], order)) != pids]


def check(target, program, *argv):
    out, path = f"memory.{target}.ucir", os.path.abspath(f"stub.{target}")
    done = record(out, program, *argv, env=ENV, stdin=subprocess.DEVNULL, text=False)
    assert b"unexplained 0" in done.stderr, done.stderr
    recording = Ucir2(out)
    places = once(recording)
    assert len(places) >= N_PLACES, len(places)
    pathlib.Path(path).unlink(missing_ok=True)
    model = ["-cpu", "max,sve=off,sme=off"] if target == "aarch64" else []
    qemu = subprocess.Popen([emulator(target), *model, "-g", path, "-0", program, program, *argv], env=ENV,
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    total = 0
    try:
        with connected(path, qemu) as stub:
            pids = recording.all_steps[0].thread >> 32, qemu.pid
            for n, (pc, pieces) in enumerate(expected(recording, places, target)):
                if n:
                    assert stub.ask(f"Z0,{pc:x},1") == "OK"
                    assert stub.ask("c").startswith("T05"), hex(pc)
                    assert stub.ask(f"z0,{pc:x},1") == "OK"
                for addr, ours in pieces:
                    theirs = shown(stub, addr, len(ours))
                    wrong = differences(ours, theirs, pids, ENDS.get(target, "little"))
                    assert theirs and not wrong, (n, hex(pc), hex(addr), wrong[:4])
                    total += len(theirs)
    finally:
        qemu.kill()
        qemu.wait()
    print(f"# {target}: {len(places)} places, {total} bytes")


def memory_of(target):
    emulator(target)
    check(target, build_bare(target))


def memory_with_a_library(target):
    emulator(target)
    check(target, build("subject.c", f"subject.{target}", "-O1 -static -no-pie -pthread -w", target), "1")


for name in COMPILERS:
    add_case(f"memory of {name} is that of the stub", memory_of, name)
for name in "x86_64", "aarch64":
    add_case(f"memory of {name} with a library is that of the stub", memory_with_a_library, name)
run_cases()
