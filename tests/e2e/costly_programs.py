#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs whose tables of lines or symbols would take many times their own size: what a question takes has a bound, and the rest of
its answer is right."""
import os
import pathlib
import resource
import struct
import subprocess
import zlib

from _record import record
from _tap import IS_SANITIZED, TRACESTUB, case, run_cases

LIMIT = 60      # seconds of the processor
MOST = (400 << 20) * (4 if IS_SANITIZED else 1)

PROGRAM = """
.globl _start
_start: mov $60,%eax
xor %edi,%edi
syscall
"""
HEADER = """
.section .debug_line,"",@progbits
.long Le-Lb
Lb: .short 4
.long Lh-Lc
Lc: .byte 1,1,1,-5,14,13
.byte 0,1,1,1,1,0,0,0,1,0,0,1
.byte 0
.asciz "a.c"
.byte 0,0,0,0
Lh: .byte 0,9,2
.quad _start
"""
UNIT = ".long 12\n.short 4\n.long 0\n.byte 8\n.uleb128 1\n.long 0\n"


def make(name, n_units, n_rows, n_attributes=0):
    """A program with so many units that share a line program, each after so many attributes that take no room in it."""
    flags = "".join(f".uleb128 {0x2000 + i % 0x1000}\n.uleb128 0x19\n" for i in range(n_attributes))
    source = f"""{PROGRAM}
