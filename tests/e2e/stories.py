#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples of tracestub-queries(7): each question is asked, and each line that the page shows is in the answer.

That what it shows is true is found without tracestub: what is said of registers by an execution's own record (_truth.py), the rest
by the program's source.
"""
import gzip
import re
import shlex
import subprocess

from _tap import DATA, LIMIT, SRCDIR, TRACESTUB, add_case, case, run_cases
from _truth import Truth

PAGE = (SRCDIR / "src/program/tracestub-queries.7").read_text()
# The recordings that the page names, and the program of those that have symbols.
RECORDINGS = {
    "x64_crash": ("usercorn/x64_crash.ucir", "usercorn/x64_crash.elf"),
    "gate": ("record/gate.ucir", "record/gate"),
    "list64": ("x64dbg-samples/list64.trace64.gz", None),
    "tiny-fib": ("rvnbintrace-samples/tiny-fib.bin.gz", None),
    "tw-x86_64": ("bap-samples/tw-x86_64.frames.gz", None),
    "work-mem": ("tfile-samples/work-mem.tf", "tfile-samples/work"),
    "sys64": ("gdbrecord-samples/sys64.core.gz", "gdbrecord-samples/sys64"),
    "pin-walk64": ("tenet-samples/pin-walk64.log.gz", "tenet-samples/walk64.elf.gz"),
}


# How many parameters functions have by the programs' sources; of others the registers are shown that may hold arguments.
N_PARAMETERS = {"fib": 1, "is_right": 2}


def stories():
    """(question, rows), a row being its cells as they are shown."""
    for block in re.findall(r"^\.EX\n(.*?)^\.EE$", PAGE, re.M | re.S):
        for part in block.replace("\\-", "-").replace("\\e", "\\").strip().split("\n\n"):
            question, *lines = part.split("\n")
            yield question, [re.split(r" {2,}", line.strip()) for line in lines]


def program_of(path):
    """A file of the program, unpacked."""
    if path.endswith(".gz"):
        with open("program", "wb") as out:
            out.write(gzip.decompress((DATA / path).read_bytes()))
        return "program"
    return str(DATA / path)


def ask(question):
    """The rows, by the names of the columns."""
    tool, query, name, *words = shlex.split(question.removeprefix("$ "))
    assert (tool, query) == ("tracestub", "query"), question
    trace, program = RECORDINGS[name]
    argv = [TRACESTUB, query, str(DATA / trace), *words, *(["--exec", program_of(program)] if program else [])]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done
    columns, *rows = [[cell.replace("\\\\", "\\") for cell in line.split("\t")] for line in done.stdout.splitlines()]     # escaped in TSV
    return [dict(zip(columns, row)) for row in rows]


def check(question, rows):
    columns, *shown = rows
    found = ask(question)
    assert set(columns) <= set(found[0]), (columns, found[0])
    for row in shown:
        assert any(set(row) <= {cell.strip() for cell in f.values()} for f in found), (row, found)
    assert len(shown) == len(found), (len(shown), found)


def check_truth(question):
    """Where rows say what the program executed, and what its registers held, so does the record of the execution."""
    truth, n = Truth.of(shlex.split(question)[3]), 0
    for row in ask(question):
        if row.get("position") and row.get("pc"):
            assert truth.pc(int(row["position"])) == int(row["pc"], 16), row
            n += 1
        if "arguments" in row and row.get("begin"):
            arguments = [int(a, 16) for a in row["arguments"].split(", ")]
            assert arguments == truth.arguments(int(row["begin"]))[:N_PARAMETERS.get(row.get("callee"))], row
            assert int(row["result"], 16) == truth.registers(int(row["end"]))["rax"], row
        if row.get("place", "").startswith("$") and row["position"]:
            assert int(row["value"], 16) == truth.registers(int(row["position"]) + 1)[row["place"][1:]], row
    assert n, question


STORIES = list(stories())
for question, rows in STORIES:
    shown = question.removeprefix("$ ").replace("#", "")
    add_case(shown, check, question, rows)
    if Truth.is_of(shlex.split(question)[3]) and "pc" in rows[0]:
        add_case(f"{shown}: as it was executed", check_truth, question)


@case
def each_format_has_a_story():
    assert {shlex.split(question)[3] for question, _ in STORIES} == set(RECORDINGS)


def asked(beginning):
    """The rows of the page's question that begins so."""
    question, = [q for q, _ in STORIES if q.startswith(f"$ tracestub query {beginning}")]
    return ask(question)


def numbers(rows, column):
    return [int(row[column], 0) for row in rows if row[column]]


