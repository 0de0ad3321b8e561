#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tracestub diff`: one execution in four formats has no differences but what a format leaves out; two programs do."""
import json
import os
import pty
import subprocess

from _programs import FORMATS, Program
from _tap import DATA, LIMIT, TRACESTUB, add_case, case, run_cases

COLUMNS = ["position", "end", "position2", "end2", "kind", "function", "file", "line", "what", "old", "new"]


def diff(a, b, *options):
    return subprocess.run([TRACESTUB, "diff", a, b, "--quiet", "--index", "none", *options], capture_output=True, text=True,
                          timeout=LIMIT)


PLACE = "function", "file", "line"     # what diff_filters.py asks for


def rows_of(a, b, *options):
    done = diff(a, b, "--json", *options)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == (1 if lines[:-1] else 0), done
    lines[-1].pop("note", None)     # of what the system gives each program
    assert lines[-1] == {"complete": True, "rows": len(lines) - 1, "total": len(lines) - 1}, lines[-1]
    return [{k: v for k, v in row.items() if not k.endswith("_bytes")} for row in lines[:-1]]


def n_steps(trace):
    done = subprocess.run([TRACESTUB, "query", trace, "when", "--json", "--quiet"], capture_output=True, text=True, timeout=LIMIT)
    return json.loads(done.stdout.splitlines()[0])["positions"]


def formats_agree(name):
    """x64dbg's recordings end before the last system call's two steps."""
    programs = [Program(name, suffix) for suffix in FORMATS]
    lengths = [n_steps(p.trace) for p in programs]
    for a, n in zip(programs, lengths):
        for b, n2 in zip(programs, lengths):
            common = min(n, n2)
            want = [] if n == n2 else [[common, n, common, n2, "path", *[None] * 3]]
            for options in (), ("--rebase",):
                rows = rows_of(a.trace, b.trace, *options)
                assert [list(r) for r in rows] == [COLUMNS] * len(rows) and [[v for k, v in r.items() if k not in PLACE] for r in rows] == want, \
                    (a.name, b.name, rows)


for which in "pie", "static":
    add_case(f"one execution of {which} in four formats has no differences", formats_agree, which)


@case
def without_names_rebase_says_what_it_moves():
    for suffix, is_said in ("trace64", True), ("ucir", False):
        trace = Program("pie", suffix).trace
        done = subprocess.run([TRACESTUB, "diff", trace, trace, "--rebase", "--json", "--quiet"], capture_output=True, text=True, timeout=LIMIT)
        assert ("no module or region has the same name" in done.stdout) == is_said, (suffix, done)


@case
def different_executions_are_status_1():
    """Two programs that share no code: the first row begins where the paths part, at the first step, and names all of both."""
    a, b = Program("pie", "ucir"), Program("static", "ucir")
    rows = rows_of(a.trace, b.trace)
    paths = [r for r in rows if r["kind"] == "path"]
    assert paths and (paths[0]["position"], paths[0]["position2"]) == (0, 0), rows[:3]
    assert paths[-1]["end"] == n_steps(a.trace) and paths[-1]["end2"] == n_steps(b.trace), paths[-1]
    assert [r["position"] for r in rows] == sorted(r["position"] for r in rows)


@case
def forms_are_those_of_questions():
    a, b = Program("pie", "ucir"), Program("pie", "trace64")
    done = diff(a.trace, b.trace)
    row = [str(n_steps(b.trace)), str(n_steps(a.trace)), str(n_steps(b.trace)), str(n_steps(b.trace)), "path"]
    head, line = [text.split("\t") for text in done.stdout.splitlines()]
    assert (head, line[:5], line[8:], done.stderr) == (COLUMNS, row, 3 * [""], "1 row\n"), done
    done = diff(a.trace, a.trace)
    assert (done.stdout, done.stderr, done.returncode) == ("\t".join(COLUMNS) + "\n", "no rows\n", 0), done
    master, slave = pty.openpty()
    with subprocess.Popen([TRACESTUB, "diff", a.trace, b.trace, "--quiet"], stdout=slave) as child:
        assert child.wait(LIMIT) == 1
    os.close(slave)
    shown = os.read(master, 65536).decode().splitlines()
    os.close(master)
    filled = [name for name, value in zip(COLUMNS, line) if value]     # a terminal shows no empty columns; libraries may have names
    assert shown[0].split() == ["#", *filled] and shown[1].split()[5] == "path" and shown[2] == "1 row", shown


@case
def an_index_made_for_other_commands_is_used():
    """It lacks what chunks are compared by; nothing is to be said of that."""
    trace = Program("pie", "ucir").trace
    for command in ["info", trace], ["diff", trace, trace]:
        done = subprocess.run([TRACESTUB, *command, "--index", "index"], capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0 and "index.digests" not in done.stderr, done
    assert os.path.getsize("index") > 0


@case
def trouble_is_status_2():
    walk, arm = DATA / "usercorn/x64_walk.ucir", DATA / "bap-samples/tw-arm.frames.gz"
    for a, b in (walk, "missing.ucir"), ("missing.ucir", walk), (walk, __file__), (walk, arm):
        done = diff(a, b)
        assert done.returncode == 2 and not done.stdout and len(done.stderr.splitlines()) == 1, done


run_cases()
