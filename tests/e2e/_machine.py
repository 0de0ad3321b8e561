# SPDX-License-Identifier: MIT
"""Recordings of a whole machine, made up: written as REVEN's bare binary traces, by the format's description.

    m = Machine()
    m.put(0x6000, b"...")                           memory and registers of position 0
    m.regs["rip"] = 0x401000
    m.step({"rip": 0x401004}, {0x6000: b"\\x11"})    what an instruction wrote
    m.other("hw interrupt 32", {"rip": ...})        an interrupt
    path = m.save()

Memory has MEMORY bytes from address 0 on.
"""
import os
import struct
import tempfile

from _gdb import Gdb
from _server import Server

MEMORY = 0x20000
ADDR = 5        # bytes of a physical address
EFER = "msr_c0000080"
REGS = {**{name: 8 for name in "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split()}, "eflags": 4,
        **{name: 2 for name in "cs ss ds es fs gs".split()},
        **{name: 8 for name in "cs_shadow cr0 cr2 cr3 cr4 cr8".split()}, EFER: 8}
IDS = {name: i for i, name in enumerate(REGS)}
LONG, DEFAULT_32 = 1 << 53, 1 << 54         # of cs_shadow
USER, KERNEL = 0x33, 0x10


def section(data):
    return struct.pack("<Q", len(data)) + data


def text(s):
    return bytes([len(s)]) + s.encode()


class Machine:
    def __init__(self, cr0=0x80000001, cr3=0x1000, cr4=0x20, efer=0x400, cs_shadow=LONG):
        self.memory, self.events = bytearray(MEMORY), []
        self.regs = {name: 0 for name in REGS}
        self.regs.update({"cr0": cr0, "cr3": cr3, "cr4": cr4, EFER: efer, "cs": USER, "cs_shadow": cs_shadow})

    def put(self, addr, data):
        self.memory[addr:addr + len(data)] = data

    def entry(self, table, index, value):
        self.put(table + 8 * index, struct.pack("<Q", value))

    def step(self, regs, memory={}, prefix=b""):
        assert len(regs) < 15 and len(memory) < 15
        event = prefix + bytes([len(regs) << 4 | len(memory)])
        for addr, data in memory.items():
            event += addr.to_bytes(ADDR, "little") + bytes([len(data)]) + data
        for name, value in regs.items():
            event += bytes([IDS[name]]) + value.to_bytes(REGS[name], "little")
        self.events.append(event)

    def other(self, what, regs, memory={}):
        self.step(regs, memory, b"\xff\xff" + text(what))

    def save(self):
        machine = b"x641" + bytes([ADDR]) + struct.pack("<I", 1) + (0).to_bytes(ADDR, "little")
        machine += MEMORY.to_bytes(ADDR, "little") + struct.pack("<I", len(REGS))
        machine += b"".join(struct.pack("<HH", IDS[name], size) + text(name) for name, size in REGS.items())
        machine += struct.pack("<I", 0)
        machine += struct.pack("<I", 1) + text("cpuid_max_phy_addr") + b"\x01\x28"
        initial = struct.pack("<I", len(REGS))
        for name, size in REGS.items():
            initial += struct.pack("<H", IDS[name]) + self.regs[name].to_bytes(size, "little")
        fd, path = tempfile.mkstemp(suffix=".rvn")
        with os.fdopen(fd, "wb") as f:
            for part in b"\0", machine, bytes(self.memory), initial:
                f.write(section(part))
            f.write(section(struct.pack("<Q", len(self.events)) + b"".join(self.events)))
        return path


class Session:
    """gdb without a program, connected to a server on a machine."""

    def __init__(self, machine, *options):
        self.trace = machine.save()
        self.server = Server(self.trace, *options)
        self.gdb = Gdb("x64_walk", server=self.server, has_exec=False)

    def __enter__(self):
        return self.gdb

    def __exit__(self, *failure):
        self.gdb.__exit__(*failure)
        self.server.close()
        os.unlink(self.trace)
