#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The lengths of instructions in formats that do not record them are those of the code, as objdump(1) has them: a jump, call
or return over a few bytes is no longer instruction."""
import csv
import gzip
import io
import pathlib
import re
import shutil
import subprocess

from _programs import Program
from _tap import DATA, LIMIT, TRACESTUB, case, run_cases, skip


def query(*words):
    done = subprocess.run([TRACESTUB, "query", "--quiet", *words], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode in (0, 1), (words, done)
    return list(csv.DictReader(io.StringIO(done.stdout), delimiter="\t", quoting=csv.QUOTE_NONE))


def lengths_of(program):
    """The bytes of each instruction, by objdump's listing of the file."""
    objdump = shutil.which("objdump") or skip("no objdump")
    text = subprocess.run([objdump, "-d", "--insn-width=16", program], capture_output=True, text=True, check=True,
                          timeout=LIMIT).stdout
    return {int(a, 16): len(b.split()) for a, b in re.findall(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+)", text, re.M)}


def check(trace, program):
    want = lengths_of(program)
    rows = query(trace, "--exec", program, "coverage")
    got = {int(r["address"], 16): int(r["length"] or 0) for r in rows}
    got = {a: n for a, n in got.items() if a in want}
    assert len(got) > 50 and {a: n for a, n in got.items() if n != want[a]} == {}
    rows = query(trace, "--exec", program, "accesses", f"{min(got):#x}:{max(got) + 1:#x}", "x", "first", "300")
    assert rows and all(int(r["length"]) == want[int(r["pc"], 16)] for r in rows)


@case
def rvnbintrace_s_lengths_are_those_of_the_code():
    p = Program("static", "bin")
    check(p.trace, p.exec)


@case
def tenet_s_lengths_are_those_of_the_code():
    for name in "wtf-walk64.log", "walk64.elf":
        pathlib.Path(name).write_bytes(gzip.decompress((DATA / f"tenet-samples/{name}.gz").read_bytes()))
    check("wtf-walk64.log", "walk64.elf")


@case
def without_the_code_a_length_is_not_known():
    """The last instruction of this Tenet log leads 3 bytes on, by a return."""
    pathlib.Path("ret.log").write_text("rip=0x1000,rsp=0x2000\nrip=0x1003,rsp=0x2008,mr=0x2000:0310000000000000\n"
                                       "rip=0x1004,rax=0x1\n", encoding="ascii")
    rows = query("ret.log", "coverage")
    assert [(r["address"], r["length"]) for r in rows] == [("0x1000", ""), ("0x1003", "")], rows


run_cases()
