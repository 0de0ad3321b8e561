#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debuggers of disassemblers that speak the remote protocol themselves: what they send, as raw packets.

Binary Ninja's adapter for gdb servers (its source is public) names the process by the thread of the last stop, reads
modules from /proc/PID/maps by vFile, and steps and continues by vCont without a thread, or by bs and bc. The source
of IDA's is not public: the packets of its connection are those that two public logs show (issue 134 of
daniel5151/gdbstub, issue 128 of qilingframework/qiling); for steps a client with plain packets takes its place.
Ghidra's debugger is a Python package that a launcher script loads into gdb; a package with the same commands and the
same catchpoint (ghidragdb/hooks.py) takes its place.
"""
import os
import pathlib
import re
import struct
import subprocess

from _record import build, record
from _recording import Recording
from _rsp import Rsp
from _server import LIMIT, Server
from _tap import SRCDIR, TRACESTUB, case, run_cases

WALK = Recording("x64_walk")
OFFERED = ("qSupported:swbreak+;hwbreak+;qRelocInsn+;fork-events+;vfork-events+;exec-events+;vContSupported+;"
           "QThreadEvents+;no-resumed+;xmlRegisters=i386")


def fields(stop):
    assert stop.startswith("T"), stop
    return dict(f.split(":", 1) for f in stop[3:].split(";") if ":" in f)


def pc_of(stop):
    """rip is register 0x10."""
    return int.from_bytes(bytes.fromhex(fields(stop)["10"]), "little")


def read_file(r, path):
    assert r.ask("vFile:setfs:0") == "F0"
    opened = r.ask(f"vFile:open:{path.encode().hex().upper()},0,0")
    assert opened.startswith("F") and not opened.startswith("F-"), opened
    fd, data = int(opened[1:], 16), ""
    while not (part := r.ask(f"vFile:pread:{fd:X},400,{len(data):X}")).startswith("F0"):
        data += part.split(";", 1)[1]
    assert r.ask(f"vFile:close:{fd:X}") == "F0"
    return data


@case
def binary_ninja_connects_and_reads_registers_threads_and_modules():
    with Server(WALK.trace, "--exec", WALK.exec) as server, Rsp(server.address) as r:
        assert r.ask("Hg0") == "OK"
        offered = r.ask(OFFERED).split(";")
        assert "ReverseStep+" in offered and "ReverseContinue+" in offered, offered
        assert "<architecture>i386:x86-64</architecture>" in r.ask("qXfer:features:read:target.xml:0,4096")
        thread = fields(r.ask("?"))["thread"]
        assert r.ask("qfThreadInfo") == f"m{thread}" and r.ask("qsThreadInfo") == "l"
        assert [r.ask(f"{p}{thread}") for p in ("T", "Hc", "Hg")] == ["OK"] * 3
        assert len(r.ask("g")) >= 2 * 8 * 17
        maps = read_file(r, f"/proc/{int(thread, 16)}/maps")
        pc = WALK.pcs()[0]
        assert any(int(a, 16) <= pc < int(b, 16) for a, b in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) r.x", maps, re.M)), maps


@case
def binary_ninja_steps_and_continues_both_ways():
    pcs = WALK.pcs()
    target = pcs[500]
    first = WALK.positions(target)[0]
    with Server(WALK.trace) as server, Rsp(server.address) as r:
        r.ask(OFFERED)
        r.ask("?")
        assert [pc_of(r.ask("vCont;s")) for _ in range(5)] == pcs[1:6]
        assert [pc_of(r.ask("bs")) for _ in range(5)] == pcs[4::-1]
        assert r.ask(f"Z0,{target:x},1") == "OK"
        stop = r.ask("vCont;c")
        assert pc_of(stop) == target and "swbreak" in fields(stop), stop
        assert r.ask(f"z0,{target:x},1") == "OK"        # it steps over its breakpoints by itself
        assert pc_of(r.ask("bs")) == pcs[first - 1]
        assert pc_of(r.ask("bc")) == pcs[0]
        assert r.ask("D") == "OK"


def byte_of_program(address):
    """By the program headers of the 64-bit ELF file: 56 bytes each; p_offset at 8, p_vaddr at 16, p_filesz at 32."""
    data = pathlib.Path(WALK.exec).read_bytes()
    table, number = struct.unpack_from("<Q", data, 0x20)[0], struct.unpack_from("<H", data, 0x38)[0]
    for n in range(number):
        kind, _, offset, virtual, _, size = struct.unpack_from("<IIQQQQ", data, table + 56 * n)
        if kind == 1 and virtual <= address < virtual + size:
            return data[offset + address - virtual]
    raise AssertionError(hex(address))


@case
def ida_connects_and_reads_threads_registers_and_the_program():
    with Server(WALK.trace, "--exec", WALK.exec) as server, Rsp(server.address) as r:
        offered = r.ask("qSupported:xmlRegisters=i386,arm,mips").split(";")
        assert "qXfer:features:read+" in offered and "qXfer:threads:read+" in offered, offered
        assert [r.ask(p) for p in ("QDisableRandomization:1", "!", "Hg0")] in (["", "OK", "OK"], ["OK", "OK", "OK"])
        assert "<architecture>i386:x86-64</architecture>" in r.ask("qXfer:features:read:target.xml:0,3ffe")
        assert pc_of(first := r.ask("?")) == WALK.pcs()[0]
        assert int(r.ask(f"m{pc_of(first):x},1"), 16) == byte_of_program(pc_of(first))
        assert fields(r.ask("?")) == fields(first)
        (thread,) = re.findall(r'<thread id="(\w+)"', r.ask("qXfer:threads:read::0,3ffe"))
        assert thread == fields(first)["thread"]
        r.ask("qC")
        assert r.ask("g")[2 * 8 * 16:2 * 8 * 17] == fields(first)["10"]
        assert r.ask("qXfer:exec-file:read::0,3ffe").startswith("l")


GHIDRAGDB = """
import gdb
class Prefix(gdb.Command):
    def __init__(self, name): super().__init__(name, gdb.COMMAND_NONE, prefix=True)
