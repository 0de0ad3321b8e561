#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tracestub query`: the same questions as TSV, JSON Lines and text, on all formats, and by monitor in gdb."""
import csv
import fcntl
import io
import json
import mmap
import os
import pathlib
import re
import signal
import socket
import subprocess

import _ucir2
from _forms import LIMIT, cell, json_lines, on_terminal, query, query_text
from _long import HOT, N, SLOW, SLOW_N, TRACE, make_slow, run_cases_on_long
from _tap import DATA, TRACESTUB, add_case, case

TRACES = {
    "usercorn": DATA / "usercorn/x64_walk.ucir",
    "x64dbg": DATA / "x64dbg-samples/fib64.trace64.gz",
    "bap": DATA / "bap-samples/tw-x86_64.frames.gz",
    "rvnbintrace": DATA / "rvnbintrace-samples/tiny-fib.bin.gz",
    "tenet": DATA / "tenet-samples/wtf-walk64.log.gz",
    "tfile": DATA / "tfile-samples/work-regs.tf",
}

QUESTIONS = [
    "when", "when at 50%", "history $pc first 5", "history $sp last 3", "last-write $sp", "next-write $sp",
    "next-change $sp if value > 0", "executions {pc}", "executions {pc},16 last 2", "accesses {sp},64 rwx first 9",
    "history {sp},8", "last-access {sp},8", "next-exec {pc}", "events", "events exit", "threads in 0:end",
    "processes in 0:end", "modules in 0:end", "maps at 0", "memory {pc},40 at end", "memory {sp},64 at 50%",
    "registers at 7", "registers pc sp at 3", "hot 3", "hot 4 by address", "coverage first 6",
    "strings first 5", "find 00 00 00 01 first 3", "marks", "history $pc in 2:5", "executions {pc} if $sp > 0 first 2",
    "goto next exec {pc}", "history 0x10 --changes", "steps first 5", "steps last 2", "steps {pc} first 2",
    "compares first 5", "compares == 0 first 2", "flows $sp first 3", "flows {sp},8 to copy first 2", "unexplained first 3",
]


def check_tsv(trace, question, rows, names):
    done = query(trace, question)
    lines = done.stdout.splitlines()
    assert lines[0].split("\t") == names or not rows, (question, lines[0])
    assert lines[1:] == ["\t".join(map(cell, row.values())) for row in rows], (question, done.stdout[:2000])
    return done


def csv_cell(value):
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(csv_cell, value))
    return value if isinstance(value, str) else value.text


def check_csv(trace, question, rows):
    lines = list(csv.reader(io.StringIO(query(trace, question, "--csv").stdout, newline="")))
    assert lines[0] == list(rows[0]) if rows else len(lines) == 1, (question, lines[0])
    assert lines[1:] == [[csv_cell(value) for value in row.values()] for row in rows], (question, lines[:3])


def check_end(question, end, line):
    rows, total = int(end["rows"].text), end["total"]
    counted = f"{rows:,} row{'s' if rows != 1 else ''}" if rows else "no rows"
    if end["complete"] is True:
        assert line == counted, (question, line, end)
        return
    rest = f" of {int(total.text):,}" if total else "; there are more"
    is_noted = re.search("may have (read it|compared)|are not recorded|is not known", end.get("note", ""))    # what is missing
    assert line in (f"first {counted}{rest}", f"last {counted}{rest}") or (is_noted and line == f"{counted}; there may be more"), \
        (question, line, end)


def is_same_cell(shown, want):
    return shown == want or (shown == "-" and want == "") or (want == "" and set(shown) <= set("? ."))


def check_text(text, question, rows, end):
    lines = text.splitlines()
    if question.split()[0] in ("when", "goto"):
        if rows:
            want = {k: cell(v) for k, v in rows[0].items()}
            m = re.fullmatch(r"position (\d+) of (\d+) \(\d+\.\d\d%\), thread \d+\.(\d+), pc (0x[0-9a-f]+|unknown)", lines[0])
            assert m, (question, lines)
            assert m[1] == want["position"] and m[2] == want["positions"] and m[3] == want["thread"], (question, lines)
        return
    check_end(question, end, lines[-1])
    if not rows:
        return
    names = re.split(r" {2,}", lines[0])
    assert names[0] == "#", lines[0]
    for n, (line, row) in enumerate(zip(lines[1:], rows), 1):
        cells = re.split(r" {2,}", line, maxsplit=len(names) - 1)
        assert cells[0] == str(n), (question, line)
        want = {k: cell(v) for k, v in row.items()}
        for name, shown in zip(names[1:], cells[1:]):
            assert is_same_cell(shown, want[name].replace("\\\\", "\\")), (question, name, shown, want[name])
        for name, value in want.items():
            assert name in names or not value, (question, name, value)


def places(trace):
    row = json_lines(query(trace, "history $pc first 1", "--json").stdout)[0][0]
    sp = json_lines(query(trace, "history $sp first 1", "--json").stdout)[0]
    known = sp and isinstance(sp[0]["new"], str) and sp[0]["new"].startswith("0x")
    return {"pc": row["pc"], "sp": sp[0]["new"] if known else "0x1000"}


