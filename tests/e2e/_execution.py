# SPDX-License-Identifier: MIT
"""Real executions, and BAP's frames as a recorder would have made of them.

What is true comes from the oracles in tests/data/usercorn: registers at each position and memory at the start, as the emulator
had them. Which addresses an instruction touches is what the trace says; what stands there is worked out from the start on, and
has to be what the oracle says of the end.
"""
import gzip
import random

from _frames import TAINT_INTRO, Frames, Known, Memory, data, mem, number, reg
from _recording import FOLDER
from _states import steps

X86_FLAGS = {"CF": 0, "PF": 2, "AF": 4, "ZF": 6, "SF": 7, "OF": 11}
ARM_FLAGS = {"NF": 31, "ZF": 30, "CF": 29, "VF": 28}


class Execution:
    def __init__(self, name):
        self.name = name
        self.pcs, self.regs = [], []
        self.read_positions()
        self.steps = [accesses for _, accesses in steps(FOLDER / f"{name}.ucir")]
        self.pcs, self.regs = self.pcs[:len(self.steps) + 1], self.regs[:len(self.steps) + 1]
        self.start, self.end = {}, {}
        self.read_memory()
        self.truth = Known()
        self.follow_memory()

    def read_positions(self):
        regs = {}
        with gzip.open(FOLDER / f"{self.name}.positions.gz", "rt") as lines:
            for line in lines:
                _, pc, *changed = line.split()
                regs.update((n, int(v, 16)) for n, v in (r.split("=") for r in changed))
                self.pcs.append(int(pc, 16))
                self.regs.append(dict(regs))

    def read_memory(self):
        with gzip.open(FOLDER / f"{self.name}.mem.gz", "rt") as lines:
            for line in lines:
                when, *_, low, content = line.split()
                memory = self.end if when == "1" else self.start
                if content != "-":
                    memory.update(enumerate(bytes.fromhex(content), int(low, 16)))

    def follow_memory(self):
        for k, accesses in enumerate(self.steps):
            for kind, addr, value in accesses:
                for i, byte in enumerate(value):
                    if kind != "R":
                        self.truth.write(k + 1, addr + i, byte)
        for addr in self.truth.events:
            assert self.byte(len(self.steps), addr) == self.end.get(addr, 0), f"{addr:#x} at the end"

    def byte(self, pos, addr):
        found = self.truth.at(pos, addr)
        return self.start.get(addr, 0) if found is None else found

    def bytes(self, pos, addr, size):
        return bytes(self.byte(pos, addr + i) for i in range(size))

    def insn_lens(self, longest):
        """By how much an instruction goes on; of one that always jumps that is not known."""
        lens = {}
        for pc, after in zip(self.pcs, self.pcs[1:]):
            if 0 < after - pc <= longest:
                lens[pc] = min(after - pc, lens.get(pc, longest))
        return lens


class Recorded:
    """An execution in frames, and what they show: known registers (by gdb's names) and memory."""

    def __init__(self, execution, file, thread):
        self.execution, self.file, self.thread = execution, file, thread
        self.known, self.memory = Known(), Memory()
        self.random = random.Random(execution.name)
        self.flags = {}

    def read_reg(self, k, name, value, size):
        self.known.see(k, name, value)
        return reg(self.name(name), value, size, False, self.bits(size))

    def write_reg(self, k, name, value, size):
        self.known.write(k + 1, name, value)
        return reg(self.name(name), value, size, True, self.bits(size))

    def record(self, k):
        e = self.execution
        before, after, accesses = e.regs[k], e.regs[k + 1], e.steps[k]
        size, pc = self.SIZE, e.pcs[k]
        raw = e.bytes(k, pc, self.lens[pc]) if pc in self.lens else b""
        some = [n for n in before if n != self.STATUS]
        pre = [self.read_reg(k, n, before[n], size) for n in self.random.sample(some, self.random.choice((0, 1, 1, 3)))]
        if not raw or not pre:
            pre.append(self.read_reg(k, some[0], before[some[0]], size))
        self.memory.see_code(k, pc, raw)
        for kind, addr, value in accesses:
            if kind == "R":
                value = e.bytes(k, addr, len(value))
                self.memory.see_bytes(k, addr, value)
                pre.append(mem(addr, value))
        post = [self.write_reg(k, n, after[n], size) for n in some if after[n] != before[n]]
        pre += self.read_flags(k, before[self.STATUS])
        post += self.write_flags(before[self.STATUS], after[self.STATUS])
        for kind, addr, value in accesses:
            if kind == "W":
                self.memory.write_bytes(k + 1, addr, value)
                post.append(mem(addr, value, True))
        self.before(k, raw)
        self.file.std(pc, self.thread, raw, pre, post, self.mode(k))
        for kind, addr, value in accesses:
            if kind == "K":
                self.memory.write_bytes(k + 1, addr, value)
                self.file.add(TAINT_INTRO, data(1, data(1, number(1, addr) + number(2, 1) + data(3, value))))

    def before(self, k, raw):
        pass

    def mode(self, k):
        return None


class PinX64(Recorded):
    """As Pin's newer recorder has it: version 2, full registers in capitals, flags of one bit, system calls."""

    SIZE, STATUS = 8, "eflags"

    def __init__(self, execution, thread=0, file=None):
        super().__init__(execution, file or Frames(2, 9, 64, ("bpt", "1.0.0")), thread)
        self.lens = execution.insn_lens(15)

    @staticmethod
    def name(n):
        return n.upper()

    @staticmethod
    def bits(size):
        return 8 * size

    def flag(self, name, value, is_written):
        return reg(name, value >> X86_FLAGS[name] & 1, 1, is_written, 1)

    def read_flags(self, k, value):
        return [self.flag(n, value, False) for n in X86_FLAGS] if k % 50 == 7 else []

    def write_flags(self, before, after):
        return [self.flag(n, after, True) for n in X86_FLAGS] if before != after else []

    def before(self, k, raw):
        if raw == b"\x0f\x05":
            regs = self.execution.regs[k]
            self.file.syscall(self.execution.pcs[k], self.thread, [regs[n] for n in ("rdi", "rsi", "rdx")])


class TracewrapArm(Recorded):
    """As QEMU's recorder has it: version 3, no widths of registers, conditions as numbers of four bytes, modes."""

    SIZE, STATUS = 4, "cpsr"

    def __init__(self, execution, thread=1):
        super().__init__(execution, Frames(3, 35, 0, ("qemu", "6.2.0-tracewrap")), thread)
        self.lens = execution.insn_lens(4)

    @staticmethod
    def name(n):
        return n.upper()

    @staticmethod
    def bits(size):
        return 0

    def flag(self, name, value, is_written):
        return reg(name, value >> ARM_FLAGS[name] & 1, 4, is_written)

    def read_flags(self, k, value):
        ge = [reg("GE", value >> 16 & 15, 4)] if k == 3 else []
        pc = [reg("PC", self.execution.pcs[k] + 8, 4)] if k % 9 == 0 else []
        return ge + pc + [self.flag(n, value, False) for n in ARM_FLAGS if k % 40 == 7]

    def write_flags(self, before, after):
        return [self.flag(n, after, True) for n in ARM_FLAGS] if before != after else []

    def mode(self, k):
        return "arm:t32" if self.execution.regs[k]["cpsr"] & 0x20 else "arm:a32"
