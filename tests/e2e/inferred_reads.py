#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings without reads: who read is told by the instructions.  The oracle is a recording of the same run whose recorder wrote
its reads down: Pin's log of walk64 (Tenet) for gdb's recording, UCIR of story for rvnbintrace."""
import functools
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess

from _bap_oracle import aligned, oracle
from _frames import read_frames
from _gdb import Gdb
from _rsp import Rsp
from _server import Server
from _slice import objdump
from _tap import DATA, TRACESTUB, case, run_cases, skip


@functools.cache
def plain(name):
    path = name.split("/")[-1].removesuffix(".gz")
    with gzip.open(DATA / name) as packed, open(path, "wb") as out:
        out.write(packed.read())
    return path


def ask(name, *words):
    done = subprocess.run([TRACESTUB, "query", plain(name), *words, "--json", "--quiet"], capture_output=True, text=True)
    assert done.returncode in (0, 1), done
    *rows, end = map(json.loads, done.stdout.splitlines())
    return rows, end


def reads(name, where, *more):
    rows, end = ask(name, "accesses", where, "r", *more)
    return [(r["position"], r["pc"], r["address"], r["length"], r["new"]) for r in rows], end


ALL = "0x0:0xffffffffffffffff"
GDB, PIN, RVN, UCIR = ("gdbrecord-samples/walk64.core.gz", "tenet-samples/pin-walk64.log.gz", "programs/static/story.bin.gz",
                       "programs/static/story.ucir.gz")


@case
def gdb_s_recording_has_the_reads_of_pin_s():
    plain("tenet-samples/walk64.elf.gz")
    rows, end = reads(GDB, "0x403000:0x404000")
    expected, _ = reads(PIN, "0x403000:0x404000", "--exec", "walk64.elf")
    assert rows == expected and len(rows) > 200, (len(rows), len(expected))
    assert end["complete"] and "operands" in end["note"], end


@case
def code_that_in_asm_lines_show_has_the_reads_that_execlog_lists():
    """Of the same execution; the program itself is not given."""
    rows, end = reads("text-samples/cpu-aarch64.log.gz", ALL)
    expected, _ = reads("text-samples/made-aarch64.log.gz", ALL)
    assert [r[:4] for r in rows] == [r[:4] for r in expected] and len(rows) == 42, (rows, expected)
    assert end["complete"] and "operands" in end["note"], end


@case
def rvnbintrace_s_recording_has_the_reads_of_ucir_s():
    """Its addresses are virtual, its memory is physical; a page that both recorders name is asked for."""
    n = 0
    for page in (0x4ac000, 0x4ad000, 0x4a1000, 0x7fffffffe000, 0x4c5000):
        expected, _ = reads(UCIR, f"{page:#x}:{page + 0xfff:#x}")
        if expected:
            rows, end = reads(RVN, f"{page:#x}:{page + 0xfff:#x}")
            assert rows == expected, (hex(page), len(rows), len(expected), set(rows) ^ set(expected))
            assert end["complete"] and "operands" in end["note"], end
            n += len(rows)
    assert n > 1000, n


@case
def the_nearest_read_is_that_of_the_list():
    rows, _ = reads(GDB, "0x4033a0,4")
    positions = [r[0] for r in rows]
    for at in (0, positions[2], positions[2] + 1, positions[-1]):
        found, _ = ask(GDB, "next-read", "0x4033a0,4", "at", str(at))
        assert [r["position"] for r in found] == [p for p in positions if p >= at][:1], (at, found)
        found, _ = ask(GDB, "last-read", "0x4033a0,4", "at", str(at))
        assert [r["position"] for r in found] == [p for p in positions if p < at][-1:], (at, found)


@case
def what_ran_and_is_not_known_may_have_read():
    """Spike's listing has neither code nor all registers."""
    rows, end = ask("text-samples/list-rv64fd.log.gz", "accesses", "0x1000,8", "r")
    assert not rows and not end["complete"] and "may have read it" in end["note"], end


@case
def a_step_that_is_a_block_tells_nothing():
    rows, end = ask("text-samples/block-walk64.trace.gz", "accesses", "0x403000:0x404000", "r")
    assert not rows and end["note"].startswith("reads of memory are not recorded") and "operands" not in end["note"], end


class Plain:
    """A recording of a program that gdb is not told of."""

    exec = None

    def __init__(self, name):
        self.name, self.trace = name, os.path.abspath(plain(name))

    def pcs(self):
        rows, _ = ask(self.name, "executions", ALL)
        return [int(r["pc"], 16) for r in rows]

    @staticmethod
    def gdb():
        return shutil.which("gdb") or skip("no gdb")

    @staticmethod
    def copy_sources(folder):
        """There are none."""


@case
def rwatch_and_awatch_of_gdb():
    positions = [r[0] for r in reads(GDB, "0x4033a0,4")[0]]
    with Gdb(Plain(GDB), has_exec=False) as g:
        g("rwatch *(int *) 0x4033a0")
        g.expect("Hardware read watchpoint 1")
        for p in positions[:3]:
            g("continue")
            g.expect(r"Hardware read watchpoint 1")
            assert g.position() == p + 1
        for p in reversed(positions[:3]):
            g("reverse-continue")
            assert g.position() == p
        g("delete 1")
        g("awatch *(int *) 0x4033a0")
        both = [r["position"] for r in ask(GDB, "accesses", "0x4033a0,4", "rw", "first", "6")[0]]
        for p in both[:4]:
            g("continue")
            g.expect("Hardware access")
            assert g.position() == p + 1, (p, both)


