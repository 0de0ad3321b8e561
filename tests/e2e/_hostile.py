# SPDX-License-Identifier: MIT
"""Traces that cost as much as their format allows: each family takes a size in items (threads, sessions, ...).

By hand:  python3 tests/e2e/_hostile.py FAMILY N > FILE
"""
import json
import struct
import sys


def varying(n):
    return (n * 2654435761) & 0xffffffff


# ------------------------------------------------------------------------------------------------ x64dbg

RIP, N_SLOTS = 16, 172


def x64_head():
    text = json.dumps({"ver": 1, "arch": "x64", "compression": ""}, separators=(",", ":")).encode()
    return b"TRAC" + struct.pack("<I", len(text)) + text


def x64_block(pc, tid=None, is_full=False, opcode=b"\x90"):
    n_regs = N_SLOTS if is_full else 1
    head = bytes([0, n_regs, 0, (0x80 if tid is not None else 0) | len(opcode)])
    slots = bytes(N_SLOTS) if is_full else bytes([RIP])
    values = [0] * N_SLOTS if is_full else [pc]
    if is_full:
        values[RIP] = pc
    return (head + (struct.pack("<I", tid) if tid is not None else b"") + opcode + slots +
            struct.pack(f"<{n_regs}Q", *values))


def x64_user(data=b"", kind=0x81):
    return bytes([kind]) + struct.pack("<I", len(data)) + data


def x64_threads(n):
    """A new thread each block."""
    yield x64_head()
    yield x64_block(0x1000, 1, True)
    for i in range(n):
        yield x64_block(0x1001 + i, 2 + i)


def x64_sessions(n):
    """@n sessions, at the first of which there are ten times as many threads."""
    yield from x64_threads(10 * n)
    for i in range(n):
        yield x64_block(0x1000, 1, True)
        yield x64_block(0x1001)


def x64_damage(n):
    """Damage, then places that look like blocks and all lead into the same run of plugins' blocks, to more damage."""
    yield x64_head()
    yield x64_block(0x1000, 1, True)
    yield x64_block(0x1001)
    yield b"\x7f"
    place = len(x64_block(0, 1, True)) + 5
    for i in range(n):
        yield x64_block(0x1000, 1, True) + b"\x81" + struct.pack("<I", (n - i - 1) * place)
    yield x64_user() * (20 * n)
    yield b"\x7f" * 4000


def x64_nested(n):
    """The same, and each leads to a run of its own, far away."""
    yield x64_head()
    yield x64_block(0x1000, 1, True)
    yield x64_block(0x1001)
    yield b"\x7f"
    place, run = len(x64_block(0, 1, True)) + 5, 8 * 5 + 1
    for i in range(n):
        yield x64_block(0x1000, 1, True) + b"\x81" + struct.pack("<I", (n - i - 1) * place + i * run)
    yield (x64_user() * 8 + b"\x7f") * n
    yield b"\x7f" * 4000


def x64_json(n):
    """A plugin's facts of many small values."""
    yield x64_head()
    yield x64_block(0x1000, 1, True)
    yield x64_block(0x1001)
    yield x64_user(b'{"modules":[{}' + b",{}" * n + b"]}", 0x80)


# ---------------------------------------------------------------------------------------------- usercorn

JMP, STEP, REG, READ, WRITE, MAP, UNMAP, SYSCALL, EXIT = 3, 4, 5, 7, 8, 9, 10, 12, 13


def ucir_head():
    """Version 0, which has processes, and no frames of snappy."""
    return (b"UCIR" + bytes(4) + b"x86_64".ljust(32, b"\0") + b"linux".ljust(32, b"\0") + bytes(2))


def ucir_frame(pid, *ops, kind=1, n_ops=None):
    return bytes([kind]) + struct.pack("<QI", pid, len(ops) if n_ops is None else n_ops) + b"".join(ops)


def ucir_jmp(addr):
    return bytes([JMP]) + struct.pack("<QI", addr, 0)


def ucir_step(size=1):
    return bytes([STEP, size])


def ucir_write(addr, data):
    return bytes([WRITE]) + struct.pack("<QI", addr, len(data)) + data


def ucir_map(addr, size, desc=b"m"):
    return (bytes([MAP]) + struct.pack("<QIBQQHH", addr, size, 7, 0, 0, len(desc), 0) + desc)


def ucir_syscall(num, *ops, n_ops=None):
    return bytes([SYSCALL]) + struct.pack("<HQBH", num, 0, 0, len(ops) if n_ops is None else n_ops) + b"".join(ops)


def ucir_start(pid=0):
    return ucir_frame(pid, ucir_map(0x1000, 0x1000), ucir_write(0x1000, b"\x90"), kind=2)


def ucir_two_tasks(n):
    """Two processes in turn, of which one never steps: its group grows."""
    yield ucir_head() + ucir_start(1) + ucir_start(2)
    yield ucir_frame(2, ucir_jmp(0x1000))
    for i in range(n):
        yield ucir_frame(1, ucir_jmp(0x1000), ucir_write(0x1800, struct.pack("<I", i)), ucir_step())
        yield ucir_frame(2, ucir_write(0x1800 + i % 64, b"x"))


def ucir_two_tasks_late(n):
    """The same, and at the end the other steps."""
    yield from ucir_two_tasks(n)
    yield ucir_frame(2, ucir_step())


def ucir_processes(n):
    """Processes, each with a step in turn."""
    n_pids = min(n, 4000)
    yield ucir_head() + b"".join(ucir_start(1 + i) for i in range(n_pids))
    for i in range(n):
        yield ucir_frame(1 + i % n_pids, ucir_jmp(0x1000), ucir_step())


def ucir_maps(n):
    """A region more each step, then as many fewer."""
    yield ucir_head() + ucir_start()
    for i in range(n):
        yield ucir_frame(0, ucir_jmp(0x1000), ucir_map(0x100000 + 0x2000 * i, 0x1000), ucir_step())
    for i in range(n):
        yield ucir_frame(0, bytes([UNMAP]) + struct.pack("<QI", 0x100000 + 0x2000 * i, 0x1000), ucir_step())


def ucir_syscalls(n):
    """System calls with many ops in them, of a process that has not stepped, so that they are looked at twice."""
    yield ucir_head() + ucir_start()
    yield ucir_frame(0, ucir_jmp(0x1000), ucir_step())
    for i in range(n // 1000 + 1):
        yield ucir_frame(0, ucir_syscall(i & 0xffff, *[ucir_write(0x1800, b"abcdefgh")] * 1000), ucir_step())


def ucir_counts(n):
    """Counts as large as they can be."""
    yield ucir_head() + ucir_start()
    yield ucir_frame(0, ucir_jmp(0x1000), *[ucir_step()] * n, n_ops=0xffffffff)


FAMILIES = {name: f for name, f in list(globals().items()) if name.startswith(("x64_", "ucir_")) and name.split("_", 1)[1] in
            ("threads sessions damage nested json two_tasks two_tasks_late processes maps syscalls counts").split()}


def write(family, n, path):
    with open(path, "wb") as f:
        for piece in FAMILIES[family](n):
            f.write(piece)


if __name__ == "__main__":
    for piece in FAMILIES[sys.argv[1]](int(sys.argv[2])):
        sys.stdout.buffer.write(piece)
