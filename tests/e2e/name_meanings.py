#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A name that stands for several things: the program's own before a library's, data before code where memory is asked about; the
static variables of two source files are told apart by FILE::NAME, and refused with that list without it."""
import json
import pathlib
import subprocess

from _record import LIMIT, compiler, record
from _tap import TRACESTUB, case, run_cases

A = "static int state; volatile int index, glob; int one(int k) { state = k; index = k; glob += k; return state; }"
B = """static int state; int two(int k) { state = k * 10; return state; }
int one(int); int main(void) { int s = 0; for (int i = 1; i < 4; i++) s += one(i) + two(i); return s & 1; }"""


def ask(*words):
    done = subprocess.run([TRACESTUB, "query", "names.ucir", *words, "--json"], capture_output=True, text=True, timeout=LIMIT)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()][:-1], done.stderr


def build():
    pathlib.Path("a.c").write_text(A, encoding="ascii")
    pathlib.Path("b.c").write_text(B, encoding="ascii")
    subprocess.run([compiler(), "-g", "-O0", "-w", "-fno-builtin", "-o", "names", "a.c", "b.c"], check=True, timeout=LIMIT)
    record("names.ucir", "./names")


@case
def the_program_s_data_comes_first():
    build()
    for name in "index", "glob":
        _, rows, _ = ask("history", name)
        assert [r["new"] for r in rows] == (["0x1", "0x2", "0x3"] if name == "index" else ["0x1", "0x3", "0x6"]), rows
        assert {r["function"] for r in rows} == {"one"}, rows


@case
def two_statics_are_told_apart():
    build()
    status, rows, why = ask("history", "state")
    assert status == 2 and not rows and "a.c::state" in why and "b.c::state" in why, (status, rows, why)
    for name, function, values in ("a.c::state", "one", ["0x1", "0x2", "0x3"]), ("'b.c'::state", "two", ["0xa", "0x14", "0x1e"]):
        _, rows, why = ask("history", name)
        assert [(r["function"], r["new"]) for r in rows] == [(function, v) for v in values], (rows, why)


run_cases()