def the_forms_agree(trace, turn):
    """Each question is asked of two formats; doors asks at random of all."""
    names = places(trace)
    for question in QUESTIONS[turn % 3::3]:
        question = question.format(**names)
        done = query(trace, question, "--json")
        assert done.returncode in (0, 1), (question, done)
        rows, end = json_lines(done.stdout)
        assert int(end["rows"].text) == len(rows), (question, end)
        assert done.returncode == (0 if rows else 1), (question, done.returncode)
        tsv = check_tsv(trace, question, rows, list(rows[0]) if rows else [])
        assert tsv.returncode == done.returncode, question
        check_csv(trace, question, rows)
        text, status = query_text(trace, question)
        assert status == done.returncode, question
        check_text(text, question, rows, end)


for turn, (format_name, path) in enumerate(TRACES.items()):
    add_case(f"the forms agree on {format_name}", the_forms_agree, path, turn)


def is_part_of(shown, whole, is_file):
    """Is @shown the cell, or a part of it that says where the rest was?"""
    if not shown.endswith("…") and not shown.startswith("…"):
        return shown == whole
    return whole.endswith(shown[1:]) if is_file else whole.startswith(shown[:-1].rstrip())


def check_fitted(lines, whole, width):
    """Lines of a table beside the same without a terminal's width: cells are whole, or cut and marked."""
    names = re.split(r" {2,}", whole[0])
    assert len(lines) == len(whole), (lines, whole)
    for line, full in zip(lines, whole):
        assert len(line) <= width, (width, line)
        cells, wanted = re.split(r" {2,}", line), re.split(r" {2,}", full, maxsplit=len(names) - 1)
        assert len(cells) == len(wanted) or line.endswith("…"), (line, full)
        for i, (shown, want) in enumerate(zip(cells, wanted)):
            is_file = names[i] in ("file", "module", "recording") and full != whole[0]
            assert is_part_of(shown, want, is_file), (names[i], shown, want)


@case
def of_a_files_name_the_last_part_is_shown_that_fits():
    names = ["/usr/lib/" + "d/" * n + f"lib{n}.so" for n in (1, 5, 20)] + ["n" * 100, "/目录/" + "文" * 30 + ".so"]
    maps = [_ucir2.map_(0x10000 * n, 0x1000, 5, b"", name.encode()) for n, name in enumerate(names, 1)]
    ops = _ucir2.keyframe(1, 1, *maps, _ucir2.reg(0, 1), _ucir2.jmp(0x10000)), _ucir2.frame(1, 1, _ucir2.step(1))
    pathlib.Path("files.ucir").write_bytes(_ucir2.ucir2("x86_64", *ops, _ucir2.end(0, 0)))
    whole = query_text("files.ucir", "maps at 0")[0].splitlines()
    assert [line.split()[-1] for line in whole[1:-1]] == names, whole
    lines = query_text("files.ucir", "maps at 0", columns=60)[0].splitlines()
    shown = [line.split()[-1] for line in lines[1:-1]]
    assert shown[0] == names[0] and shown[2].startswith("…/d/") and shown[2].endswith("/lib20.so"), shown
    for cut, name, line in zip(shown, names, lines[1:]):
        places = len(line) + sum("⺀" <= c <= "鿿" for c in line)
        assert places <= 60 and is_part_of(cut, name, True), (places, line)
        assert cut == name or "/" not in name[-20:] or cut[1] == "/", (cut, name)
    assert all("…" in cut for cut in shown[2:]), shown


@case
def a_table_is_no_wider_than_the_terminal():
    for trace in TRACES.values():
        names = places(trace)
        for question in "steps first 5", "history $sp first 5", "calls first 9", "registers at 7", "memory {sp},64 at 50%", "why $sp":
            question = question.format(**names)
            whole = query_text(trace, question)[0].splitlines()
            assert whole == query_text(trace, question, "--full", columns=40)[0].splitlines(), question
            table = [line for line in whole if line.startswith("#") or re.match(r"\d+  ", line)]
            for width in 40, 80, 200:
                lines = query_text(trace, question, columns=width)[0].splitlines()
                at = whole.index(table[0]) if table else 0
                assert lines[at + len(table):] == whole[at + len(table):], question
                if table:
                    check_fitted(lines[at:at + len(table)], table, width)


@case
def sql_and_diff_fit_the_terminal_too():
    one, other = DATA / "usercorn/x64_walk.ucir", DATA / "tenet-samples/wtf-walk64.log.gz"
    for words in (["sql", one, "SELECT position, instruction, bytes, pc FROM step LIMIT 9"],
                  ["diff", one, one, "--all"], ["diff", one, other, "--first", "3"],
                  ["query", one, other, "--", "calls", "first", "3"]):
        words = [*words[:1], "--quiet", *words[1:]] if words[0] != "query" else [*words[:3], "--quiet", *words[3:]]
        whole = on_terminal(words, 0)[0].splitlines()
        assert whole == on_terminal([words[0], "--full", *words[1:]], 40)[0].splitlines(), words
        for width in 40, 70:
            lines = on_terminal(words, width)[0].splitlines()
            assert len(lines) == len(whole), (words, lines)
            for line, full in zip(lines, whole):
                is_end = re.search(r"rows?( of .*)?$|there are more$", full)
                assert line == full if is_end else len(line) <= width, (width, line)
                assert line == full or is_end or "…" in line or line.split() == full.split(), (line, full)


