# SPDX-License-Identifier: MIT
"""A second reader of UCIR version 2, written from its specification and used by tests only: slow and plain.

    recording = Ucir2(path)
    for step in recording.steps(): step.thread, step.pc, step.len, step.regs, step.reads, step.writes

It shares nothing with the loader or the recorder, so that what both get wrong alike is seen.
"""
import gc
import struct

HEADER = 74
WORD = {"x86": 4, "arm": 4, "mips": 4}
REGISTER, ADDRESS = struct.Struct("<HQ"), struct.Struct("<QI")
END_KINDS = "exit", "signal", "exec", "cut"


def unsnap(block):
    """One snappy block."""
    at, total, shift = 0, 0, 0
    while True:
        byte = block[at]
        total |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            break
    out = bytearray()
    while at < len(block):
        tag = block[at]
        at += 1
        if not tag & 3:
            n = (tag >> 2) + 1
            if n > 60:
                extra = n - 60
                n = int.from_bytes(block[at:at + extra], "little") + 1
                at += extra
            out += block[at:at + n]
            at += n
            continue
        if tag & 3 == 1:
            n, back = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | block[at]
            at += 1
        else:
            size = 2 if tag & 3 == 2 else 4
            n, back = (tag >> 2) + 1, int.from_bytes(block[at:at + size], "little")
            at += size
        if back >= n:
            out += out[len(out) - back:len(out) - back + n]
        else:
            for _ in range(n):
                out.append(out[-back])
    assert len(out) == total
    return bytes(out)


def unframe(data):
    at, out = 0, []
    while at < len(data):
        kind, size = data[at], int.from_bytes(data[at + 1:at + 4], "little")
        body = data[at + 4:at + 4 + size]
        if kind == 0:
            out.append(unsnap(body[4:]))
        elif kind == 1:
            out.append(body[4:])
        at += 4 + size
    return b"".join(out)


def update(regs, changes):
    """x86: xmm (122...) is the lower half of ymm (154...)."""
    for num, value in changes.items():
        regs[num] = value
        if 154 <= num < 170 and isinstance(value, bytes) and len(value) == 32:
            regs[num - 32] = value[:16]
        elif num + 32 in regs and 122 <= num < 138 and isinstance(value, bytes):
            regs[num + 32] = value + regs[num + 32][16:]


class Step:
    """What a step changed; pc is where it stands."""
    __slots__ = "thread", "pc", "len", "regs", "reads", "writes", "changed", "calls", "signals", "gaps", "maps", "after"

    def __init__(self, thread, pc):
        self.thread, self.pc, self.len = thread, pc, 0
        self.regs, self.reads, self.writes, self.changed = {}, [], [], []
        self.calls, self.signals, self.gaps, self.maps = [], [], [], []
        self.after = []     # what happened in those, in order


