# SPDX-License-Identifier: MIT
"""BAP's frames, written and read by their description, and nothing of the loader's.

    file = Frames(version=3, arch=9, machine=64, tracer=("qemu", "6.2.0-tracewrap"))
    file.std(0x401000, 1, b"\\x90", pre=[reg("RAX", 5, 8)], post=[mem(0x5000, b"abcd")])
    path.write_bytes(file.close())

read_frames() gives the instructions of a file back; Memory is what is known of memory at each position, worked out byte by
byte from them.
"""
import bisect
import struct

MAGIC = 0x677C28828AAF6025
STD, SYSCALL, EXCEPTION, TAINT_INTRO, MODLOAD, KEY = range(1, 7)


def varint(n):
    out = bytearray()
    n &= (1 << 64) - 1
    while n >= 0x80:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n)


def data(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def double(field, n):
    return varint(field << 3 | 1) + struct.pack("<d", n)


def zigzag(n):
    return n << 1 if n >= 0 else -n * 2 - 1


def operand(specific, bits, value, is_written):
    usage = number(1, not is_written) + number(2, is_written) + number(3, 0) + number(4, 0)
    return data(1, specific) + number(2, zigzag(bits)) + data(3, usage) + data(4, number(1, 1)) + data(5, value)


def reg(name, value, size, is_written=False, bits=0):
    return operand(data(2, data(1, name)), bits, value.to_bytes(size, "little"), is_written)


def mem(addr, value, is_written=False):
    return operand(data(1, number(1, addr)), 8 * len(value), value, is_written)


def operands(items):
    return b"".join(data(1, item) for item in items)


class Frames:
    """A file; frames go behind each other, close() puts the index of QEMU's recorders behind them."""

    EACH = 64

    def __init__(self, version, arch, machine, tracer, path="/bin/prog"):
        self.version, self.arch, self.machine, self.frames = version, arch, machine, []
        self.meta = (data(1, data(1, tracer[0]) + data(4, tracer[1])) +
                     data(2, data(1, path) + data(2, path) + data(4, bytes(16))) +
                     data(3, number(1, 0) + double(2, 0) + double(3, 0) + double(4, 0)) +
                     data(4, "user") + data(5, "host") + double(6, 0))

    def add(self, kind, message):
        self.frames.append(data(kind, message))

    def std(self, pc, thread, raw, pre, post, mode=None):
        self.add(STD, number(1, pc) + number(2, thread) + data(3, raw) + data(4, operands(pre)) + data(5, operands(post)) +
                 (data(6, mode) if mode else b""))

    def syscall(self, pc, thread, args):
        """As bpt does: the address stands where the number should."""
        self.add(SYSCALL, number(1, pc) + number(2, thread) + number(3, pc) +
                 data(4, b"".join(number(1, zigzag(a)) for a in args)))

    def modload(self, name, low, high):
        self.add(MODLOAD, data(1, name) + number(2, low) + number(3, high))

    def close(self):
        out = bytearray(struct.pack("<QQ", len(self.meta), 0)[:8] + self.meta if self.version > 1 else b"")
        offsets = []
        for frame in self.frames:
            offsets.append(48 + len(out))
            out += struct.pack("<Q", len(frame)) + frame
        end = 48 + len(out)
        offsets.append(end)
        index = [offsets[k] for k in range(self.EACH, len(offsets), self.EACH)]
        head = struct.pack("<6Q", MAGIC, self.version, self.arch, self.machine, len(self.frames), end)
        return head + bytes(out) + struct.pack(f"<{1 + len(index)}Q", self.EACH, *index)


# ---- reading


def fields(message):
    """(number, value) of each field; values are numbers or bytes."""
    at = 0

    def take():
        nonlocal at
        n = shift = 0
        while True:
            byte = message[at]
            at += 1
            n |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return n
    while at < len(message):
        key = take()
        if key & 7 == 0:
            yield key >> 3, take()
        else:
            size = {1: 8, 5: 4}.get(key & 7) or take()
            yield key >> 3, message[at:at + size]
            at += size


def read_memory(operand_list):
    """(address, value) of each operand that is memory; those of registers begin otherwise."""
    for _, message in fields(operand_list):
        if message[2] == 1 << 3 | 2:
            op = dict(fields(message))
            _, place = next(fields(op[1]))
            _, addr = next(fields(place))
            yield addr, op[5]


def read_registers(operand_list):
    """(name, value) of each operand that is a register."""
    for _, message in fields(operand_list):
        if message[2] == 2 << 3 | 2:
            op = dict(fields(message))
            _, place = next(fields(op[1]))
            _, name = next(fields(place))
            yield name.decode(), op[5]


def read_std(content):
    """The fields of each std frame that is whole, by their numbers."""
    version, *_, end = struct.unpack_from("<5Q", content, 8)
    at = 56 + struct.unpack_from("<Q", content, 48)[0] if version > 1 else 48
    while at + 8 <= (end or len(content)):
        size = struct.unpack_from("<Q", content, at)[0]
        if at + 8 + size > (end or len(content)):
            return
        for kind, message in fields(content[at + 8:at + 8 + size]):
            if kind == STD:
                yield dict(fields(message))
        at += 8 + size


def read_frames(content):
    """(pc, bytes, memory before, memory after) of each std frame that is whole."""
    for std in read_std(content):
        yield std[1], std[3], read_memory(std[4]), read_memory(std[5])


# ---- what is known


class Known:
    """Of each thing, in order: from which position on it is what, and whether that shows what it was before."""

    def __init__(self):
        self.events, self.doubtful = {}, set()

    def see(self, pos, thing, value):
        """It was so at this position."""
        events = self.events.setdefault(thing, [])
        if events and events[-1][0] == pos and events[-1][2] and events[-1][1] != value:
            self.doubtful.add(thing)    # two values of one instruction contradict each other
        events.append((pos, value, True))

    def write(self, pos, thing, value):
        """It is so from this position on."""
        self.events.setdefault(thing, []).append((pos, value, False))

    def at(self, pos, thing):
        """Its value, None if that is unknown."""
        events = self.events.get(thing)
        if not events:
            return None
        n = bisect.bisect_right(events, pos, key=lambda e: e[0])
        if n:
            return events[n - 1][1]
        return events[0][1] if events[0][2] else None


# System calls: x86's syscall, int 0x80 and sysenter, ARM's and Thumb's svc, Power's sc; their effects on memory are in no frame.
SYSTEM_CALLS = {bytes.fromhex(code) for code in ("0f05", "cd80", "0f34", "000000ef", "00df", "44000002")}


class Memory(Known):
    """The bytes that the instructions of a file show. Code is so from the start; what is seen as data for the first time is so
    from the last system call on."""

    def __init__(self, frames=()):
        super().__init__()
        self.n_steps = self.last_call = 0
        self.since = {}
        for k, (pc, raw, before, after) in enumerate(frames):
            seen = set()
            self.see_code(k, pc, raw)
            for addr, value in before:
                if (addr, len(value)) not in seen:
                    seen.add((addr, len(value)))
                    self.see_bytes(k, addr, value)
            for addr, value in after:
                self.write_bytes(k + 1, addr, value)
            self.n_steps = k + 1

    def see_code(self, pos, addr, raw):
        for i, byte in enumerate(raw):
            self.see(pos, addr + i, byte)
        if bytes(raw) in SYSTEM_CALLS:
            self.last_call = pos + 1

    def see_bytes(self, pos, addr, value):
        for i, byte in enumerate(value):
            if addr + i not in self.events:
                self.since[addr + i] = self.last_call if self.last_call <= pos else 0
            self.see(pos, addr + i, byte)

    def at(self, pos, thing):
        return None if pos < self.since.get(thing, 0) else super().at(pos, thing)

    def write_bytes(self, pos, addr, value):
        for i, byte in enumerate(value):
            self.write(pos, addr + i, byte)

    def text(self, pos, addr, size):
        found = (self.at(pos, addr + i) for i in range(size))
        return "".join(".." if byte is None else f"{byte:02x}" for byte in found)
