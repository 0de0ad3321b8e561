#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debuggers of disassemblers that speak the remote protocol themselves: what they send, as raw packets.

Binary Ninja's adapter for gdb servers (its source is public) names the process by the thread of the last stop, reads
modules from /proc/PID/maps by vFile, and steps and continues by vCont without a thread, or by bs and bc. The source
of IDA's is not public, so its packets are not known here: a client with plain packets takes its place.
"""
import re

from _recording import Recording
from _rsp import Rsp
from _server import Server
from _tap import case, run_cases

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