@case
def a_text_that_reaches_the_end_of_the_address_space():
    """The last step but one writes its last byte, the last one reads it; before it stands another text."""
    for arch, pc, top in ("x86_64", "rip", 1 << 64), ("i386", "eip", 1 << 32):
        with open("top.text", "w") as f:
            f.write(f"tracestub text 1 {arch}\nreg {pc} 401000\nmem {top - 8:x} 4142434445464700\n"
                    f"step 401000 90\nmem {top - 1:x} 5a\nstep 401001 90\nread {top - 4:x} 45\nread {top - 1:x} 5a\n"
                    f"step 401002 90\nmem {top - 16:x} 6162636465666768\nend 0\n")
        rows, _ = json_lines(query("top.text", "strings", "--json").stdout)
        found = [(int(r["position"].text), r["kind"], int(r["address"], 16), r["text"]) for r in rows]
        assert found == [(0, "write", top - 8, "ABCDEFGZ"), (2, "write", top - 16, "abcdefghABCDEFGZ")], found
        rows, _ = json_lines(query("top.text", 'find "Z"', "--json").stdout)
        assert [int(r["address"], 16) for r in rows] == [top - 1], rows


@case
def first_and_last_are_those_of_the_hottest():
    """`hot 30` is a table of 30 rows, `hot` one of 20: `first` and `last` take rows of it."""
    for by in "", " by address":
        every = [r["address"] for r in json_lines(query(TRACES["usercorn"], f"hot 1000{by}", "--json").stdout)[0]]
        assert len(every) > 30, len(every)
        for count, n in (" 30", 30), ("", 20), (" 5", 5):
            for bound in "", " first 3", " last 3", " first 500", " last 500":
                question = f"hot{count}{by}{bound}"
                rows, end = json_lines(query(TRACES["usercorn"], question, "--json").stdout)
                want = every[:n]
                want = want[:int(bound[7:])] if "first" in bound else want[-int(bound[6:]):] if bound else want
                assert [r["address"] for r in rows] == want, (question, rows)
                assert end["complete"] is (len(want) == n), (question, end)