@case
def the_pointer_of_the_crash_is_a_constant_of_the_program():
    """prog.c: `int *w = (int *)0x10; ... *w = s`."""
    fault, = asked("x64_crash events")
    assert fault["text"] == "at 0x10" and set(numbers(asked("x64_crash why"), "value")) == {0x10}, fault
    with gzip.open(DATA / "usercorn/x64_crash.mem.gz", "rt") as file:
        for line in file:
            when, start, length, *_, low, data = line.split()
            if when == "1" and int(start, 16) <= 0xbffffe38 < int(start, 16) + int(length, 16):
                at = 0xbffffe38 - int(low, 16)
                assert bytes.fromhex(data)[at:at + 8] == (0x10).to_bytes(8, "little"), line
                return
    raise AssertionError("no memory at 0xbffffe38")


@case
def the_word_differs_from_what_was_read_where_the_branch_is():
    """Of gate.c, by its disassembly: 4 instructions, read, 2 until is_right; there 4 before the loop, each turn of which has 6."""
    word, line = b"sesame", b"sesamo\n"
    turn = next(i for i in range(len(word)) if word[i] != line[i])
    compare = 4 + 1 + 2 + 4 + 6 * turn
    branch, flag, given, loaded, stored = asked("gate why branch")
    assert numbers([branch, flag, given, loaded], "position") == [compare + 1, compare, 4, compare - 3]
    assert (int(given["value"], 16), int(stored["value"], 16)) == (line[turn], word[turn])
    assert loaded["value"] == stored["value"] and (given["kind"], stored["kind"]) == ("input", "start")
    program = (DATA / "record/gate").read_bytes()
    assert program.count(word) == 1 and int(stored["place"].split(",")[0], 16) == 0x400000 + program.index(word) + turn
    read, write, *_ = asked("gate events")
    assert int(read["result"], 16) == len(line) and int(write["arguments"].split(", ")[2], 16) == len(b"no\n")
    call, = asked("gate calls")
    assert call["callee"] == "is_right" and int(call["result"], 16) == 0


@case
def the_bytes_that_were_read_are_those_that_the_sum_has():
    """tw-x86_64 sums its input by exclusive or: the oracle's ecx before and after; its positions are later by what the stub missed."""
    read, = asked("tw-x86_64 next-read")
    text, = asked("tw-x86_64 strings")
    with gzip.open(DATA / "bap-samples/tw-x86_64.oracle.gz", "rt") as file:
        lines = file.read().split("\n")
    rdx = int(read["address"], 16).to_bytes(8, "little").hex()
    start = next(i for i, line in enumerate(lines) if f'"rdx": "{rdx}"' in line)
    pc = int(read["pc"], 16).to_bytes(8, "little").hex()
    at = next(i for i in range(start, len(lines)) if f'"rip": "{pc}"' in lines[i])
    before, after = (int(re.search(r'"rcx": "(..)', lines[i])[1], 16) for i in (at, at + 1))
    assert before ^ after == int(read["new"], 16) == ord(text["text"][0]), (before, after, read)


@case
def the_counter_is_what_gdb_printed_of_each_frame():
    printed = re.findall(r"^g_counter = (\d+)$", (DATA / "tfile-samples/work-mem.oracle.txt").read_text(), re.M)
    rows = asked("work-mem history")
    for row, k in zip(rows, numbers(rows, "position"), strict=True):
        assert int(printed[k]) == int(row["old"], 16) and int(printed[k + 1]) == int(row["new"], 16), (row, printed)


@case
def the_handler_wrote_what_its_source_says():
    """sys.c: `caught = n * 100 + (int)(sum & 7)`, n being 10, of SIGUSR1."""
    row, = asked("sys64 last-write")
    assert int(row["new"], 16) // 100 == 10 and int(row["new"], 16) % 100 < 8, row
    action, pid, kill, signal = asked("sys64 events")
    assert [e["name"] for e in (action, pid, kill)] == ["rt_sigaction", "getpid", "kill"] and signal["text"] == "SIGUSR1"
    assert kill["arguments"].split(", ")[:2] == [pid["result"], "0xa"] and action["arguments"].startswith("0xa, ")


@case
def the_total_is_the_sum_that_the_source_makes():
    """walk.c: the values of a list, fib(7), and a byte that was copied within the array `to`."""
    squares = sum(i * i - 30 for i in range(20))
    origin = [i * 7 & 255 for i in range(96)]
    to = origin[:]
    to[8:28] = [0x34, 0x12, 0x5a, 0x5a] * 5
    for i in range(16):
        to[95 - i] = to[87 - i]
    sums = [squares, squares + 13, squares + 13 + to[90]]
    assert numbers(asked("pin-walk64 history"), "new") == sums and sums[-1] == 1945, sums
    fib = {n: int(row["result"], 16) for row in asked("pin-walk64 calls") for n in [int(row["arguments"].split(",")[0], 16)]}
    assert fib == {7: 13, 6: 8, 5: 5}, fib


run_cases()
