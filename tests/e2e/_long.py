# SPDX-License-Identifier: MIT
"""Long recordings: a loop that writes the same again and again.

A server reads for a quarter of a second before it may be asked (READ_FIRST_NS in src/program/open/reading.c). TRACE may be read
by then; SLOW takes several times as long. Under the sanitizers (TEST_SHARE) reading is as much slower, and SLOW is no longer
than TRACE.
"""
import os
import struct

from _tap import run_cases

START, HOT, MARK = 0x400000, 0x600000, 0x700000
STEPS, LOOPS, FRAMES = 20, 400, 1800    # of a loop, of a frame, of the recording
N = STEPS * LOOPS * FRAMES + 1
TRACE = "long.ucir"
SLOW_FRAMES = FRAMES if "TEST_SHARE" in os.environ else 3 * FRAMES
SLOW_N = STEPS * LOOPS * SLOW_FRAMES + 1
SLOW = "slow.ucir"


def frame(ops, n_ops):
    return b"\x01" + struct.pack("<QI", 1, n_ops) + ops


def write(addr, value):
    return b"\x08" + struct.pack("<QIQ", addr, 8, value)


def make_trace(name=TRACE, n_frames=FRAMES):
    """Version 0, unpacked; the last step writes MARK."""
    header = b"UCIR" + bytes(4) + b"x86_64".ljust(32, b"\0") + b"linux".ljust(34, b"\0")
    jump = b"\x03" + struct.pack("<QI", START, 1)
    loop = jump + write(HOT, 1) + b"\x04\x01" * STEPS
    body = frame(loop * LOOPS, LOOPS * (2 + STEPS))
    with open(name, "wb") as f:
        f.write(header)
        for _ in range(n_frames):
            f.write(body)
        f.write(frame(jump + write(MARK, 2) + b"\x04\x01", 3))


def make_part(name, n_frames):
    """Another trace: the first frames of TRACE, each of STEPS * LOOPS steps."""
    frame_len = 13 + LOOPS * (13 + 21 + 2 * STEPS)
    with open(TRACE, "rb") as f, open(name, "wb") as to:
        to.write(f.read(8 + 32 + 34 + n_frames * frame_len))


def make_slow():
    make_trace(SLOW, SLOW_FRAMES)


def run_cases_on_long(prepare=lambda: None):
    """The cases of a script that uses TRACE; its files are large."""
    make_trace()
    try:
        prepare()
        run_cases()
    finally:
        for name in os.listdir("."):
            if name.startswith((TRACE, SLOW)):
                os.remove(name)
