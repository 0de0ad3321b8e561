# SPDX-License-Identifier: MIT
"""gdb's recordings read in the plainest way: a core file's segments, its notes, and the groups of the log.

Sizes of registers are gdb's (amd64-tdep.h, i386-tdep.h, arch/arm.h, arch/aarch64.h), up to the last one that a log has.
"""
import re
from collections import namedtuple

X64 = [8] * 17 + [4] * 7 + [10] * 8 + [4] * 8 + [16] * 16 + [4]
I386 = [4] * 16 + [10] * 8 + [4] * 8 + [16] * 8 + [4]
ARM = [4] * 16 + [12] * 8 + [4, 4]
MACHINES = {62: X64, 3: I386, 40: ARM, 183: None}     # AArch64's depend on the description
VSYSCALL = 0xffffffffff600000

Segment = namedtuple("Segment", "kind off addr file_len")
Group = namedtuple("Group", "regs memory signal count end")     # {number: bytes}, [(address, bytes)], its end in the file


class Core:
    def __init__(self, data):
        self.data, self.is_64 = data, data[4] == 2
        self.word = 8 if self.is_64 else 4
        self.segments = list(self.read_segments())
        self.log = next(s for s in self.segments if s.kind == 0 and s.file_len)
        self.loads = [s for s in self.segments if s.kind == 1 and s.addr != VSYSCALL]
        self.has_files = any(kind == 0x46494c45 for kind, _ in self.notes())
        self.sizes = MACHINES[self.number(18, 2)] or self.arm64_sizes()

    def number(self, at, length):
        return int.from_bytes(self.data[at:at + length], "little")

    def read_segments(self):
        table = self.number(32 if self.is_64 else 28, self.word)
        fields = (0, 8, 16, 32) if self.is_64 else (0, 4, 8, 16)
        for i in range(self.number(56 if self.is_64 else 44, 2)):
            head = table + i * (56 if self.is_64 else 32)
            yield Segment(self.number(head, 4), *(self.number(head + f, self.word) for f in fields[1:]))

    def notes(self):
        """(type, bytes)"""
        for s in self.segments:
            at = s.off
            while s.kind == 4 and at < s.off + s.file_len:
                name, length, kind = (self.number(at + i, 4) for i in (0, 4, 8))
                desc = at + 12 + (name + 3 & ~3)
                yield kind, self.data[desc:desc + length]
                at = desc + (length + 3 & ~3)

    def arm64_sizes(self):
        text = next(desc for kind, desc in self.notes() if kind == 0xff000000)
        z = re.search(rb'name="z0" bitsize="(\d+)"', text)
        return [8] * 33 + [4] + [int(z[1]) // 8 if z else 16] * 32 + [4, 4]

    def find(self, addr):
        """The load with an address, and where that is in the file."""
        for s in self.loads:
            if s.addr <= addr < s.addr + s.file_len:
                return s, s.off + addr - s.addr
        return None, None

    def bytes_at(self, addr, length):
        load, off = self.find(addr)
        return self.data[off:off + min(length, load.addr + load.file_len - addr)] if load else b""

    def be(self, at, length):
        return int.from_bytes(self.data[at:at + length], "big")

    def groups_of_18(self, at, last):
        while at + 13 < last:
            signal, n, count, number = self.data[at], self.be(at + 1, 4), self.be(at + 5, 4), self.be(at + 9, 4)
            at += 13 + self.sizes[number]
            regs, memory = {number: self.data[at - self.sizes[number]:at]}, []
            for _ in range(n):
                if self.data[at] == 0:
                    number = self.be(at + 1, 4)
                    at += 5 + self.sizes[number]
                    regs[number] = self.data[at - self.sizes[number]:at]
                else:
                    length, addr = self.be(at + 1, 4), self.be(at + 5, 8)
                    at += 13 + length
                    memory.append((addr, self.data[at - length:at]))
            yield Group(regs, memory, signal, count, at)

    def groups(self):
        """Whole groups, as far as the file has them."""
        if self.be(self.log.off, 4) == 0x20260415:
            yield from self.groups_of_18(self.log.off + 4, self.log.off + self.log.file_len)
            return
        at, last = self.log.off + 4, min(self.log.off + self.log.file_len, len(self.data))
        regs, memory = {}, []
        while at < last:
            kind, at = self.data[at], at + 1
            if kind == 0:
                signal, count = (int.from_bytes(self.data[at + i:at + i + 4], "big") for i in (0, 4))
                at += 8
                if at <= last:
                    yield Group(regs, memory, signal, count, at)
                regs, memory = {}, []
            elif kind == 1:
                number = int.from_bytes(self.data[at:at + 4], "big")
                at += 4 + self.sizes[number]
                regs[number] = self.data[at - self.sizes[number]:at]
            else:
                length, addr = (int.from_bytes(self.data[at + i:at + i + n], "big") for i, n in ((0, 4), (4, 8)))
                at += 12 + length
                memory.append((addr, self.data[at - length:at]))


class Memory:
    """What is in memory at each position: of the loads and the log."""

    def __init__(self, core):
        self.core, self.groups = core, list(core.groups())
        self.before = {}    # of unmapped regions: {address: [(position, what is there up to it)]}
        for k, group in enumerate(self.groups):
            for addr, data in group.memory:
                for a in range(addr, addr + len(data)) if self.is_unmapped(addr) else ():
                    self.before.setdefault(a, []).append((k, data[a - addr]))

    def is_unmapped(self, addr):
        """gdb could not swap these records with memory, so they have the old bytes. Without a list of files it left regions out."""
        return self.core.has_files and not self.core.find(addr)[0]

    def touched(self):
        """Ranges of addresses that the log has, merged."""
        ranges = []
        for first, end in sorted({(a, a + len(d)) for g in self.groups for a, d in g.memory}):
            if ranges and first <= ranges[-1][1]:
                ranges[-1][1] = max(end, ranges[-1][1])
            else:
                ranges.append([first, end])
        return [(first, end - first) for first, end in ranges if end > first]

    def positions(self, ranges):
        """At each position: the bytes of each range, in hexadecimal, ".." where unknown."""
        now = [[f"{b[0]:02x}" if (b := self.core.bytes_at(first + i, 1)) else ".." for i in range(length)]
               for first, length in ranges]
        texts = ["".join(row) for row in now]
        for k in range(len(self.groups) + 1):
            changes = list(self.unmapped_at(k))
            if k:
                changes += [(a, data) for a, data in self.groups[k - 1].memory if not self.is_unmapped(a)]
            for addr, data in changes:
                for i, (first, length) in enumerate(ranges):
                    low, high = max(first, addr), min(first + length, addr + len(data))
                    if low < high:
                        now[i][low - first:high - first] = (".." if b is None else f"{b:02x}" for b in data[low - addr:high - addr])
                        texts[i] = "".join(now[i])
            yield list(texts)

    def unmapped_at(self, k):
        """What is known of unmapped regions at position k, from the first record there on: [(address, bytes or None)]."""
        for addr, records in self.before.items():
            yield addr, [next((byte for since, byte in records if since >= k), None)]
