#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`diff TRACE --against FOLDER`: a row for each recording, with what diff says first of the two; those that part first come first."""
import json
import pathlib
import shutil
import subprocess

from _record import LIMIT, build, record
from _tap import TRACESTUB, case, run_cases

INPUTS = {"same": "ABCDEFGH", "late": "ABCDEFHH", "early": "BBCDEFGH", "middle": "ABCCEFGH"}


def folder():
    path = pathlib.Path("runs")
    if not path.exists():
        program = build("parity.c", "parity", "-O0 -g -w -static")
        path.mkdir()
        record("first.ucir", program, input="ABCDEFGH")
        for name, text in INPUTS.items():
            record(path / f"{name}.ucir", program, input=text)
        (path / "same.ucir.tsmarks").write_text("# tracestub marks\n")
        (path / ".hidden").write_text("no recording")
    return path


def diff(*words):
    done = subprocess.run([TRACESTUB, "diff", *map(str, words), "--quiet", "--json"], capture_output=True, text=True, timeout=LIMIT)
    return done, [json.loads(line) for line in done.stdout.splitlines()]


@case
def each_row_is_what_diff_says_first():
    """All is read by one call, at which memory differs: the paths part where odd() answers otherwise."""
    done, (*rows, end) = diff("first.ucir", "--only", "path", "--against", folder())
    assert done.returncode == 1 and not done.stderr and end == {"complete": True, "rows": 4, "total": 4}, done
    assert [r["recording"] for r in rows] == [f"runs/{n}.ucir" for n in ("early", "middle", "late", "same")], rows
    for row in rows[:-1]:
        one = diff("first.ucir", row.pop("recording"), "--only", "path", "--first", "1")[1]
        assert row == one[0], (row, one)
    assert rows[-1]["kind"] == "same" and rows[-1]["position"] is None, rows


@case
def rows_are_chosen_by_the_same_words():
    all_of_them = diff("first.ucir", "--against", folder())[1]
    assert [r.get("kind") for r in all_of_them] == ["memory"] * 3 + ["same", None], all_of_them
    only = diff("first.ucir", "only", "path", "first", "1", "--against", folder())[1]
    assert len(only) == 2 and only[0]["kind"] == "path" and only[0]["recording"] == "runs/early.ucir", only
    done, (*rows, _) = diff("first.ucir", "--against", folder(), "--in", ":9")
    assert done.returncode == 0 and {r["kind"] for r in rows} == {"same"} and len(rows) == 4, rows


@case
def the_recording_itself_is_not_compared():
    done, (*rows, _) = diff(folder() / "late.ucir", "--against", folder())
    assert len(rows) == 3 and not any("late" in r["recording"] for r in rows), rows


@case
def what_cannot_be_compared_is_named():
    bad = folder() / "zz.ucir"
    bad.write_bytes(b"no recording at all" * 99)
    try:
        done, (*rows, end) = diff("first.ucir", "--against", folder())
    finally:
        bad.unlink()
    assert done.returncode == 2 and "zz.ucir" in done.stderr and len(rows) == 4, done
    assert end["complete"] is False and "1 of 5 recordings" in end["note"], end


@case
def folders_without_a_recording_are_refused():
    empty = pathlib.Path("empty")
    empty.mkdir()
    for path, text in (empty, "no other recording"), ("nowhere", "No such file"):
        done, rows = diff("first.ucir", "--against", path)
        assert done.returncode == 2 and text in done.stderr and not rows, done
    done, rows = diff("first.ucir")
    assert done.returncode == 2 and "too few arguments" in done.stderr, done
    shutil.rmtree(empty)


run_cases()
