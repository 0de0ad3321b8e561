#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of x64dbg in gdb: a program that is run and recorded here, and one put together with a plugin's list of modules."""
import json
import os
import pathlib
import struct
import subprocess
import tempfile

from _gdb import Gdb
from _sentences import END_OF_HISTORY
from _tap import DATA, case, run_cases, skip

BUILD = pathlib.Path(os.environ.get("TEST_BUILDDIR", "."))
RECORDER = BUILD / "tests/tools/x64dbg_record"
UNKNOWN = r"Cannot access memory at address"


class Recorded:
    """As _recording.Recording, of a program that is recorded now."""

    def __init__(self, name, bits):
        self.exec = str(DATA / f"usercorn/{name}.elf")
        self.folder = tempfile.mkdtemp(prefix="x64dbg-")
        program = pathlib.Path(self.folder) / "prog"
        program.write_bytes(pathlib.Path(self.exec).read_bytes())
        program.chmod(0o755)
        self.trace = f"{self.folder}/prog.trace{bits}"
        done = subprocess.run([RECORDER, program, self.trace, str(bits)])
        if done.returncode == 77:
            skip(f"programs of {bits} bits cannot be run, or not be traced, here")
        assert done.returncode == 0

    def gdb(self):
        return "gdb"

    def copy_sources(self, folder):
        pass


def gdb_on(name, bits, *options):
    return Gdb(Recorded(name, bits), *options)


def look_for_the_writer(name, bits):
    with gdb_on(name, bits) as g:
        g("continue")
        g.expect(END_OF_HISTORY)
        g("watch total")
        g.expect("Hardware watchpoint 1: total")
        g("reverse-continue")
        g.expect(r"Old value = \d+\nNew value = 69\n(0x[0-9a-f]+ in )?rt_main ")
        g("x/i $pc")
        g.expect(r"mov +%eax,")
        g("reverse-continue")
        g.expect(r"Old value = 69\nNew value = 35\n(0x[0-9a-f]+ in )?bump ")
        g("delete")
        g("reverse-continue")
        g.expect(END_OF_HISTORY)


@case
def reverse_continue_to_a_watchpoint_finds_the_writer():
    look_for_the_writer("x64_walk", 64)


@case
def a_watchpoint_finds_the_writer_in_a_32_bit_program():
    look_for_the_writer("x86_walk", 32)


@case
def unknown_memory_is_no_zero():
    with gdb_on("x64_walk", 64) as g:
        g("x/2gx 0x10000")
        g.expect(UNKNOWN)
        g("x/gx $rsp - 0x4000")
        g.expect(UNKNOWN)
        g("info registers gs_base")
        g.expect("unavailable")
        g("print $ymm0h")
        g.expect_not("unavailable")


@case
def reads_are_told_from_what_is_only_listed():
    with gdb_on("x64_walk", 64) as g:
        g("rwatch total")
        g("continue")
        g.expect(r"Hardware read watchpoint 1: total")


def pe(text, base):
    """A program of 64 bits with one section, .text."""
    optional = struct.pack("<HBBIIIIIQII", 0x20b, 2, 30, 0x200, 0, 0, 0x1000, 0x1000, base, 0x1000, 0x200)
    optional += struct.pack("<HHHHHHIIIIHH", 4, 0, 0, 0, 5, 2, 0, 0x2000, 0x400, 0, 3, 0)
    optional += struct.pack("<QQQQII", 0x200000, 0x1000, 0x100000, 0x1000, 0, 16) + bytes(128)
    section = b".text\0\0\0" + struct.pack("<IIIIIIHHI", len(text), 0x1000, 0x200, 0x400, 0, 0, 0, 0, 0x60000020)
    head = b"MZ" + bytes(58) + struct.pack("<I", 0x80) + bytes(64)
    head += b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, 1, 0, 0, 0, len(optional), 0x22) + optional + section
    return head.ljust(0x400, b"\0") + text.ljust(0x200, b"\xcc")


BASE, DLL = 0x140000000, 0x7ffa00000000
FACTS = {"value0": {
    "process.id": 4242,
    "threads": [{"id": 77, "name": "main"}],
    "memoryMaps": [{"addr": BASE, "size": 0x2000, "protect": 0x20, "state": 0x1000, "data": [1, 2]}],
    "modules": [{"path": "C:\\dir\\prog.exe", "base": BASE, "size": 0x2000, "isMainModule": True},
                {"path": "C:\\Windows\\System32\\ntdll.dll", "base": DLL, "size": 0x100000}]}}


class Made:
    """A trace of three instructions with modules."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="x64dbg-"))
        self.trace, self.exec = str(self.folder / "made.trace64"), str(self.folder / "prog.exe")
        (self.folder / "prog.exe").write_bytes(pe(b"\x90\x90\x90" + bytes(range(16)), BASE))
        head = json.dumps({"ver": 1, "arch": "x64", "compression": "", "path": "C:\\dir\\prog.exe"}).encode()
        slots = [0] * 172
        slots[16], slots[4] = BASE + 0x1000, 0x7fff0000
        full = bytes([0, 172, 0, 0x81]) + struct.pack("<I", 77) + b"\x90" + bytes(172) + struct.pack("<172Q", *slots)
        rest = b"".join(b"\0\x01\0\x01\x90\x10" + struct.pack("<Q", BASE + 0x1000 + i) for i in (1, 2))
        facts = json.dumps(FACTS).encode()
        (self.folder / "made.trace64").write_bytes(b"TRAC" + struct.pack("<I", len(head)) + head + full + rest +
                                                   b"\x80" + struct.pack("<I", len(facts)) + facts)

    def gdb(self):
        return "gdb"

    def copy_sources(self, folder):
        pass


@case
def modules_and_threads_of_a_plugin_are_there():
    with Gdb(Made()) as g:
        g("info threads")
        g.expect(r"Thread 4242\.77\b.*main.*0x0*140001000")
        g("info sharedlibrary")
        g.expect(r"No +C:\\Windows\\System32\\ntdll\.dll")
        g("stepi 2")
        g("print $pc")
        g.expect(f"0x{BASE + 0x1002:x}")
        g("reverse-stepi")
        g("print $pc")
        g.expect(f"0x{BASE + 0x1001:x}")


@case
def an_exe_fills_what_the_trace_does_not_know():
    made = Made()
    with Gdb(made, has_exec=False) as g:
        g(f"x/4xb {BASE + 0x1003}")
        g.expect(UNKNOWN)
    for option in made.exec, f"{made.exec}@{BASE:#x}":
        with Gdb(made, "--image", option, has_exec=False) as g:
            g(f"x/4xb {BASE + 0x1003}")
            g.expect(r"0x00\s+0x01\s+0x02\s+0x03")
            g(f"x/2cb {BASE}")
            g.expect(r"'M'\s+90 'Z'")


run_cases()