.section .debug_abbrev,"",@progbits
.uleb128 1
.uleb128 0x11
.byte 0
{flags}.uleb128 0x10
.uleb128 0x17
.byte 0,0,0
.section .debug_info,"",@progbits
.rept {n_units}
{UNIT}.endr
{HEADER}.fill {n_rows},1,0x4b
.byte 0,1,1
Le:
"""
    subprocess.run(["gcc", "-nostdlib", "-static", "-x", "assembler", "-o", name, "-"], input=source, text=True, check=True)
    done = record(f"{name}.ucir", f"./{name}")
    assert done.returncode == 0, done


def coverage(name):
    """Its instructions, each with file and line, and how much memory it took to find them."""
    argv = [TRACESTUB, "query", f"{name}.ucir", "coverage", "--exec", name, "--index", "none", "--quiet"]
    with open("out", "w+") as out:
        command = subprocess.Popen(argv, stdout=out, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)))
        _, status, usage = os.wait4(command.pid, 0)
        command.returncode = os.waitstatus_to_exitcode(status)
    rows = [line.split("\t") for line in pathlib.Path("out").read_text().splitlines()[1:]]
    assert command.returncode == 0 and [row[0] for row in rows] == ["0x401000", "0x401005", "0x401007"], (command.returncode, rows)
    return [row[4:6] for row in rows], usage.ru_maxrss << 10


class Elf:
    """A program whose headers are changed."""

    def __init__(self, name):
        self.path = pathlib.Path(name)
        self.bytes = bytearray(self.path.read_bytes())
        at, = struct.unpack_from("<Q", self.bytes, 0x28)
        n, self.names = struct.unpack_from("<HH", self.bytes, 0x3C)
        self.sections = [list(struct.unpack_from("<IIQQQQIIQQ", self.bytes, at + 64 * i)) for i in range(n)]

    def append(self, data):
        at = len(self.bytes)
        self.bytes += data
        return at

    def find(self, name):
        for h in self.sections:
            start = self.sections[self.names][4] + h[0]
            if self.bytes[start:self.bytes.index(0, start)] == name.encode():
                return h
        raise AssertionError(name)

    def write(self):
        at = self.append(b"".join(struct.pack("<IIQQQQIIQQ", *h) for h in self.sections))
        struct.pack_into("<Q", self.bytes, 0x28, at)
        struct.pack_into("<H", self.bytes, 0x3C, len(self.sections))
        self.path.write_bytes(self.bytes)


def deflated(plain, n_zeros):
    """What zlib.compress() makes of @plain and so many zeros: the same block again and again, which zlib itself takes 2 s for."""
    block = bytes(1 << 20)
    packer = zlib.compressobj(wbits=-15)
    head = packer.compress(plain) + packer.flush(zlib.Z_FULL_FLUSH)
    zeros = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    rest = bytes(n_zeros % len(block))
    sum_ = zlib.adler32(plain)
    for _ in range(n_zeros // len(block)):
        sum_ = zlib.adler32(block, sum_)
    return (b"\x78\x9c" + head + zeros * (n_zeros // len(block)) + packer.compress(rest) + packer.flush()
            + struct.pack(">I", zlib.adler32(rest, sum_)))


def compress(name, section, n_zeros):
    """The section is compressed, with so many zeros after what it had."""
    elf = Elf(name)
    h = elf.find(section)
    plain = bytes(elf.bytes[h[4]:h[4] + h[5]])
    packed = struct.pack("<IIQQ", 1, 0, len(plain) + n_zeros, 1) + deflated(plain, n_zeros)
    h[2], h[4], h[5] = h[2] | 0x800, elf.append(packed), len(packed)
    elf.write()


def symbols(elf, n, kind=2, addr=0x401000):
    """The header of a section with so many functions, all called "_start" and at one address."""
    strtab = elf.find(".strtab")
    name = elf.bytes.index(b"_start", strtab[4]) - strtab[4]
    at = elf.append(bytes(24) + struct.pack("<IBBHQQ", name, 0x12, 0, 1, addr, 0) * n)
    return [0, kind, 0, 0, at, 24 * (n + 1), elf.sections.index(strtab), 1, 8, 24]


FOUND = [["a.c", "2"]] * 2
NONE = [["", ""]] * 2


@case
def lines_are_found():
    make("plain", 1, 3)
    assert coverage("plain")[0][1:] == FOUND
    compress("plain", ".debug_info", 0)
    compress("plain", ".debug_line", 1000)
    assert coverage("plain")[0][1:] == FOUND


@case
def units_that_share_a_line_program():
    """20,000 of 20,000 rows, in a file of 345 KB: they took 17 GB."""
    make("shared", 20000, 20000)
    lines, peak = coverage("shared")
    assert lines[1:] == FOUND and peak < MOST, (lines, peak)


@case
def attributes_that_take_no_room():
    """60,000 in each of 300,000 units, in a file of 5 MB: they took minutes."""
    make("many", 300000, 10, 60000)
    coverage("many")


@case
def sections_of_zeros_that_are_compressed():
    """Half a gigabyte in a file of 500 KB."""
    for section in ".debug_info", ".debug_line", ".debug_abbrev":
        make("zeros", 1, 3)
        compress("zeros", section, 512 << 20)
        lines, peak = coverage("zeros")
        assert lines[1:] == NONE and peak < MOST, (section, lines, peak)


@case
def many_tables_of_the_same_symbols():
    make("tables", 1, 3)
    elf = Elf("tables")
    elf.sections += [symbols(elf, 500000)] * 8000
    elf.write()
    coverage("tables")


@case
def many_tables_of_dynamic_symbols_that_are_not_there():
    make("dynamic", 1, 3)
    elf = Elf("dynamic")
    header = symbols(elf, 0, 11)
    header[5] = 1 << 40
    elf.sections += [header] * 65000
    elf.write()
    coverage("dynamic")


@case
def many_segments_and_symbols():
    make("segments", 1, 3)
    elf = Elf("segments")
    at, = struct.unpack_from("<Q", elf.bytes, 0x20)
    n, = struct.unpack_from("<H", elf.bytes, 0x38)
    real = elf.bytes[at:at + 56 * n]
    at = elf.append(real + struct.pack("<IIQQQQQQ", 1, 4, 0, 0x10000000, 0, 1, 1, 1) * 60000)
    struct.pack_into("<Q", elf.bytes, 0x20, at)
    struct.pack_into("<H", elf.bytes, 0x38, 60000 + n)
    elf.find(".symtab")[:] = symbols(elf, 3000000, addr=0x900000)
    elf.write()
    coverage("segments")


run_cases()
