#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""diff of two runs with the same input shows nothing: what differs by nature is left out and counted.  With another input all
that was made of it is shown, also where it was mixed with what differs by nature."""
import json
import re
import subprocess

from _record import LIMIT, build, record
from _tap import TRACESTUB, case, run_cases


def diff(a, b, *options):
    done = subprocess.run([TRACESTUB, "diff", a, b, "--quiet", "--json", *options], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode in (0, 1), done
    *rows, end = map(json.loads, done.stdout.splitlines())
    assert done.returncode == bool(rows), done
    return rows, end


def run(out, path, text):
    return record(out, path, input=text)


@case
def equal_runs_have_no_differences():
    for options in ("-O0 -g -w", "-O2 -g -w -static"):
        path = build("noise.c", "noise", options)
        for out in "first.ucir", "second.ucir":
            run(out, path, "some line\n")
        rows, end = diff("first.ucir", "second.ucir")
        everything, plain_end = diff("first.ucir", "second.ucir", "--all")
        left_out = int(re.match(r"\d+", end["note"])[0])
        assert not rows, (options, len(rows), rows[:5])
        assert left_out == len(everything) > 10 and "note" not in plain_end, (end, plain_end)


@case
def another_input_is_shown():
    path = build("noise.c", "noise", "-O1 -g -w -no-pie")
    symbols = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    address = {name: int(re.search(rf"(\w+) \w {name}\n", symbols)[1], 16) for name in ("sum", "mixed", "noise", "line")}
    run("first.ucir", path, "some line\n")
    run("second.ucir", path, "same line\n")
    rows, end = diff("first.ucir", "second.ucir")
    places = [int(r["what"].split(",")[0], 16) for r in rows if r["kind"] == "memory"]
    assert any(address["line"] <= p < address["line"] + 10 for p in places), rows
    assert address["sum"] in places and address["mixed"] in places, (address, rows)
    assert address["noise"] not in places and "note" in end, (address, rows)
    everything, _ = diff("first.ucir", "second.ucir", "--all")
    assert all(r in everything for r in rows) and address["noise"] in [
        int(r["what"].split(",")[0], 16) for r in everything if r["kind"] == "memory"]


def first_of_main(trace):
    done = subprocess.run([TRACESTUB, "query", trace, "executions", "main", "first", "1", "--quiet", "--json"], capture_output=True,
                          text=True, timeout=LIMIT, check=True)
    return json.loads(done.stdout.splitlines()[0])["position"]


@case
def a_moved_stack_has_no_differences():
    """With a variable more in its environment a program does the same, at other addresses; what walks over the environment differs."""
    for options in ("-O0 -g -w", "-O2 -g -w -static"):
        path = build("noise.c", "noise", options)
        for out, more in ("first.ucir", {}), ("second.ucir", {"EXTRA": "any value", "ANOTHER": "x" * 40}):
            record(out, path, input="some line\n", env={"HOME": "/", "PATH": "/bin", "TZ": "UTC", **more})
        rows, end = diff("first.ucir", "second.ucir")
        begin = first_of_main("first.ucir")
        assert begin and not [r for r in rows if r["position"] >= begin], rows
        assert len(rows) < 60 and int(re.match(r"\d+", end["note"])[0]) > 500, (len(rows), end)


def last_write(trace, what):
    done = subprocess.run([TRACESTUB, "query", trace, "last-write", what, "--quiet", "--json"], capture_output=True, text=True,
                          timeout=LIMIT, check=True)
    return json.loads(done.stdout.splitlines()[0])["position"]


@case
def what_is_made_of_a_variable_is_shown():
    path = build("environment.c", "environment", "-O1 -g -w -no-pie")
    symbols = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    address = {name: int(re.search(rf"(\w+) \w {name}\n", symbols)[1], 16) for name in ("of_variable", "of_input", "kept")}
    environment = {"HOME": "/", "PATH": "/bin"}
    for out, more in ("first.ucir", {"EXTRA": "one"}), ("second.ucir", {"EXTRA": "three"}), ("third.ucir", {}):
        record(out, path, input="some line\n", env={**environment, **more})
    written = {name: last_write("first.ucir", name) for name in address}
    for other in "second.ucir", "third.ucir":
        rows, _ = diff("first.ucir", other)
        places = [int(r["what"].split(",")[0], 16) for r in rows if r["kind"] == "memory"]
        paths = [(r["position"], r["end"]) for r in rows if r["kind"] == "path"]
        # Where the paths part a write is in the row of the path; how far that reaches depends on getenv().
        shown = {name for name in address if address[name] in places or any(a <= written[name] < b for a, b in paths)}
        assert shown == ({"of_variable"} if other == "second.ucir" else {"of_variable", "kept"}), (shown, written, rows)


run_cases()