@case
def a_condition_about_a_register_holds_wherever_its_value_does():
    """Chunks in which no value satisfies it are passed over; the rows without condition are the twin."""
    for name, registers in ("usercorn", "$rax $rcx $al"), ("rvnbintrace", "$rax $edi"), ("x64dbg", "$rdi $ZF"), ("bap", "$rdx"):
        for register in registers.split():
            rows = [r for r in json_lines(query(TRACES[name], f"history {register}", "--json").stdout)[0] if r["new"] and r["new"].startswith("0x")]
            values = sorted({int(r["new"], 16) for r in rows})
            assert values, (name, register)
            for value in values[::max(len(values) // 3, 1)] + [values[-1] ^ 1]:
                for operator, holds in ("==", int.__eq__), (">", int.__gt__):
                    question = f"history {register} if value {operator} {value}"
                    found = json_lines(query(TRACES[name], question, "--json").stdout)[0]
                    want = [r["position"].text for r in rows if holds(int(r["new"], 16), value)]
                    assert [r["position"].text for r in found] == want, (name, question, len(found), len(want))


@case
def the_monitor_says_what_the_terminal_shows():
    trace = TRACES["usercorn"]
    names = places(trace)
    questions = [q.format(**names) for q in QUESTIONS if q.split()[0] not in ("when", "goto", "maps", "next-write", "next-change",
                                                                             "next-exec", "marks", "last-write", "last-access")]
    args = [arg for q in questions for arg in ("-ex", f"monitor {q}", "-ex", "echo \\n====\\n")]
    done = subprocess.run([TRACESTUB, "gdb", trace, "--quiet", "--", "-nx", "-batch", "-ex", "echo ====\\n", *args],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
    shown = [part.strip("\n") for part in done.stdout.split("====\n")[1:]]
    for question, answer in zip(questions, shown):
        assert answer == query_text(trace, question)[0].strip("\n"), (question, answer)
    assert len(shown) > len(questions), done


@case
def what_is_not_understood_is_one_line_on_stderr_and_status_2():
    trace = TRACES["usercorn"]
    for question in ("nonsense", "history $nope", "history $pc first 0", "executions nowhere", "goto 99999999999",
                     "history $pc in 5:5", "events nothing", "history $pc one two"):
        done = query(trace, question)
        assert done.returncode == 2 and not done.stdout, (question, done)
        assert re.fullmatch(r"[^\n]*'[^\n]*'[^\n]*; example: [^\n]+\n", done.stderr), (question, done.stderr)
        example = done.stderr.strip().split("; example: ")[1]
        assert query(trace, example).returncode in (0, 1), example


@case
def a_trace_that_cannot_be_read_is_status_3():
    assert query("/nonexistent/trace", "when").returncode == 3
    with open("garbage", "wb") as f:
        f.write(b"\x00garbage" * 100)
    assert query("garbage", "when").returncode == 3


@case
def system_calls_have_the_names_that_the_program_calls_them_by():
    for name in "x64_walk", "x86_walk", "arm_walk", "mips_walk", "arm64_walk":     # one source: brk, write, exit
        rows, _ = json_lines(query(DATA / f"usercorn/{name}.ucir", "events syscall", "--json").stdout)
        assert {row["name"] for row in rows} == {"brk", "write", "exit"}, (name, rows)


@case
def marks_are_kept_beside_the_trace_by_two_at_once():
    with open("marked.ucir", "wb") as f:
        f.write(TRACES["usercorn"].read_bytes())
    assert query("marked.ucir", "mark first at 5").returncode == 2    # a word of the grammar
    children = [subprocess.Popen([TRACESTUB, "query", "marked.ucir", "mark", f"m{i}", "at", str(i), "text", str(i), "--quiet"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for i in range(8)]
    assert [child.wait(LIMIT) for child in children] == [0] * 8
    rows, _ = json_lines(query("marked.ucir", "marks", "--json").stdout)
    assert [(r["position"].text, r["mark"], r["text"]) for r in rows] == [(str(i), f"m{i}", f"text {i}") for i in range(8)], rows
    assert query("marked.ucir", "unmark m3").returncode == 0
    assert query("marked.ucir", "unmark m3").returncode == 2
    row = json_lines(query("marked.ucir", "when at m5", "--json").stdout)[0][0]
    assert row["position"].text == "5", row


@case
def a_mark_may_be_called_as_a_direction_begins():
    """A NAME is letters, digits, _ and -; only `next-syscall` and its kin are places of their own."""
    with open("directed.ucir", "wb") as f:
        f.write(TRACES["usercorn"].read_bytes())
    for at, name in enumerate(["next-stop", "previous-call-of-f", "next-", "next-write"], 5):
        assert query("directed.ucir", f"mark {name} at {at}").returncode == 0, name
        for question in f"goto {name}", f"when at {name}":
            rows, _ = json_lines(query("directed.ucir", question, "--json").stdout)
            assert [r["position"].text for r in rows] == [str(at)], (question, rows)
        rows, _ = json_lines(query("directed.ucir", f"history $pc in {name}:end first 1", "--json").stdout)
        assert rows[0]["position"].text == str(at), (name, rows)
    exit_at = json_lines(query("directed.ucir", "events exit", "--json").stdout)[0][0]["position"].text
    assert query("directed.ucir", "mark previous-exit at 9").returncode == 0
    row = json_lines(query("directed.ucir", "goto previous-exit", "--json").stdout)[0][0]
    assert row["position"].text == exit_at != "9", row


@case
def a_partial_answer_says_how_much_was_read():
    """The question is answered from the part that was read first. TRACE begins as SLOW does."""
    done = query(SLOW, f"history {HOT},8 first 5", "--partial", "--index", "none", "--json")
    rows, end = json_lines(done.stdout)
    assert end["complete"] is False and end["stopped"] == "partial" and 0 < int(end["position"].text) < SLOW_N, end
    whole, _ = json_lines(query(TRACE, f"history {HOT},8 first 5", "--json").stdout)
    assert list(map(text_of, rows)) == list(map(text_of, whole)) and len(rows) == 5, (rows, whole)


def text_of(row):
    return {name: cell(value) for name, value in row.items()}


@case
def an_interrupt_ends_an_answer_with_what_there_is():
    """Rows are written in parts that a pipe cannot hold, so that the answer is not over when its first row is read."""
    with subprocess.Popen([TRACESTUB, "query", TRACE, "history", "$pc", "--quiet", "--json"], stdout=subprocess.PIPE) as child:
        first = child.stdout.readline()
        child.send_signal(signal.SIGINT)
        rows, end = json_lines((first + child.stdout.read()).decode())
        assert child.wait(LIMIT) == 0
    assert end["complete"] is False and end["stopped"] == "interrupt", end
    assert 0 < len(rows) == int(end["rows"].text) < N, end


@case
def what_stands_in_a_sparse_file_is_found_beside_its_holes_too():
    base, text = 0x70000000, b"\0\0needle\0\0"
    at = [0x100000 - 2, 0x100ffb, 0x2ffff6]  # at the beginning of what is not a hole, across its end, and at the end of all
    with open("sparse", "wb") as f:
        for off in at:
            f.seek(off)
            f.write(text)
    with open("sparse", "rb") as f, open("dense", "wb") as g:
        whole = f.read()
        g.write(whole)
    for value, pattern in ("00 00 6e ?? 65", b"\0\0n.e"), ('"needle"', b"needle"), ("6c 65 00 00", b"le\0\0"):
        want = [hex(base + found.start()) for found in re.finditer(pattern, whole, re.S)]
        assert want, value
        for file in "sparse", "dense":
            done = query(TRACES["usercorn"], f"find {value} in memory {base:#x}:{base + len(whole):#x}",
                         "--image", f"{file}@{base:#x}")
            rows = [line.split("\t") for line in done.stdout.splitlines()[1:]]
            assert [row[2] for row in rows] == want, (file, value, want, done)


@case
def a_change_far_inside_of_a_long_write_is_one():
    """A write of 300 bytes: the same ones, then one that differs in byte 200 alone, which no cell shows."""
    first, at = bytes(range(256)) + bytes(44), 0x500000
    second = first[:200] + b"\xee" + first[201:]
    code, steps = b"\x90" * 16, [_ucir2.frame(1, 1, _ucir2.jmp(0x401000 + i), *ops, _ucir2.step(1)) for i, ops in enumerate(
        ([], [_ucir2.write(at, first)], [_ucir2.write(at, second)], []))]
    pathlib.Path("long.ucir").write_bytes(_ucir2.ucir2("x86_64", _ucir2.keyframe(
        1, 1, _ucir2.map_(0x401000, 0x1000, 5), _ucir2.map_(at, 0x1000, 3), _ucir2.write(0x401000, code),
        _ucir2.write(at, first)), *steps))
    for words, n in ((), 2), (("--changes",), 1):
        lines = query("long.ucir", f"history {at:#x},300", *words, "--json").stdout.splitlines()
        rows = [json.loads(line) for line in lines[:-1]]
        assert len(rows) == n and rows[-1]["new_bytes"] == second.hex(" ") and rows[-1]["old_bytes"] == first.hex(" "), rows
        assert rows[-1]["new"] == second[:64].hex(" ") + " ...", rows


@case
def system_calls_are_shown_as_people_write_them():
    """Their bytes are those of memory at the place; a path that is not known is an address."""
    def ask(trace, *words):
        return [json.loads(line) for line in query(trace, *words, "--json").stdout.splitlines()[:-1]]

    n = 0
    for name in "x64_walk", "arm64_walk", "mips_walk", "x86_walk", "x64_crash":
        trace = DATA / f"usercorn/{name}.ucir"
        for row in ask(trace, "events syscall"):
            if row["name"] != "write":
                continue
            fd, addr, length = (int(x, 16) for x in row["arguments"][:3])
            cells = ask(trace, f"memory {addr:#x},{length} at {row['position']}")
            data = bytes.fromhex("".join(r["bytes"] for r in cells)).decode().replace("\n", "\\n")
            assert row["text"] == f'write({fd}, "{data}", {length}) = {int(row["result"], 16)}', row
            n += 1
    assert n > 8, n
    steps = [_ucir2.frame(1, 1, *ops) for ops in (
        [_ucir2.jmp(0x1000), _ucir2.step(2), _ucir2.syscall(2, 2 ** 64 - 2, [0x3000, 0x41, 0x1ff])],
        [_ucir2.step(2), _ucir2.syscall(2, 3, [0x7000, 0, 0]), _ucir2.step(2)],
        [_ucir2.syscall(8, 5, [3, 2 ** 64 - 5000000000, 2]), _ucir2.step(2)],
        [_ucir2.syscall(18, 2, [3, 0x3001, 2, 5000000000]), _ucir2.step(2)])]
    pathlib.Path("calls.ucir").write_bytes(_ucir2.ucir2("x86_64", _ucir2.keyframe(
        1, 1, _ucir2.map_(0x1000, 0x1000, 5), _ucir2.write(0x1000, b"\x0f\x05" * 9), _ucir2.map_(0x3000, 0x1000, 3),
        _ucir2.write(0x3000, b'/a"b\x01\0')), *steps))
    texts = [r["text"] for r in ask("calls.ucir", "events syscall")]
    assert texts == ['open("/a\\"b\\x01", O_WRONLY|O_CREAT, 0777) = -1 ENOENT', "open(0x7000, O_RDONLY) = 3", "lseek(3, -5000000000, SEEK_END) = 5",
                     'pwrite64(3, "a\\"", 2, 5000000000) = 2'], texts
    # on i386 the offset of pwrite64 is in two registers, and a long is 32 bits
    pathlib.Path("calls32.ucir").write_bytes(_ucir2.ucir2("x86", _ucir2.keyframe(
        1, 1, _ucir2.map_(0x1000, 0x1000, 5), _ucir2.write(0x1000, b"\xcd\x80" * 9)), _ucir2.frame(
            1, 1, _ucir2.jmp(0x1000), _ucir2.step(2), _ucir2.syscall(19, 5, [3, 2 ** 32 - 50, 2]), _ucir2.step(2),
            _ucir2.syscall(181, 2, [3, 0x3001, 2, 1, 1]), _ucir2.step(2))))
    rows = [(r["name"], r.get("text")) for r in ask("calls32.ucir", "events syscall")]
    assert rows == [("lseek", "lseek(3, -50, SEEK_END) = 5"), ("pwrite64", None)], rows


@case
def input_is_named_by_the_call_and_its_bytes():
    pathlib.Path("input.ucir").write_bytes(_ucir2.ucir2("x86_64", _ucir2.keyframe(
        1, 1, _ucir2.map_(0x1000, 0x1000, 5), _ucir2.write(0x1000, b"\x0f\x05" * 9), _ucir2.map_(0x3000, 0x1000, 3)), _ucir2.frame(
            1, 1, _ucir2.jmp(0x1000), _ucir2.step(2), _ucir2.syscall(0, 3, [4, 0x3000, 8], _ucir2.write(0x3000, b"abc")), _ucir2.step(2),
            _ucir2.step(2))))
    for what, where in ("0x3001", 'byte 1 of descriptor 4: "b"'), ("0x3000,3", 'bytes 0 to 2 of descriptor 4: "abc"'):
        row = json.loads(query("input.ucir", f"why {what} inputs", "--json").stdout.splitlines()[0])
        assert row["kind"] == "input" and row["instruction"] == f"read(0x4, 0x3000, 0x8) = 0x3, {where}", row


@case
def input_by_several_buffers_is_named_by_its_place_among_all_bytes():
    """readv, preadv from offset 100, recvmsg; three bytes at 0x3100 and then, of at most four, two at 0x3010."""
    words = (0x3100, 3, 0x3010, 4)
    vectors = b"".join(w.to_bytes(8, "little") for w in words)
    header = b"".join(w.to_bytes(8, "little") for w in (0, 0, 0x3200, 2, 0, 0, 0))
    for nr, args, call in ((19, [4, 0x3200, 2], "readv(0x4, 0x3200, 0x2) = 0x5"), (295, [4, 0x3200, 2, 100], "preadv(0x4, 0x3200, 0x2) = 0x5"),
                           (47, [4, 0x3300, 0], "recvmsg(0x4, 0x3300, 0x0) = 0x5")):
        pathlib.Path("parts.ucir").write_bytes(_ucir2.ucir2("x86_64", _ucir2.keyframe(
            1, 1, _ucir2.map_(0x1000, 0x1000, 5), _ucir2.write(0x1000, b"\x0f\x05" * 9), _ucir2.map_(0x3000, 0x1000, 3),
            _ucir2.write(0x3200, vectors), _ucir2.write(0x3300, header)), _ucir2.frame(
                1, 1, _ucir2.jmp(0x1000), _ucir2.step(2),
                _ucir2.syscall(nr, 5, args, _ucir2.write(0x3100, b"abc"), _ucir2.write(0x3010, b"de")), _ucir2.step(2), _ucir2.step(2))))
        for what, first, last, text in ("0x3101", 1, 1, "b"), ("0x3010,2", 3, 4, "de"), ("0x3011", 4, 4, "e"):
            row = json.loads(query("parts.ucir", f"why {what} inputs", "--json").stdout.splitlines()[0])
            where = f"byte {first}" if first == last else f"bytes {first} to {last}"
            file = f", from file offset {100 + first}" if nr == 295 else ""
            assert row["kind"] == "input" and row["instruction"] == f'{call}, {where} of descriptor 4{file}: "{text}"', row


@case
def the_offset_of_pread_is_shown_where_it_is_one_register():
    """ARM has it in a pair of registers, after one that has no meaning."""
    for arch, code, nr, args, file in (("x86_64", b"\x0f\x05", 17, [4, 0x3000, 8, 32], ", from file offset 33"),
                                       ("arm", bytes.fromhex("000000ef"), 180, [4, 0x3000, 8, 999, 32, 0], "")):
        pathlib.Path("pread.ucir").write_bytes(_ucir2.ucir2(arch, _ucir2.keyframe(
            1, 1, _ucir2.map_(0x1000, 0x1000, 5), _ucir2.write(0x1000, code * 9), _ucir2.map_(0x3000, 0x1000, 3)), _ucir2.frame(
                1, 1, _ucir2.jmp(0x1000), _ucir2.step(len(code)), _ucir2.syscall(nr, 3, args, _ucir2.write(0x3000, b"abc")),
                _ucir2.step(len(code)), _ucir2.step(len(code)))))
        row = json.loads(query("pread.ucir", "why 0x3001 inputs", "--json").stdout.splitlines()[0])
        assert row["instruction"] == f'pread64(0x4, 0x3000, 0x8) = 0x3, byte 1 of descriptor 4{file}: "b"', row


@case
def input_by_a_mapped_file_is_named_by_its_offset():
    """mmap of x86-64 counts bytes, mmap2 of ARM pages; what is mapped without a file has no offset."""
    for arch, code, nr, args in (("x86_64", b"\x0f\x05", 9, [0, 0x2000, 1, 2, 7, 0x5000]), ("arm", bytes.fromhex("000000ef"), 192, [0, 0x2000, 1, 2, 7, 5]),
                                 ("x86_64", b"\x0f\x05", 9, [0, 0x2000, 1, 2, 2 ** 64 - 1, 0x5000])):
        pathlib.Path("mapped.ucir").write_bytes(_ucir2.ucir2(arch, _ucir2.keyframe(
            1, 1, _ucir2.map_(0x1000, 0x1000, 5), _ucir2.write(0x1000, code * 9), _ucir2.map_(0x3000, 0x2000, 3)), _ucir2.frame(
                1, 1, _ucir2.jmp(0x1000), _ucir2.step(len(code)), _ucir2.syscall(nr, 0x3000, args, _ucir2.write(0x4010, b"abc")),
                _ucir2.step(len(code)), _ucir2.step(len(code)))))
        row = json.loads(query("mapped.ucir", "why 0x4011,2 inputs", "--json").stdout.splitlines()[0])
        where = ', of descriptor 7, from file offset 24593: "bc"' if args[4] == 7 else ""
        assert row["kind"] == "input" and row["instruction"] == f"{'mmap2' if arch == 'arm' else 'mmap'}(0x0, 0x2000, 0x1) = 0x3000{where}", row


def numbers(include, prefix, *headers):
    """What Linux's headers for programs define with a number: the first header has what differs."""
    found = {}
    for header in headers:
        text = (include / header).read_text(encoding="ascii") if (include / header).exists() else ""
        for name, value in re.findall(rf"^#[ \t]*define[ \t]+({prefix}\w+)[ \t]+(0x[0-9a-fA-F]+|\d+)\b", text, re.M):
            found.setdefault(name, int(value, 0) if not re.fullmatch(r"0\d+", value) else int(value, 8))
    return found


def flags_by_headers(include, wide):
    """Calls by name, with arguments, and how their texts begin."""
    mapped = numbers(include, "MAP_", "asm/mman.h", "asm-generic/mman.h", "asm-generic/mman-common.h")
    cloned = numbers(include, "CLONE_", "linux/sched.h")
    futexes = numbers(include, "FUTEX_", "linux/futex.h")
    for name, value in mapped.items():
        if value > 15 and "HUGE_" not in name:
            yield "mmap" if wide else "mmap2", [0, 1, 0, value | 2, 3, 1], f"(0x0, 1, PROT_NONE, MAP_PRIVATE|{name}, 3, {'0x1' if wide else '0x1000'}) ="
    for name, value in cloned.items():
        if 0xff < value < 1 << 32 and "ARGS" not in name:
            yield "clone", [value | 17, 0, 0, 0, 0], f"(SIGCHLD|{name}, 0x0,"
    for name, value in numbers(include, "MADV_", "asm/mman.h", "asm-generic/mman-common.h").items():
        yield "madvise", [0, 1, value], f"(0x0, 1, {name}) ="
    for name, value in numbers(include, "F_", "asm/fcntl.h", "asm-generic/fcntl.h").items():
        if not re.search("LCK|OWNER_[TP]|SPECIFIC", name):
            yield "fcntl" if wide else "fcntl64", [3, value, 0], f"(3, {name}"
    for name, value in futexes.items():
        if value < 128 and not re.search("_OP_|_32$", name):
            yield "futex", [0, value | 128, 0, 0, 0, 0], f"(0x0, {name}|FUTEX_PRIVATE_FLAG, 0,"
    for name, value in numbers(include, "W[NUC]", "linux/wait.h").items():
        yield "wait4", [0, 0, value, 0], f"(0, 0x0, {name}, 0x0) ="
    assert len(mapped) > 12 and len(cloned) > 20 and len(futexes) > 12, (mapped, cloned, futexes)


def open_flags(include):
    """The flags of open() that Linux's headers for programs give a number of one bit; {}: there are none here."""
    found = {}
    for header in include / "asm/fcntl.h", include / "asm-generic/fcntl.h":     # the first one has what differs
        text = header.read_text(encoding="ascii") if header.exists() else ""
        for name, value in re.findall(r"^#define[ \t]+(O_\w+)[ \t]+(0\d+)\b", text, re.M):
            found.setdefault(name, int(value, 8))
    return {name: value for name, value in found.items() if value > 3 and "_MASK" not in name}


@case
def flags_of_system_calls_have_their_names():
    """Python has the numbers of this machine's C library; those of other processors are asm/fcntl.h's."""
    def texts(arch, code, *calls):
        steps = [_ucir2.frame(1, 1, *([_ucir2.jmp(0x1000)] if not i else []), _ucir2.step(len(code)), _ucir2.syscall(nr, 0, args))
                 for i, (nr, args) in enumerate(calls)]
        pathlib.Path("flags.ucir").write_bytes(_ucir2.ucir2(arch, _ucir2.keyframe(
            1, 1, _ucir2.map_(0x1000, 0x1000, 5), _ucir2.write(0x1000, code * 99)), *steps, _ucir2.frame(1, 1, _ucir2.step(len(code)))))
        return [json.loads(line)["text"] for line in query("flags.ucir", "events syscall", "--json").stdout.splitlines()[:-1]]

    names = ["O_RDWR", "O_EXCL", "O_TRUNC", "O_APPEND", "O_NONBLOCK", "O_SYNC", "O_DIRECT", "O_DIRECTORY", "O_NOFOLLOW", "O_NOATIME",
             "O_CLOEXEC", "O_PATH"]
    maps = ["MAP_PRIVATE", "MAP_ANONYMOUS", "MAP_DENYWRITE", "MAP_EXECUTABLE", "MAP_POPULATE", "MAP_STACK"]
    calls = [(2, [0, os.O_RDWR | getattr(os, name), 0o640]) for name in names]
    calls += [(2, [0, os.O_TMPFILE | os.O_WRONLY, 0o640]), (2, [0, 0x10000000, 0]), (85, [0, 0])]
    calls += [(9, [0, 1, mmap.PROT_READ | mmap.PROT_EXEC, getattr(mmap, name) | mmap.MAP_SHARED, 3, 0]) for name in maps[1:]]
    calls += [(9, [0, 1, 0, mmap.MAP_PRIVATE | 0x10, 3, 0]), (21, [0, os.R_OK | os.X_OK]), (21, [0, os.F_OK]), (8, [3, 1, os.SEEK_CUR]),
              (72, [3, fcntl.F_SETFL, 2]), (41, [socket.AF_INET6, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, 0])]
    said = texts("x86_64", b"\x0f\x05", *calls)
    expected = [f"open(0x0, O_RDWR{'|' + name if name != 'O_RDWR' else ''}) = 0" for name in names]
    expected += ["open(0x0, O_WRONLY|O_TMPFILE, 0640) = 0", "open(0x0, O_RDONLY|0x10000000) = 0", "creat(0x0, 000) = 0"]
    expected += [f"mmap(0x0, 1, PROT_READ|PROT_EXEC, MAP_SHARED|{name}, 3, 0x0) = 0x0" for name in maps[1:]]
    expected += ["mmap(0x0, 1, PROT_NONE, MAP_PRIVATE|MAP_FIXED, 3, 0x0) = 0x0", "access(0x0, R_OK|X_OK) = 0", "access(0x0, F_OK) = 0",
                 "lseek(3, 1, SEEK_CUR) = 0", "fcntl(3, F_SETFL, O_RDWR) = 0", "socket(AF_INET6, SOCK_DGRAM|SOCK_CLOEXEC, 0) = 0"]
    assert said == expected, [pair for pair in zip(said, expected) if pair[0] != pair[1]]
    # 0x4000: O_DIRECTORY of arm64, O_DIRECT of x86; MIPS has other numbers for nearly all
    assert texts("arm64", bytes.fromhex("010000d4"), (56, [2 ** 64 - 100, 0, 0x4000, 0])) == ["openat(AT_FDCWD, 0x0, O_RDONLY|O_DIRECTORY) = 0"]
    for arch, triple, code, number, here in (("arm", "arm-linux-gnueabihf", "000000ef", 322, 2 ** 32 - 100),
                                             ("riscv64", "riscv64-linux-gnu", "73000000", 56, 2 ** 64 - 100)):
        flags = open_flags(pathlib.Path("/usr") / triple / "include")
        calls = [(number, [here, 0, value, 0]) for value in flags.values()]
        assert texts(arch, bytes.fromhex(code), *calls) == \
            [f"openat(AT_FDCWD, 0x0, O_RDONLY|{name}{', 000' if name == 'O_CREAT' else ''}) = 0" for name in flags], (arch, flags)
    generic = {"mmap": 222, "clone": 220, "madvise": 233, "fcntl": 25, "futex": 98, "wait4": 260}     # asm-generic/unistd.h
    for arch, triple, code, call in (("arm", "arm-linux-gnueabihf", "000000ef", {"mmap2": 192, "clone": 120, "madvise": 220, "fcntl64": 221,
                                                                                "futex": 240, "wait4": 114}),
                                     ("arm64", "aarch64-linux-gnu", "010000d4", generic), ("riscv64", "riscv64-linux-gnu", "73000000", generic)):
        include = pathlib.Path("/usr") / triple / "include"
        calls = list(flags_by_headers(include, arch != "arm")) if (include / "linux/sched.h").exists() else []
        said = texts(arch, bytes.fromhex(code), *((call[name], args) for name, args, _ in calls)) if calls else []
        assert all(text.startswith(name + begin) for text, (name, _, begin) in zip(said, calls)), \
            (arch, [(text, begin) for text, (name, _, begin) in zip(said, calls) if not text.startswith(name + begin)])
    assert texts("arm", bytes.fromhex("000000ef"), (221, [3, 4, 0x4000]), (221, [3, 2, 1]), (221, [3, 3, 9]), (37, [5, 10]), (328, [3, 0, 0x200]),
                 (334, [2 ** 32 - 100, 0, 4, 0])) == \
        ["fcntl64(3, F_SETFL, O_RDONLY|O_DIRECTORY) = 0", "fcntl64(3, F_SETFD, FD_CLOEXEC) = 0", "fcntl64(3, F_GETFL) = 0", "kill(5, SIGUSR1) = 0",
         "unlinkat(3, 0x0, AT_REMOVEDIR) = 0", "faccessat(AT_FDCWD, 0x0, R_OK) = 0"]
    # O_CREAT of MIPS is 0x100, and 0x40 is no flag of creation there (arch/mips/include/uapi/asm/fcntl.h)
    assert texts("mips", bytes.fromhex("0000000c"), (4005, [0, 0x100, 0o644]), (4005, [0, 0x40, 0o644])) == \
        ["open(0x0, 0x100, 0644) = 0", "open(0x0, 0x40) = 0"]


@case
def what_a_step_does_twice_is_one_row_of_flows():
    """test cl, cl has one source twice, setnz cl and and cl, cl one destination."""
    pathlib.Path("self.ucir").write_bytes(_ucir2.ucir2("x86_64", _ucir2.keyframe(
        1, 1, _ucir2.map_(0x1000, 0x1000, 5), _ucir2.write(0x1000, bytes.fromhex("8a0c2500300000" "84c9" "0f95c1" "20c9" "90")),
        _ucir2.map_(0x3000, 0x1000, 3), _ucir2.write(0x3000, b"b")),
        _ucir2.frame(1, 1, _ucir2.jmp(0x1000), _ucir2.read(0x3000, 1), _ucir2.reg(38, 0x62), _ucir2.step(7), _ucir2.step(2),
                      _ucir2.reg(38, 1), _ucir2.step(3), _ucir2.reg(38, 1), _ucir2.step(2), _ucir2.step(1))))
    rows = [json.loads(line) for line in query("self.ucir", "flows 0x3000,1 at 0", "--json").stdout.splitlines()[:-1]]
    assert [(r["position"], r["kind"]) for r in rows] == [(0, "copy"), (1, "compare"), (2, "compute"), (3, "compute")], rows


run_cases_on_long(make_slow)