class Command(gdb.Command):
    def __init__(self, name, function=print):
        super().__init__(name, gdb.COMMAND_USER)
        self.name, self.function = name, function
    def invoke(self, argument, from_tty): self.function("ghidra:", self.name, argument)
def sync(*words):
    print(*words)
    gdb.execute("catch syscall group:memory\\ncommands\\nsilent\\nhooks-ghidra event-memory\\ncont\\nend\\n")
for name in "ghidra", "ghidra trace", "hooks-ghidra": Prefix(name)
Command("ghidra trace sync-enable", sync)
for name in "ghidra trace connect", "ghidra trace start", "ghidra trace sync-synth-stopped", "hooks-ghidra event-memory":
    Command(name)
"""


def ghidra(trace, typed):
    """What the launcher's gdb prints: Ghidra gives it the recording, its own address, and a terminal."""
    package = pathlib.Path("a ghidra/Ghidra/Debug/Debugger-agent-gdb/pypkg/src/ghidragdb")
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(GHIDRAGDB)
    env = {**os.environ, "GHIDRA_HOME": str(package.parents[5].resolve()), "GHIDRA_TRACE_RMI_ADDR": "127.0.0.1:4711",
           "OPT_TARGET_IMG": "", "OPT_TRACESTUB_PATH": TRACESTUB}
    said = subprocess.run(["bash", SRCDIR / "src/program/tracestub-ghidra.sh", trace], env=env, text=True, input=typed,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
    assert said.returncode == 0, said
    return said.stdout


@case
def ghidras_launcher_goes_backwards_over_calls_that_map_memory():
    """Ghidra's own catchpoint for these goes on forwards, where Python runs the command, as Ghidra's buttons do."""
    assert record("story so far.ucir", build("friends.c", "friends", "-g -w")).returncode < 0
    said = ghidra("story so far.ucir", "goto end\npython gdb.execute('reverse-continue')\nwhen\nkill\nquit\n")
    assert re.findall("^ghidra: ghidra trace (.*?) *$", said, re.M) == ["connect '127.0.0.1:4711'", "start", "sync-enable",
                                                                      "sync-synth-stopped"], said
    assert re.search(r"^(\(gdb\) )?position 0 of", said, re.M), said
    assert len(re.findall("ghidra: hooks-ghidra event-memory", said)) >= 2, said


@case
def a_client_with_plain_packets_steps_and_stops():
    pcs = WALK.pcs()
    with Server(WALK.trace) as server, Rsp(server.address) as r:
        assert r.ask("qSupported").startswith("PacketSize=")
        assert [r.ask(p) for p in ("Hc-1", "Hg0")] == ["OK"] * 2
        assert pc_of(r.ask("s")) == pcs[1]
        assert int.from_bytes(bytes.fromhex(r.ask("p10")), "little") == pcs[1]
        assert r.ask(f"Z0,{pcs[500]:x},1") == "OK"
        assert pc_of(r.ask("c")) == pcs[500]


run_cases()
