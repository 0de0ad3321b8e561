#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Index files by another reader, written from src/index/FORMAT alone: every byte of a file is accounted for."""
import gzip
import json
import pathlib
import shutil
import struct
import subprocess

from _programs import Program
from _tap import DATA, SRCDIR, TRACESTUB, case, run_cases

ALIGN, BLOCK, SIGNATURE = 4096, 4096, 28
LINES, POSTINGS = [48, 2, 4, 2], [4, 4, 8, 1]
SECTIONS = {  # length of an item of each array; the last one as often as needed where a "*" follows
    "HEAD": [64, 64, 264, 1, 1],
    "PNTS": [4, 1],
    "RUNS": [8, *POSTINGS, 24, 1, 4],
    "JRNL": [40, 16, 1, 168, "*"],
    "SPCE": [*LINES, 2, 4, 1, 22, *LINES, *LINES, 48, 18, 32, 24, 16, 24],
    "MODE": [56, 16, 48, 48],
    "GRUP": None,
    "WRLD": [32, 1, 16, 56, 8, 4, 40, 168, "*", 40],
    "LAYR": [32, *[16, 8] * 11],
    "CALL": None, "DGST": [1, 8], "FIND": None,
}


def aligned(n, to):
    return (n + to - 1) // to * to


def unfiltered(data, item):
    """Rows of differences to items."""
    n = len(data) // item
    out = bytearray(data)
    for k in range(item):
        last = 0
        for i in range(n):
            last = (last + data[k * n + i]) & 0xff
            out[i * item + k] = last
    return bytes(out)


def unpacked(packed, length, item):
    n = aligned(length, BLOCK) // BLOCK
    starts = struct.unpack_from(f"<{n + 1}I", packed)
    assert starts[0] == 4 * (n + 1) and starts[n] == len(packed), starts
    blocks = []
    for i in range(n):
        block, want = packed[starts[i]:starts[i + 1]], min(BLOCK, length - i * BLOCK)
        if len(block) < want:
            block = subprocess.run(["zstd", "-dc"], input=block, capture_output=True, check=True).stdout
            block = unfiltered(block, item) if item > 1 else block
        assert len(block) == want, (len(block), want)
        blocks.append(block)
    return b"".join(blocks)


class Record:
    def __init__(self, data, at, number):
        (magic, self.number, self.len, tables, n_sections, self.n_arrays, self.is_last, self.grows,
         self.steps) = struct.unpack_from("<8sQQQIIIIQ", data, at)
        assert magic == b"record\n\0" and self.number == number and self.is_last <= 1, (magic, self.number)
        assert tables % 8 == 0 and not any(data[at + 84:at + 88]), tables
        self.data, self.at, self.tables = data[at:at + self.len], at, tables
        at = tables
        self.sections = {}
        entries = [struct.unpack_from("<4sIII", self.data, at + 16 * i) for i in range(n_sections)]
        at += 16 * n_sections
        self.arrays = [struct.unpack_from("<QQII", self.data, at + 24 * i) for i in range(self.n_arrays)]
        at += 24 * self.n_arrays
        self.entries = self.data[tables:at]
        assert at + aligned(tables, BLOCK) // BLOCK * SIGNATURE == self.len, (at, self.len)
        for kind, owner, first, n in entries:
            assert (kind.decode(), owner) not in self.sections, (kind, owner)
            self.sections[kind.decode(), owner] = self.arrays[first:first + n]
        assert sum(len(a) for a in self.sections.values()) == self.n_arrays

    def bytes_of(self, array):
        off, length, packed, item = array
        if not item:
            return self.data[off:off + length]
        return unpacked(self.data[off:off + packed], length, item)

    def check_places(self):
        """The arrays follow each other from the head to the tables; between them are zeros."""
        at = 88
        for off, length, packed, item in sorted(self.arrays):
            assert off == at or not length, (off, at)
            if length:
                at = off + (packed if item else length)
                assert not any(self.data[at:aligned(at, 8)]), (off, at)
                at = aligned(at, 8)
        assert at == self.tables, (at, self.tables)

    def check_items(self):
        self.n_packed = 0
        for (kind, _), arrays in self.sections.items():
            want = SECTIONS[kind]
            if want is None:
                continue
            if "*" in want:
                star = want.index("*")
                n = len(arrays) - (len(want) - 2)
                want = want[:star - 1] + [want[star - 1]] * n + want[star + 1:]
            assert len(arrays) == len(want), (kind, len(arrays), len(want))
            for i, (array, size) in enumerate(zip(arrays, want)):
                _, length, _, item = array
                assert length % size == 0 and item in (0, size), (kind, i, length, size, item)
                assert len(self.bytes_of(array)) == length
                self.n_packed += bool(item)


def records_of(data):
    at, out = ALIGN, []
    while True:
        out.append(Record(data, at, len(out)))
        at += aligned(out[-1].len, ALIGN)
        if out[-1].is_last:
            return out, at


