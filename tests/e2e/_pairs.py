# SPDX-License-Identifier: MIT
"""Traces made of two numbers, each of which costs bytes of the file by itself: a reader that does for each of the one something
for each of the other takes time or memory with their product.

    write("threads_turns", 1000, 200000, path)

By hand:  python3 tests/e2e/_pairs.py FAMILY A B FILE [A B FILE]...
"""
import struct
import sys

import _hostile
import _ucir2

CODE = 0x400000


def ucir2_file(*ops):
    return _ucir2.ucir2("x86_64", *ops)


def start(process=1, thread=1):
    return _ucir2.keyframe(process, thread, _ucir2.map_(CODE, 0x1000, 5), _ucir2.write(CODE, b"\x90" * 64))


def threads_turns(n_threads, n_turns):
    """@n_threads threads live while all take turns of one step, @n_turns in all."""
    heads = [start(), *[_ucir2.frame(1, 1 + t, _ucir2.jmp(CODE), _ucir2.step(1)) for t in range(n_threads)]]
    return ucir2_file(*heads, *[_ucir2.frame(1, 1 + i % n_threads, _ucir2.jmp(CODE), _ucir2.step(1)) for i in range(n_turns)])


def threads_system_calls(n_threads, n_calls):
    """@n_threads threads live while one makes @n_calls system calls."""
    heads = [start(), *[_ucir2.frame(1, 1 + t, _ucir2.jmp(CODE), _ucir2.step(1)) for t in range(n_threads)]]
    call = _ucir2.frame(1, 1, _ucir2.jmp(CODE), _ucir2.step(2), _ucir2.syscall(39, 1, []))
    return ucir2_file(*heads, *[call] * n_calls)


def processes_system_calls(n_processes, n_calls):
    """@n_processes processes live while one makes @n_calls system calls, of which nobody knows what they wrote."""
    heads = [_hostile.ucir_start(1 + i) + _hostile.ucir_frame(1 + i, _hostile.ucir_jmp(0x1000), _hostile.ucir_step())
             for i in range(n_processes)]
    call = _hostile.ucir_frame(1, _hostile.ucir_jmp(0x1000), _hostile.ucir_step(2), _hostile.ucir_syscall(39))
    return _hostile.ucir_head() + b"".join(heads) + call * n_calls


def regions_system_calls(n_regions, n_calls):
    """@n_regions regions are mapped while @n_calls system calls are made."""
    maps = [_ucir2.frame(1, 1, _ucir2.map_(0x10000000 + 0x2000 * i, 0x1000, 3)) for i in range(n_regions)]
    call = _ucir2.frame(1, 1, _ucir2.jmp(CODE), _ucir2.step(2), _ucir2.syscall(39, 1, []))
    return ucir2_file(start(), _ucir2.frame(1, 1, _ucir2.jmp(CODE), _ucir2.step(1)), *maps, *[call] * n_calls)


def regions_replaced(n_regions, n_times):
    """@n_regions regions side by side, of which one is replaced, @n_times times."""
    maps = [_ucir2.map_(0x10000000 + 0x1000 * i, 0x1000, 3 if i & 1 else 1) for i in range(n_regions)]
    again = _ucir2.frame(1, 1, _ucir2.map_(0x10000000, 0x1000, 1), _ucir2.jmp(CODE), _ucir2.step(2))
    return ucir2_file(start(), _ucir2.frame(1, 1, *maps, _ucir2.jmp(CODE), _ucir2.step(1)), *[again] * n_times)


def maps_pages(n_maps, n_pages):
    """@n_pages pages are written, then @n_maps maps lie over all of them, each with a write to one page."""
    writes = [_ucir2.write(0x10000000 + 0x1000 * i, b"x") for i in range(n_pages)]
    again = [_ucir2.frame(1, 1, _ucir2.jmp(CODE), _ucir2.map_(0x10000000, 0x10000000, 3), writes[i % n_pages], _ucir2.step(1))
             for i in range(n_maps)]
    return ucir2_file(start(), _ucir2.frame(1, 1, *writes, _ucir2.jmp(CODE), _ucir2.step(1)), *again)


def reads_length(n_reads, length):
    """@n_reads reads of 64 KiB times @length."""
    reads = [_ucir2.read(i << 34, length << 16) for i in range(n_reads)]
    return ucir2_file(start(), _ucir2.frame(1, 1, _ucir2.jmp(CODE), _ucir2.step(1), *reads, _ucir2.step(1), _ucir2.step(1)))


def headers_notes(n_headers, n_files):
    """A core whose @n_headers headers all name the same notes, of @n_files files."""
    files = [0x3000 + 0x4000 * i for i in range(n_files)]
    return b"".join(_hostile.gdb_core([0x1000], files, [(0x1000, 0x1001)], n_headers))


def modules_system_calls(n_modules, n_calls):
    """Regions of @n_modules files, and @n_calls events."""
    maps = [_ucir2.map_(0x10000000 + 0x1000 * i, 0x1000, 5, b"f%d" % i, b"/lib/f%d" % i) for i in range(n_modules)]
    call = _ucir2.frame(1, 1, _ucir2.jmp(CODE), _ucir2.step(2), _ucir2.syscall(39, 1, []))
    return ucir2_file(start(), _ucir2.frame(1, 1, *maps, _ucir2.jmp(CODE), _ucir2.step(1)), *[call] * n_calls)


def tracepoints_frames(n_tracepoints, n_frames):
    """gdb's file of @n_tracepoints tracepoints, and @n_frames frames of the last one."""
    lines = [f"tp T{1 + i:x}:{0x1000 + i:x}:E:0:0\n" for i in range(n_tracepoints)]
    frame = _hostile.tf_frame(n_tracepoints, _hostile.tf_regs(0x1000))
    return _hostile.tf_head(*lines) + frame * n_frames + bytes(2)


def ranges_frames(n_ranges, n_frames):
    """@n_frames frames with @n_ranges ranges of memory each time in the first, which all others lack."""
    first = _hostile.tf_frame(1, _hostile.tf_regs(0x1000), *[_hostile.tf_mem(0x2000 + 16 * i, b"x") for i in range(n_ranges)])
    return _hostile.tf_head() + first + _hostile.tf_frame(1, _hostile.tf_regs(0x1000)) * n_frames + bytes(2)


def write(family, a, b, path):
    with open(path, "wb") as file:
        file.write(globals()[family](a, b))


# The family, and two numbers, of which four times as many are written, too.
FAMILIES = {"threads_turns": (1000, 25000), "threads_system_calls": (1000, 10000), "processes_system_calls": (1000, 10000),
            "regions_system_calls": (5000, 10000), "regions_replaced": (10000, 10000), "maps_pages": (2500, 2500), "reads_length": (250, 10000),
            "headers_notes": (400, 4000), "modules_system_calls": (5000, 10000), "tracepoints_frames": (1000, 20000),
            "ranges_frames": (10000, 20000)}

if __name__ == "__main__":
    for a, b, path in zip(*[iter(sys.argv[2:])] * 3):
        write(sys.argv[1], int(a), int(b), path)
