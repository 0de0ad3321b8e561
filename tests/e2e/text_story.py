#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One execution of walk.c on AArch64 in seven dialects: the same story in gdb, the same calls, and diff finds nothing
but what a dialect lacks.

unidbg's and GumTrace's logs leave out a function each (total; fill), whose calls are gaps, so their positions are others:
a map lists which position of the execution each line is.
"""
import csv
import gzip
import io
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

from _server import Server
from _tap import DATA, TRACESTUB, add_case, case, run_cases, skip

SAMPLES = DATA / "text-samples"
FOLDER = pathlib.Path(tempfile.mkdtemp())
WHOLE = ["cpu-aarch64.log", "made-aarch64.log", "qbdi-walk.log", "es-walk-a64.tarmac", "gem5-walk-a64.tarmac"]
PARTS = [("unidbg-walk.log", "total"), ("calls-walk.log", "fill")]
# what walk.c calls, with its arguments and results: main pushes 1 to 5, and the list has five nodes
CALLEES = ["start_c", "main"] + 5 * ["push"] + ["fill", "total"] + 6 * ["depth"]


def sample(name):
    path = FOLDER / name
    if not path.exists():
        path.write_bytes(gzip.decompress((SAMPLES / f"{name}.gz").read_bytes()))
    return path


def ask(command, *args, program="walk-aarch64"):
    args = [command, *args, "--exec", sample(program), "--quiet"]
    done = subprocess.run([TRACESTUB, *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode <= (command == "diff"), done.stderr # 1: they differ
    return list(csv.DictReader(io.StringIO(done.stdout), delimiter="\t"))


def calls(name):
    return ask("query", sample(name), "calls")


@case
def the_calls_are_those_of_the_source():
    rows = calls(WHOLE[0])
    assert [row["callee"] for row in rows] == CALLEES, rows
    assert [row["arguments"] for row in rows if row["callee"] == "push"] == ["0x1", "0x2", "0x3", "0x4", "0x5"]
    assert [row["result"] for row in rows if row["callee"] == "depth"] == ["0x5", "0x4", "0x3", "0x2", "0x1", "0x0"]
    assert [row["result"] for row in rows if row["callee"] == "main"] == ["0x30"]


def same_calls(name):
    assert calls(name) == calls(WHOLE[0])


def calls_but_those_left_out(name, missing):
    """At their positions in the execution. A call that the log leaves out is a gap, at its place and with its result."""
    places = [p for p in json.loads(gzip.decompress((SAMPLES / (name.rsplit(".", 1)[0] + ".map.json.gz")).read_bytes()))
              if p is not None]
    rows = calls(name)
    for row in rows:
        for column in "position", "begin", "end":
            if row[column]:
                row[column] = str(places[int(row[column])])
    whole = calls(WHOLE[0])
    gaps = [row for row in rows if row["kind"] == "gap"]
    assert [row for row in rows if row not in gaps] == [row for row in whole if row["callee"] != missing], rows
    left_out = [row for row in whole if row["callee"] == missing]
    assert len(gaps) == len(left_out), rows
    for gap, call in zip(gaps, left_out):
        assert all(gap[c] == call[c] for c in ("position", "end", "thread", "depth", "pc", "caller")), (gap, call)
        assert not gap["begin"] and call["result"] in ("", gap["result"]), (gap, call)


def no_difference(name):
    rows = ask("diff", sample(WHOLE[0]), sample(name))
    assert not [row for row in rows if row["kind"]], rows


def no_difference_but_what_is_left_out(name, missing):
    """The function takes another path, in one of the two; registers differ only where the code is left out."""
    rows = [row for row in ask("diff", sample(WHOLE[0]), sample(name)) if row["kind"]]
    assert [row["function"] for row in rows if row["kind"] == "path"] == [missing], rows
    assert all(row["position"] == rows[-1]["position"] or int(row["end"]) == int(rows[-1]["position"]) for row in rows), rows


def story(name):
    """Into the recursion to its end, out of it, and back to where its first call was made."""
    if not (gdb := shutil.which("gdb-multiarch")):
        skip("no gdb-multiarch")
    commands = ["set pagination off", "set style enabled off", "set width 0", "break depth if n == 0", "continue", "backtrace",
                "info line", "reverse-finish", "info symbol $pc", "delete", "tbreak start_c", "reverse-continue", "info symbol $pc",
                "tbreak depth", "continue", "p/x $x0", "next", "info symbol $pc", "p/x $x29 == $x29"]
    with Server(str(sample(name)), "--exec", str(sample("walk-aarch64"))) as server:
        argv = [gdb, "-nx", "-nh", "-q", "-batch", str(sample("walk-aarch64")), "-ex", f"target remote {server.address}"]
        for command in commands:
            argv += ["-ex", command]
        out = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300)
    return re.sub(r"(?m)^(warning: .*|Remote debugging .*|\[Inferior .*)\n", "", out.stdout)


STORY = []


def calls_of_x86(name):
    """Where a state tells what the instruction before it did, and no line how long an instruction is."""
    rows = ask("query", sample(name), "calls", program="walk-x86_64")
    assert [row["callee"] for row in rows] == CALLEES, rows


@case
def gdb_tells_the_story_of_the_source():
    STORY.append(story(WHOLE[0]))
    assert len(re.findall(r"(?m)^#\d+ .*\bdepth \(", STORY[0])) == 6 and re.search(r"(?m)^#6 .* main \(\)", STORY[0]), STORY[0]
    assert "start_c in section .text" in STORY[0], STORY[0]


def same_story(name):
    if not STORY:
        STORY.append(story(WHOLE[0]))
    mine = story(name)
    assert mine == STORY[0], f"{mine}\n----\n{STORY[0]}"


for dialect in WHOLE[1:]:
    add_case(f"the same calls: {dialect}", same_calls, dialect)
    add_case(f"no difference: {dialect}", no_difference, dialect)
for dialect in WHOLE[1:4] + [PARTS[0][0], PARTS[1][0]]:
    add_case(f"the same story in gdb: {dialect}", same_story, dialect)
for dialect in "insn-walk64.trace", "cpu-x86_64.log", "real-one-x86_64.log":
    add_case(f"the calls of x86-64: {dialect}", calls_of_x86, dialect)
for dialect, function in PARTS:
    add_case(f"the same calls but those of code that is left out: {dialect}", calls_but_those_left_out, dialect, function)
    add_case(f"no difference but what is left out: {dialect}", no_difference_but_what_is_left_out, dialect, function)

run_cases()
