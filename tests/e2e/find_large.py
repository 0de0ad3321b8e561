#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`find` of what a step makes millions of: all rows, in order, and not all of them in memory at once."""
import struct
import subprocess

from _tap import IS_SANITIZED, TRACESTUB, add_case, run_cases
from _weigh import weigh

MIB = 1 << 20
LEN, MAPPED, START = MIB, 0x40000000, 0x10000000
STEPS, MAPS_AT = 3200, 1000
MAX_MIB = 24  # kept all at once they take 75 MiB and more


def mapping(addr, length):
    return struct.pack("<BQIBQQHH", 9, addr, length, 7, 0, 0, 0, 0)


def write(addr, data):
    return struct.pack("<BQI", 8, addr, len(data)) + data


def frame(ops, kind=1):
    return struct.pack("<BQI", kind, 1, len(ops)) + b"".join(ops)


def written(base, step):
    """What the step writes to the region: zeros among others, some over zeros."""
    return base + step * 40 % 4096, struct.pack("<Q", step)


def make(path, base):
    """A region of zeros at @base, from the start or mapped by a step; then each third step writes to it."""
    keyframe = [struct.pack("<BHQ", 5, 44, 0x7fff0000), mapping(0x400000, 4096), write(0x400000, b"\x90" * 4096)]
    if base == START:
        keyframe += [mapping(base, LEN), write(base, bytes(LEN))]
    header = b"UCIR" + bytes(4) + b"x86_64".ljust(32, b"\0") + b"linux".ljust(34, b"\0")
    with open(path, "wb") as f:
        f.write(header + frame(keyframe, 2))
        for first in range(0, STEPS, 64):
            ops = [struct.pack("<BQI", 3, 0x400000, 4096)]
            for step in range(first, first + 64):
                if step % 3 == 0 and (base == START or step > MAPS_AT):
                    ops.append(write(*written(base, step)))
                ops.append(struct.pack("<BB", 4, 2))
                if step == MAPS_AT and base == MAPPED:
                    ops.append(struct.pack("<BHQBH", 12, 9, base, 0, 1) + mapping(base, LEN))
            f.write(frame(ops))


def wanted(base):
    """(begin, address, end) of each zero, in order."""
    begin = 0 if base == START else MAPS_AT + 1
    since, rows = {addr: begin for addr in range(base, base + LEN)}, []
    for step in range(begin, STEPS):
        if step % 3:
            continue
        addr, data = written(base, step)
        for at, byte in enumerate(data, addr):
            if byte and at in since:
                rows.append((since.pop(at), at, str(step + 1)))
            elif not byte and at not in since:
                since[at] = step + 1
    return sorted(rows + [(begin, addr, "") for addr, begin in since.items()])


def run(*argv):
    """The rows of an answer, and the most memory that the command had, in MiB."""
    with open("rows", "w+") as out:
        status, _, most = weigh(TRACESTUB, "query", *argv, "--quiet", stdout=out, stderr=subprocess.DEVNULL)
        out.seek(0)
        rows = [line.rstrip("\n").split("\t") for line in out][1:]
    assert status in (0, 1), status
    return rows, most / 1024


def all_zeros_are_found(base):
    make("zeros", base)
    _, without = run("zeros", "find ff fe fd fc fb fa")
    rows, most = run("zeros", f"find 00 in memory {base:#x}:{base + LEN:#x}")
    assert [(int(r[0]), int(r[2], 16), r[1]) for r in rows] == wanted(base)
    assert {(r[4], r[5]) for r in rows if int(r[0]) == MAPS_AT + 1} <= {("map", str(MAPS_AT))}
    assert IS_SANITIZED or most - without < MAX_MIB, (most, without)


add_case("that a step maps", all_zeros_are_found, MAPPED)
add_case("that are there at the start", all_zeros_are_found, START)
run_cases()