# ---- a recording with reads, but for those of some instructions

TRACEWRAP, TRACEWRAP_PPC, STORY = ("bap-samples/tw-x86_64.frames.gz", "bap-samples/tw-ppc.frames.gz",
                                   "programs/static/story.frames.gz")
SIZES = {"BYTE": 1, "WORD": 2, "DWORD": 4, "QWORD": 8, "XMMWORD": 16}
SOME = "0x400000:0x8000000000"


@functools.cache
def unrecorded_reads():
    """(position, address, length) of each that a vector or an atomic instruction makes: by objdump, and by the registers that the
    emulator's own debugger stub showed of the same program."""
    frames = [(pc, raw) for pc, raw, *_ in read_frames(pathlib.Path(plain(TRACEWRAP)).read_bytes())]
    texts = objdump("objdump", ["-m", "i386:x86-64", "-M", "intel"], {raw for _, raw in frames if raw})
    truth = {at: regs for at, _, regs in aligned([(pc, at) for at, (pc, _) in enumerate(frames)],
                                                 list(oracle("tw-x86_64", "rip", "little")))}
    found = set()
    for at, (pc, raw) in enumerate(frames):
        name, _, operands = (texts[raw][0] if raw and texts[raw] else "").partition(" ")
        place = re.search(r"(\w+) PTR (?:ds:)?(?:\[([^]]*)\]|0x([0-9a-f]+))", operands)
        is_atomic = name in ("lock", "xchg")
        if not place or not (is_atomic or re.search(r"\bxmm", operands)) or (not is_atomic and operands.lstrip().startswith(place[0])):
            continue
        names = dict(rip=pc + len(raw)) | {r: int.from_bytes(bytes.fromhex(v), "little") for r, v in truth[at].items() if r != "rip"}
        found.add((at, eval(place[2] or "0x" + place[3], {}, names) & (1 << 64) - 1, SIZES[place[1]]))
    return found


def recorded_reads():
    return {(at, addr, len(value)) for at, (_, _, before, _) in
            enumerate(read_frames(pathlib.Path(plain(TRACEWRAP)).read_bytes())) for addr, value in before}


@case
def what_vector_and_atomic_instructions_read_is_read():
    rows, end = reads(TRACEWRAP, SOME)
    found = {(r[0], int(r[2], 16), r[3]) for r in rows}
    expected = unrecorded_reads()
    assert len(expected) > 40 and len(rows) == len(found), (len(expected), len(rows))
    assert found == expected | recorded_reads(), (sorted(found ^ (expected | recorded_reads())))
    assert end["complete"] and "atomic" in end["note"] and "operands" in end["note"], end


@case
def what_is_recorded_is_no_read_twice():
    """This one lacks none, and does not say so."""
    assert reads(STORY, SOME)[0] == reads(UCIR, SOME)[0]


@case
def rwatch_stops_at_vector_instructions():
    """At one of which nothing else reads the bytes."""
    others = unrecorded_reads() | recorded_reads()
    at, addr, size = min(x for x in unrecorded_reads() if sum(a < x[1] + x[2] and x[1] < a + n for _, a, n in others) == 1)
    with Gdb(Plain(TRACEWRAP), has_exec=False) as g:
        g(f"rwatch *(char (*)[{size}]) {addr:#x}")
        g.expect("Hardware read watchpoint 1")
        g("continue")
        g.expect("Hardware read watchpoint 1")
        g.expect_not("not recorded")
        assert g.position() == at + 1
        g("reverse-continue")
        assert g.position() == at


def run_to_end(name, packet):
    """What a client is told on the console, run by run."""
    with Server(plain(name)) as server, Rsp(server.address) as r:
        r.ask("qSupported:swbreak+;hwbreak+")
        assert r.ask(packet) == "OK", packet
        for command in ("vCont;c", "bc", "vCont;c"):
            r.send(command)
            told = ""
            while (reply := r.receive()).startswith("O"):
                told += bytes.fromhex(reply[1:]).decode()
            yield told


@case
def a_client_is_told_once_that_a_watchpoint_may_pass_over_reads():
    first, *later = run_to_end(TRACEWRAP_PPC, "Z3,10000394,4")
    assert "atomic instructions are not recorded" in first and "does not stop at them" in first, first
    assert not any("recorded" in told for told in later), later
    assert not any("recorded" in told for told in run_to_end(TRACEWRAP_PPC, "Z2,10000394,4"))
    first, *later = run_to_end("text-samples/list-rv64fd.log.gz", "Z4,1000,8")
    assert "reads of memory are not recorded" in first and "may have read" in first, first
    assert not any("recorded" in told for told in later), later
    assert not any("recorded" in told for told in run_to_end(TRACEWRAP, "Z3,1000,8"))


run_cases()