class Ucir2:
    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        assert data[:8] == b"UCIR\0\0\0\2", data[:8]
        self.arch = data[8:40].rstrip(b"\0").decode()
        self.is_big = data[72] == 1
        self.stream = unframe(data[HEADER:])
        self.notes, self.end, self.keyframes, self.thread_ends = {}, None, [], []
        self.all_steps = []
        self.order = []     # keyframes, steps and what happened after them, as they happened
        self.final_pc = {}
        self._groups, self._pc, self._last = {}, {}, {}
        self._at = 0
        gc.disable()            # it would look at millions of objects again and again
        self._decode()
        gc.enable()

    def _u(self, n):
        at = self._at
        self._at = end = at + n
        return int.from_bytes(self.stream[at:end], "little")

    def _bytes(self, n):
        value = self.stream[self._at:self._at + n]
        assert len(value) == n, "cut"
        self._at += n
        return value

    def _decode(self):
        while self._at < len(self.stream):
            op = self._u(1)
            if op in (1, 2):
                pid, n = self._u(8), self._u(4)
                if op == 2:
                    group = Step(pid, None)
                    self.keyframes.append(group)
                    self._groups[pid] = group
                    self._last[pid] = group     # for the call in which a thread was when the recording began
                if op == 1:
                    self._frame(pid, n)
                    continue
                for _ in range(n):
                    self._op(pid)
                if op == 2:
                    self._groups.pop(pid)
                    self.order.append(group)
            elif op == 18:
                key, n = self._u(1), self._u(4)
                self.notes.setdefault(key, []).append(self._bytes(n))
            elif op == 19:
                self.end = END_KINDS[self._u(1)], self._u(4)
            else:
                assert op == 0, (op, self._at)
        self.final_pc = self._pc

    def _frame(self, pid, n):
        """n times _op(), in one loop for the ops that most steps are made of."""
        stream, at, group = self.stream, self._at, self._groups.pop(pid, None)
        for _ in range(n):
            op = stream[at]
            if op == 4:
                group = group or Step(pid, None)
                group.thread, group.pc, group.len = pid, self._pc[pid], stream[at + 1]
                self._pc[pid] += group.len
                self._last[pid] = group
                self.all_steps.append(group)
                self.order.append(group)
                group, at = None, at + 2
            elif op == 3:
                self._pc[pid], at = ADDRESS.unpack_from(stream, at + 1)[0], at + 13
            elif op in (5, 7, 8):
                group = group or Step(pid, None)
                if op == 5:
                    num, group.regs[num] = REGISTER.unpack_from(stream, at + 1)
                    at += 11
                    continue
                addr, size = ADDRESS.unpack_from(stream, at + 1)
                at += 13
                if op == 7:
                    group.reads.append((addr, size))
                else:
                    assert at + size <= len(stream), "cut"
                    group.writes.append((addr, stream[at:at + size]))
                    at += size
            else:
                if group:
                    self._groups[pid] = group
                self._at = at
                self._op(pid)
                at, group = self._at, self._groups.pop(pid, None)
        if group:
            self._groups[pid] = group
        self._at = at

    def _nested(self, target, n):
        for _ in range(n):
            self._state(self._u(1), target)

    def _state(self, op, g):
        """An op that says something about state."""
        if op == 5:
            num, value = self._u(2), self._u(8)
            g.regs[num] = value
        elif op == 6:
            num, n = self._u(2), self._u(2)
            g.regs[num] = self._bytes(n)
        elif op == 7:
            g.reads.append((self._u(8), self._u(4)))
        elif op == 8:
            addr, n = self._u(8), self._u(4)
            g.writes.append((addr, self._bytes(n)))
        elif op == 9:
            addr, size, prot, off, _, nd, nf = struct.unpack("<QQBQQHH", self._bytes(37))
            g.maps.append(("map", addr, size, prot, off, self._bytes(nd).decode(), self._bytes(nf).decode()))
            g.writes.append((addr, size))      # zeros
        elif op == 10:
            g.maps.append(("unmap", self._u(8), self._u(8)))
        elif op == 11:
            g.maps.append(("prot", self._u(8), self._u(8), self._u(1)))
        elif op == 13:
            g.maps.append(("exit",))
        elif op == 16:
            g.maps.append(("forget", self._u(8), self._u(8)))
        elif op == 17:
            addr, n = self._u(8), self._u(4)
            value = self._bytes(n)
            g.changed.append((addr, value))
            g.writes.append((addr, value))
        else:
            raise AssertionError((op, self._at))

    def _op(self, pid):
        op = self._u(1)
        if op == 3:
            self._pc[pid], _ = self._u(8), self._u(4)
        elif op == 4:
            g = self._groups.pop(pid, None) or Step(pid, None)
            g.thread, g.pc, g.len = pid, self._pc[pid], self._u(1)
            self._pc[pid] += g.len
            self._last[pid] = g
            self.all_steps.append(g)
            self.order.append(g)
        elif op == 12:
            num, ret, n_args, n = self._u(4), self._u(8), self._u(1), self._u(4)
            args = [self._u(8) for _ in range(n_args)]
            assert pid not in self._groups, "SYSCALL inside a group"
            inner = Step(pid, None)
            self._nested(inner, n)
            self._last[pid].calls.append((num, ret, args, inner))
            self._last[pid].after.append(inner)
            self.order.append(inner)
        elif op == 14:
            num, code, addr, flags, n = struct.unpack("<HiQBI", self._bytes(19))
            assert pid not in self._groups, "SIGNAL inside a group"
            inner = Step(pid, None)
            self._nested(inner, n)
            self._last[pid].signals.append((num, code, addr, flags, inner))
            self._last[pid].after.append(inner)
            self.order.append(inner)
        elif op == 20:
            count, n = self._u(8), self._u(4)
            assert pid not in self._groups, "GAP inside a group"
            inner = Step(pid, None)
            self._nested(inner, n)
            self._last[pid].gaps.append((count, inner))
            self._last[pid].after.append(inner)
            self.order.append(inner)
        elif op == 15:
            self.thread_ends.append((pid, self._u(4)))
        else:
            group = self._groups.get(pid)
            if group is None:
                group = self._groups[pid] = Step(pid, None)
            self._state(op, group)

    def states(self):
        """(step, registers before it) in the order of the file; registers are a dict that changes."""
        regs = {k.thread: {} for k in self.keyframes}
        for k in self.keyframes:
            update(regs[k.thread], k.regs)
            for *_, inner in k.calls:
                update(regs[k.thread], inner.regs)
        for step in self.all_steps:
            mine = regs[step.thread]
            yield step, mine
            update(mine, step.regs)
            for inner in step.after:
                update(mine, inner.regs)

    def memory(self, start, length):
        """The bytes from an address on, at the end; what was never written is zero."""
        found = bytearray(length)

        def apply(g):
            for addr, what in g.writes:
                size = len(what) if isinstance(what, bytes) else what
                a, b = max(addr, start), min(addr + size, start + length)
                if a < b:
                    found[a - start:b - start] = what[a - addr:b - addr] if isinstance(what, bytes) else bytes(b - a)

        for k in self.keyframes:
            apply(k)
        for step in self.all_steps:
            apply(step)
            for inner in step.after:
                apply(inner)
        return bytes(found)
