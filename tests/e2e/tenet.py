#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tenet logs in gdb and lldb, with the program that the log does not have."""
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from _gdb import Gdb
from _programs import Program
from _server import LIMIT, Server
from _tap import DATA, TRACESTUB, case, run_cases, skip

SAMPLES = DATA / "tenet-samples"
PIE_BASE = 0x555555554000


class Log:
    """As _recording.Recording."""

    def __init__(self, name="wtf-walk64", text=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tenet-"))
        self.exec, self.trace = str(self.folder / "walk64"), str(self.folder / f"{name}.log")
        pathlib.Path(self.exec).write_bytes(gzip.decompress((SAMPLES / "walk64.elf.gz").read_bytes()))
        data = text if text is not None else gzip.decompress((SAMPLES / f"{name}.log.gz").read_bytes())
        pathlib.Path(self.trace).write_bytes(data)

    def gdb(self):
        return "gdb"

    def copy_sources(self, folder):
        pass


def tracestub(*args):
    return subprocess.run([TRACESTUB, *map(str, args)], capture_output=True, text=True, timeout=LIMIT)


@case
def gdb_steps_both_ways_and_finds_the_writer():
    for name in "wtf-walk64", "pin-walk64", "panda-walk64", "sogen-walk64", "qiling-walk64":
        log = Log(name)
        with Gdb(log, "--exec", log.exec) as g:
            g("break push")
            g("continue")
            g.expect(r"Breakpoint 1, push \(v=v@entry=-30\)")
            g("backtrace")
            g.expect(r"#0  push .*\n#1 .* in walk \(\) at walk.c:76\n#2 .* in begin \(\)")
            g("x/i $pc")
            g.expect(r"<push>:\s+mov +%edi,%esi")
            g("stepi")
            g("reverse-stepi")
            g("print $pc")
            g.expect("<push>")
            g("finish")
            g.expect(r"walk \(\) at walk.c")
            g("delete")
            g("monitor goto end")
            g("maintenance flush register-cache")
            g("watch total")
            g("reverse-continue")
            g.expect(r"Old value = (\d+)\nNew value = (\d+)")
            g("print $eflags")
            g.expect("unavailable")


@case
def addresses_alone_can_be_stepped_and_covered():
    log = Log("pconly-walk32")
    with Gdb(log, has_exec=False) as g:
        g("stepi 3")
        g("print $pc")
        g.expect("0x8049188")
        g("reverse-stepi")
        g("print $pc")
        g.expect("0x8049183")
        g("x/4xb $pc")
        g.expect("Cannot access memory")
        g("print $esp")
        g.expect("unavailable")
    rows = tracestub("query", log.trace, "executions", "0x8049183").stdout.splitlines()
    lines = pathlib.Path(log.trace).read_text().splitlines()
    assert [int(row.split()[0]) for row in rows[1:]] == [k for k, line in enumerate(lines) if line == "eip=0x8049183"]


def story():
    """The registers of a position-independent program as a log."""
    wanted = "rax rbx rcx rdx rbp rsp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
    with gzip.open(Program("pie", "ucir").truth, "rt") as lines:
        rows = [json.loads(line)["regs"] for line in lines]
    return "".join(",".join(f"{r}=0x{v}" for r, v in row.items() if r in wanted) + "\n" for row in rows).encode()


@case
def a_base_places_the_program():
    pie = Program("pie", "ucir")
    log = Log("story", story())
    with Gdb(log, "--exec", pie.exec, has_exec=False) as g:
        assert "--exec FILE@BASE says where it lies" in g.server.said(), g.server.said()
    log.exec = pie.exec
    with Gdb(log, "--exec", f"{pie.exec}@{PIE_BASE:#x}") as g:
        g("break *inc")
        for position in 3118, 4097, 4496, 4864, 5382, 7408:
            g("continue")
            g("monitor when")
            g.expect(rf"position {position} ")
        g("x/i $pc")
        g.expect(r"<inc>:\s+push +%rbp")


@case
def gaps_and_damage_are_told():
    out = tracestub("query", Log("pin-gap64").trace, "events", "gap").stdout
    assert "code that is not listed" in out, out
    text = gzip.decompress((SAMPLES / "wtf-walk64.log.gz").read_bytes()).replace(b"rip=0x4011b3", b"rip=0x4011b3,rax=zz", 1)
    out = tracestub("info", Log("damaged", text + b"rip=0x4").trace).stdout
    assert "positions     0..2301" in out, out
    assert "first in line 4, offset" in out and "register's value cannot be read" in out, out
    assert "the last line has no line end" in out, out
    assert "accesses of the previous instruction (146 votes to 0)" in out, out


@case
def what_is_no_log_is_refused():
    for text, word in ((b"", "empty"), (b"rip=0x1\n", "one line only"), (b"rax=0x1\n" * 9, "has rip, eip or pc")):
        done = tracestub("info", "--format", "tenet", Log("bad", text).trace)
        assert done.returncode == 1 and word in done.stderr, done


@case
def lldb_steps_and_shows_the_stack():
    found, log = shutil.which("lldb") or skip("no lldb"), Log()
    with Server(log.trace, "--exec", log.exec) as server:
        argv = [found, "--no-lldbinit", "--batch", "-o", f"target create {log.exec}",
                "-o", "settings set target.process.disable-memory-cache true", "-o", f"gdb-remote {server.address}",
                "-o", "breakpoint set -n push", "-o", "continue", "-o", "thread backtrace", "-o", "stepi",
                "-o", "register read rip", "-o", "quit"]
        env = {k: v for k, v in os.environ.items() if k not in ("PYTHONHOME", "PYTHONPATH")}
        text = subprocess.run(argv, capture_output=True, text=True, timeout=300, env=env, stdin=subprocess.DEVNULL).stdout
    assert re.search(r"frame #0: .*push\(v=-30\)", text) and re.search(r"frame #1: .*walk", text), text
    assert re.search(r"rip = 0x0+401037", text), text


run_cases()
