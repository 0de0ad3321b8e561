#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples of tracestub-queries(7): each question is asked, and each line that the page shows is in the answer."""
import re
import shlex
import subprocess

from _tap import DATA, SRCDIR, TRACESTUB, add_case, case, run_cases

PAGE = (SRCDIR / "src/program/tracestub-queries.7").read_text()
LIMIT = 60
# The recordings that the page names, and the program of those that have symbols.
RECORDINGS = {
    "x64_crash": ("usercorn/x64_crash.ucir", "usercorn/x64_crash.elf"),
    "list64": ("x64dbg-samples/list64.trace64.gz", None),
    "tiny-fib": ("rvnbintrace-samples/tiny-fib.bin.gz", None),
    "tw-x86_64": ("bap-samples/tw-x86_64.frames.gz", None),
    "work-mem": ("tfile-samples/work-mem.tf", "tfile-samples/work"),
}


def stories():
    """(question, rows), a row being its cells as they are shown."""
    for block in re.findall(r"^\.EX\n(.*?)^\.EE$", PAGE, re.M | re.S):
        for part in block.replace("\\-", "-").strip().split("\n\n"):
            question, *lines = part.split("\n")
            yield question, [re.split(r" {2,}", line.strip()) for line in lines]


def check(question, rows):
    tool, query, name, *words = shlex.split(question.removeprefix("$ "))
    assert (tool, query) == ("tracestub", "query"), question
    trace, program = RECORDINGS[name]
    argv = [TRACESTUB, query, str(DATA / trace), *words, *(["--exec", str(DATA / program)] if program else [])]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done
    answer = [[cell.strip() for cell in line.split("\t") if cell.strip()] for line in done.stdout.splitlines()]
    columns, *shown = rows
    assert set(columns) <= set(answer[0]), (columns, answer[0])
    for row in shown:
        assert any(set(row) <= set(found) and len(row) <= len(found) for found in answer[1:]), (row, answer)
    assert len(shown) == len(answer) - 1, (len(shown), answer)


STORIES = list(stories())
for question, rows in STORIES:
    add_case(question.removeprefix("$ ").replace("#", ""), check, question, rows)


@case
def each_format_has_a_story():
    assert {shlex.split(question)[3] for question, _ in STORIES} == set(RECORDINGS)


run_cases()
