#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the logs beside it (src/record/log.h): one that is right, and such as a program could scribble."""
import pathlib
import struct

HERE = pathlib.Path(__file__).parent
DESCRIBE, SWITCH, STATE, CALL, RETURN, MAP, UNMAP, PROTECT, MEMORY, COMPARE, ZERO, FORGET, SIGNAL, NEW, END, FLAGS = range(1, 17)
PUT, PUTI, LOAD, STORE = range(1, 5)
STATE_LEN = 928


def record(kind, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<II", 0x80000000 | kind, 8 + len(body)) + body


def state(tid, pc):
    return record(STATE, struct.pack("<IIQ", tid, 100 + tid, pc) + bytes(STATE_LEN))


def event(kind, flags, length, off, addr, value, n=0, bias=0, guard=0):
    return struct.pack("<BBHHHQQIi", kind, flags, length, off, guard, addr, value, n, bias)


def block(num, addr, insns, exits, events, length):
    body = struct.pack("<IIQHHI", num, length, addr, len(insns), len(exits), len(events))
    body += b"".join(struct.pack("<HBBI", *i) for i in insns)
    body += b"".join(struct.pack("<HHI", *e) for e in exits)
    return record(DESCRIBE, body + b"".join(events))


def call(kind, tid, num, ret, *args):
    body = struct.pack("<IIQQ6Q", tid, num, 0x1004, ret, *args, *[0] * (6 - len(args)))
    return record(kind, body + (bytes(STATE_LEN) if kind == RETURN else b""))


def mapping(kind, addr, length, prot=3, stack=0, file=b""):
    return record(kind, struct.pack("<QQQII", addr, length, 0, prot, stack) + file)


def memory(kind, addr, content):
    return record(kind, struct.pack("<QQ", addr, len(content)) + content)


def execution(num, left, values):
    return struct.pack("<II", num, left) + values


EVENTS = [event(LOAD, 0, 8, 0, 8, 16), event(PUT, 0, 8, 16, 0, 16), event(STORE, 1, 4, 0, 0x2000, 24), event(PUT, 2, 8, 24, 0, 5),
          event(PUTI, 2, 8, 776, 24, 0, 8, 1), event(STORE, 3 | 4, 8, 0, 0x2008, 7, guard=28)]
BLOCK = block(1, 0x1000, [(0, 4, 0, 2), (4, 3, 1, 4)], [(1, 0, 3)], EVENTS, 32)
START = mapping(MAP, 0x1000, 4096, 5, 0, b"/bin/true") + mapping(MAP, 0x1ff0000, 0x10000, 3, 1) + state(1, 0x1000)
VALUES = struct.pack("<QQQ", 0x1fe0000, 77, 1 << 32 | 3)
RUN = START + BLOCK + execution(1, 0, VALUES) + execution(1, 1, VALUES)
KERNEL = (call(CALL, 1, 56, 0, 0x210900, 0, 0, 0x2000) + record(NEW, struct.pack("<IIQ", 1, 0, 2)) + call(RETURN, 1, 56, 102)
          + state(2, 0x1000) + execution(1, 0, VALUES) + call(CALL, 2, 0, 0) + memory(MEMORY, 0x2000, b"abcdefgh")
          + mapping(ZERO, 0x2000, 4096) + memory(COMPARE, 0x2000, b"abcd" * 8) + call(RETURN, 2, 0, 8)
          + record(SIGNAL, struct.pack("<IIQ", 2, 11, 0x1004)) + memory(COMPARE, 0x1ff8000, bytes(64)) + state(2, 0x1000)
          + call(CALL, 2, 60, 0) + record(END, struct.pack("<IIQ", 2, 102, 0x1004))
          + record(SWITCH, struct.pack("<IIQ", 1, 101, 0x1000)) + execution(1, 0xffffffff, VALUES)
          + record(END, struct.pack("<IIQ", 1, 101, 0x1004)))
LOGS = {
    "right": RUN + KERNEL,
    "block-unknown": START + execution(9, 0, VALUES),
    "block-again": START + BLOCK + BLOCK,
    "exit-unknown": START + BLOCK + execution(1, 2, VALUES),
    "execution-cut": RUN[:-8],
    "no-thread": BLOCK + execution(1, 0, VALUES),
    "put-outside": START + block(1, 0x1000, [(0, 4, 0, 1)], [], [event(PUT, 0, 8, 924, 0, 8)], 16),
    "value-outside": START + block(1, 0x1000, [(0, 4, 0, 1)], [], [event(LOAD, 1, 2048, 0, 16, 8)], 16),
    "map-huge": mapping(MAP, 0, 1 << 47) + mapping(ZERO, 0, 1 << 47) + state(1, 0),
    "memory-longer": record(MEMORY, struct.pack("<QQ", 0, 1 << 60)),
    "length-zero": struct.pack("<II", 0x80000000 | STATE, 0),
    "kind-unknown": record(99, bytes(8)),
    "flags-wrong": record(FLAGS, struct.pack("<5Q", 4, 1, 1, 0, 0x8d5)),
}
for name, log in LOGS.items():
    (HERE / f"{name}.log").write_bytes(log)