def check_end(data, records, at):
    assert data[at:at + 8] == b"summary\n" and not any(data[at + 36:at + 40]), data[at:at + 40]
    want = b"".join(r.data[:88] + r.entries + r.data[88:r.grows] for r in records)
    assert data[at + 40:at + 40 + len(want)] == want
    at += 40 + len(want)
    magic, directory, n = struct.unpack_from("<16sQQ", data, len(data) - 64)
    assert (magic, n) == (b"index directory\n", len(records)), (magic, n)
    assert aligned(at, 64) >= at and not any(data[at:directory]), (at, directory)
    assert directory + 64 * n + 64 == len(data), (directory, len(data))
    first = 0
    for i, r in enumerate(records):
        entry = struct.unpack_from("<QQQQ28sI", data, directory + 64 * i)
        assert entry == (first, r.steps - first, r.at, r.len, r.data[56:84], 0), (entry, i)
        first = r.steps


def index_of(trace):
    done = subprocess.run([TRACESTUB, "index", trace], capture_output=True, text=True)
    assert done.returncode == 0, done
    return trace, pathlib.Path(f"{trace}.tsindex").read_bytes(), int(done.stdout.split(": ")[1].split()[0])


@case
def every_byte_of_a_file_is_where_the_page_says():
    n_packed = 0
    samples = ["usercorn/x64_walk.ucir", "usercorn/v2_threads.ucir", "usercorn/arm64_walk.ucir", "tenet/arm64-head"]
    for trace in *(shutil.copy(DATA / s, ".") for s in samples), Program("pie", "ucir").trace, Program("pie", "bin").trace:
        trace, data, steps = index_of(trace)
        head = struct.unpack_from("<16sIIIIQ", data)
        assert head == (b"tracestub index\n", 9, 1024, 4096, 0, len(pathlib.Path(trace).read_bytes())), head
        assert not any(data[168:ALIGN])
        records, end = records_of(data)
        for r in records:
            r.check_places()
            r.check_items()
        check_end(data, records, end)
        assert records[-1].steps == steps, (records[-1].steps, steps)
        n_packed += sum(r.n_packed for r in records)
    assert n_packed > 20, n_packed


@case
def threads_hold_what_the_page_says():
    trace, data, _ = index_of(shutil.copy(DATA / "usercorn/v2_threads.ucir", "threads"))
    last = records_of(data)[0][-1]
    threads = last.bytes_of(last.sections["HEAD", 0][1])
    info = subprocess.run([TRACESTUB, "info", "--json", trace], capture_output=True, text=True, check=True).stdout
    told = [t["tid"] for t in json.loads(info)["thread_list"]]
    assert [struct.unpack_from("<Q", threads, at + 16)[0] for at in range(0, len(threads), 64)] == told and len(told) > 1, told


def column(data, at, n, width):
    """Numbers whose first bytes are a row, whose second bytes the next one, ..."""
    return [sum(data[at + k * n + i] << 8 * k for k in range(width)) for i in range(n)]


@case
def turns_hold_what_the_page_says():
    """The thread of each step, beside what the question answers."""
    trace, data, steps = index_of(shutil.copy(DATA / "usercorn/v2_threads.ucir", "turns"))
    running, next_block = {}, []
    for r in records_of(data)[0]:
        blocks, columns = (r.bytes_of(a) for a in r.sections["JRNL", 0][1:3])
        for at in range(0, len(blocks), 16):
            pos, off, n, len_width, thread_width = struct.unpack_from("<QIHBB", blocks, at)
            lens = column(columns, off, n - 1, len_width)
            for thread, length in zip(column(columns, off + (n - 1) * len_width, n, thread_width), [*lens, None]):
                running[pos] = thread
                pos += length or 0
    begins = [*sorted(running), steps]
    sums = {}
    for pos, end in zip(begins, begins[1:]):
        sums[running[pos]] = sums.get(running[pos], 0) + end - pos
    info = subprocess.run([TRACESTUB, "info", "--json", trace], capture_output=True, text=True, check=True).stdout
    told = {i: t["steps"] for i, t in enumerate(json.loads(info)["thread_list"]) if t["steps"]}
    assert begins[0] == 0 and len(sums) > 1 and sums == told, (sums, told)


@case
def runs_hold_what_the_page_says():
    """Runs of instructions, beside the recorder's own list of positions."""
    pcs = {int(line.split()[1], 16) for line in gzip.open(DATA / "usercorn/x64_walk.positions.gz", "rt")}
    trace, data, steps = index_of(shutil.copy(DATA / "usercorn/x64_walk.ucir", "x64"))
    records, _ = records_of(data)
    n = 0
    for r in records:
        arrays = r.sections["RUNS", 0]
        runs, lens = r.bytes_of(arrays[5]), r.bytes_of(arrays[6])
        bounds = struct.unpack("<QQ", r.bytes_of(arrays[0]))
        n += bounds[1] - bounds[0] if r is records[-1] else 0
        for i in range(len(runs) // 24):
            pc, _, first, length, count, zero = struct.unpack_from("<QIIIHH", runs, 24 * i)
            assert 1 <= count <= 128 and not zero and sum(lens[first:first + count]) == length, (hex(pc), count)
            assert pc in pcs, hex(pc)
    assert n == steps, (n, steps)


run_cases()
