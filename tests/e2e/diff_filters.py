#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""diff's filters: each leaves the rows of the whole answer for which it holds, and counts only what it left out of those."""
import json
import pathlib
import re
import subprocess

from _record import LIMIT, build, record
from _tap import TRACESTUB, case, run_cases

TRACES = []


def traces():
    """Of two inputs that part at the fifth byte."""
    if not TRACES:
        path = build("parity.c", "parity", "-O0 -g -w -static")
        for name, text in ("first.ucir", "ABCDEFGH"), ("second.ucir", "ABCDDFGH"):
            record(name, path, input=text)
            TRACES.append(name)
    return TRACES


def run(*words):
    return subprocess.run([TRACESTUB, "diff", *traces(), "--quiet", "--json", *words], capture_output=True, text=True, timeout=LIMIT)


def diff(*words):
    done = run(*words)
    *rows, end = map(json.loads, done.stdout.splitlines())
    assert done.returncode == bool(rows) and not done.stderr, done
    return rows, end


def function_ranges():
    lines = subprocess.run(["nm", "-S", "parity"], capture_output=True, text=True, check=True).stdout
    return {m[3]: range(int(m[1], 16), int(m[1], 16) + int(m[2], 16))
            for m in re.finditer(r"^(\w+) (\w+) [tT] (main|odd|even)$", lines, re.M)}


def pc_at(position):
    done = subprocess.run([TRACESTUB, "query", traces()[0], "when", "at", str(position), "--quiet", "--json"],
                          capture_output=True, text=True, check=True, timeout=LIMIT)
    return int(json.loads(done.stdout.splitlines()[0])["pc"], 16)


@case
def rows_name_the_function_and_the_line():
    """The functions' addresses are nm's; the line of main's branch is the source's."""
    rows, _ = diff()
    ranges = function_ranges()
    named = [r for r in rows if r["function"] in ranges]
    assert {r["function"] for r in named} == {"main", "odd", "even"}, rows
    for r in named:
        assert pc_at(r["position"]) in ranges[r["function"]] and r["file"].endswith("parity.c"), r

    paths = [r for r in rows if r["kind"] == "path"]
    source = pathlib.Path(paths[0]["file"]).read_text().splitlines()
    assert {r["function"] for r in paths} == {"main"} and "odd(i)" in source[paths[0]["line"] - 1], paths


@case
def each_filter_leaves_the_rows_for_which_it_holds():
    rows, _ = diff()
    middle = rows[len(rows) // 2]["position"]
    for words, holds in (
            (["--only", "path"], lambda r: r["kind"] == "path"),
            (["--only", "memory,path"], lambda r: r["kind"] != "register"),
            (["only", "register"], lambda r: r["kind"] == "register"),
            (["--in", f"{middle}:"], lambda r: r["position"] >= middle),
            (["in", f":{middle}"], lambda r: r["position"] < middle),
            (["--function", "odd"], lambda r: r["function"] == "odd"),
            (["--function", "[oe]*d*"], lambda r: r["function"] == "odd"),
            (["function", "no*such"], lambda r: False),
            (["--only", "memory", "in", f"{middle}:", "--function", "*"], lambda r: r["kind"] == "memory" and r["position"] >= middle and
             r["function"])):
        left, end = diff(*words)
        want = [r for r in rows if holds(r)]
        assert left == want and (end["rows"], end["total"], end["complete"]) == (len(want), len(want), True), (words, left, want)
    first, end = diff("--first", "3")
    assert first == rows[:3] and end["complete"] is False, end


@case
def what_is_left_out_is_counted_by_the_filters():
    for words in [], ["--only", "memory"], ["--only", "path"], ["--in", ":5000"], ["--function", "_dl_*"]:
        rows, end = diff(*words)
        everything, _ = diff("--all", *words)
        left_out = int(re.match(r"\d+", end.get("note", "0"))[0])
        assert left_out == len(everything) - len(rows), (words, end, len(everything), len(rows))


@case
def wrong_words_are_refused():
    for words, sentence in ((["--only", "foo"], "path, register and memory"), (["--only", "path,"], "path, register and memory"),
                            (["foo", "5"], "too many arguments"), (["first"], "too few arguments"), (["first", "x"], "a number"),
                            (["in", "9:4"], "reversed"), (["--in", "9"], "range"), (["--in", "nowhere:end"], "nowhere")):
        done = run(*words)
        assert done.returncode == 2 and not done.stdout and sentence in done.stderr, (words, done)


run_cases()
