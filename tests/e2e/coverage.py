#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""coverage, hot, and the lines of the source: counted from every step's pc, with lines as addr2line(1) has them; the files
are read by genhtml(1) and by a parser of drcov's layout.
"""
import collections
import csv
import io
import os
import pathlib
import shutil
import struct
import subprocess

from _programs import FORMATS, Program
from _tap import DATA, LIMIT, TRACESTUB, add_case, case, run_cases, skip


TRACES = {
    "usercorn": DATA / "usercorn/x64_walk.ucir",
    "x64dbg": DATA / "x64dbg-samples/list64.trace64.gz",
    "bap": DATA / "bap-samples/tw-x86_64.frames.gz",
    "rvnbintrace": DATA / "rvnbintrace-samples/tiny-fib.bin.gz",
    "the machine": DATA / "rvnbintrace-samples/edges.bin.gz",
    "tfile": DATA / "tfile-samples/work-regs.tf",
}


def query(trace, *words):
    """The rows, as dicts of texts."""
    done = subprocess.run([TRACESTUB, "query", "--quiet", trace, *words], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode in (0, 1), (words, done)
    return list(csv.DictReader(io.StringIO(done.stdout), delimiter="\t", quoting=csv.QUOTE_NONE))


def write_file(trace, *words):
    """The answer is the file @words[-1]: no rows, a sentence, and status 0."""
    done = subprocess.run([TRACESTUB, "query", "--quiet", trace, *words], capture_output=True, text=True, timeout=LIMIT)
    n_rows = len(query(trace, *words[:-2]))
    assert done.returncode == 0 and done.stderr == f"{words[-1]} has {n_rows} addresses\n", (words, n_rows, done)
    assert done.stdout.splitlines()[1:] == [], (words, done.stdout[:300])


def count_steps(trace):
    """How often each address was executed, by the row that each step has in the pc's history."""
    return collections.Counter(int(row["pc"], 16) for row in query(trace, "history", "$pc"))


def counted(rows):
    return {int(row["address"], 16): int(row["steps"]) for row in rows}


def steps_are_counted(trace):
    want = count_steps(trace)
    rows = query(trace, "coverage")
    assert counted(rows) == want
    assert [int(row["address"], 16) for row in rows] == sorted(want)
    hot = query(trace, "hot", "1000000", "by", "address")
    assert [(int(r["address"], 16), int(r["steps"])) for r in hot] == sorted(want.items(), key=lambda x: (-x[1], x[0]))
    total = sum(want.values())
    assert all(abs(float(r["share"]) - int(r["steps"]) / total) < 1e-6 for r in hot)


def functions_are_counted(trace, program):
    by_name = collections.Counter()
    for row in query(trace, "--exec", program, "coverage"):
        by_name[row["function"] or row["address"]] += int(row["steps"])
    hot = query(trace, "--exec", program, "hot", "1000000")
    assert collections.Counter({r["function"] or r["address"]: int(r["steps"]) for r in hot}) == by_name
    assert [int(r["steps"]) for r in hot] == sorted(by_name.values(), reverse=True)


def addr2line(program, addresses):
    """(file, line) of each address, (None, None) where it has none."""
    done = subprocess.run(["addr2line", "-e", program], input="\n".join(map(hex, addresses)), capture_output=True, text=True,
                          check=True, timeout=LIMIT)
    for line in done.stdout.splitlines():
        name, _, number = line.split(" (")[0].rpartition(":")
        yield (None, None) if name == "??" or not number.isdigit() or number == "0" else (name, int(number))


def bias_of(program, rows):
    """Where the program lies in memory, less where it is linked: by the first instruction of main."""
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True, timeout=LIMIT).stdout
    linked = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" T main"))
    return min(int(row["address"], 16) for row in rows if row["function"] == "main") - linked


@case
def a_place_bounds_what_is_listed():
    """A function by nm's size, a line by the lines of all rows, which addr2line confirms; a range of addresses."""
    p = Program("pie", "ucir")
    rows = query(p.trace, "--exec", p.exec, "coverage")
    bias = bias_of(p.exec, rows)
    sizes = subprocess.run(["nm", "-S", p.exec], capture_output=True, text=True, check=True, timeout=LIMIT).stdout
    begin, size = next((int(line.split()[0], 16), int(line.split()[1], 16)) for line in sizes.splitlines() if line.endswith(" T main"))
    main = [r for r in rows if begin <= int(r["address"], 16) - bias < begin + size]
    assert main and query(p.trace, "--exec", p.exec, "coverage", "main") == main
    assert query(p.trace, "--exec", p.exec, "coverage", f"{begin + bias:#x}:{begin + bias + 16:#x}") == \
        [r for r in main if int(r["address"], 16) - bias < begin + 16]
    lines = collections.Counter((r["file"], r["line"]) for r in main)
    for file, line in lines:
        name = file.rsplit("/", 1)[-1]
        want = [r for r in rows if (r["file"], r["line"]) == (file, line)]
        assert query(p.trace, "--exec", p.exec, "coverage", f"{name}:{line}") == want, (file, line)
        steps = query(p.trace, "--exec", p.exec, "steps", f"{name}:{line}")
        assert sum(int(r["steps"]) for r in want) == len(steps) and {r["address"] for r in want} == {r["pc"] for r in steps}, (file, line)
        assert [int(r["position"]) for r in steps] == sorted({int(r["position"]) for r in steps}), (file, line)
    wrong = subprocess.run([TRACESTUB, "query", "--quiet", p.trace, "coverage", "minus", "9:5"], capture_output=True, text=True, timeout=LIMIT)
    assert wrong.returncode == 2 and "reversed" in wrong.stderr, wrong


@case
def what_another_range_executed_is_left_out():
    trace = TRACES["usercorn"]
    rows, other = query(trace, "coverage"), counted(query(trace, "coverage", "in", ":50%"))
    left = query(trace, "coverage", "minus", ":50%")
    assert left and left == [r for r in rows if int(r["address"], 16) not in other]
    write_file(trace, "coverage", "minus", ":50%", "--drcov", "minus.log")
    assert not query(trace, "coverage", "minus", ":")


def lines_are_those_of_addr2line(name, suffix):
    p = Program(name, suffix)
    rows = query(p.trace, "--exec", p.exec, "coverage")
    shown = [(row["file"] or None, int(row["line"]) if row["line"] else None) for row in rows]
    bias = bias_of(p.exec, rows)
    want = list(addr2line(p.exec, [int(row["address"], 16) - bias for row in rows]))
    # an address of a library is no address of the program, and has a line where its debug file is installed
    size = pathlib.Path(p.exec).stat().st_size
    own = [(w, s) for w, s, r in zip(want, shown, rows) if 0 <= int(r["address"], 16) - bias < size]
    assert [w for w, s in own] == [s for w, s in own], p.name
    assert len({s for s in shown if s[0]}) > 10
    history = query(p.trace, "--exec", p.exec, "history", "$pc", "first", "50")
    line = {row["address"]: (row["file"], row["line"]) for row in rows}
    assert all((row["file"], row["line"]) == line[row["pc"]] for row in history)


for program_name in "static", "pie":
    for program_suffix in FORMATS:
        add_case(f"lines are those of addr2line: {program_name}, {program_suffix}", lines_are_those_of_addr2line, program_name,
                 program_suffix)


def read_lcov(path):
    """The lines of each file."""
    files, lines = {}, None
    with open(path, encoding="utf-8") as f:
        for text in f.read().splitlines():
            if text.startswith("SF:"):
                lines = files.setdefault(text[3:], {})
            elif text.startswith("DA:"):
                number, steps = map(int, text[3:].split(","))
                assert number not in lines, text
                lines[number] = steps
    return files


@case
def lcov_has_the_most_steps_of_each_line_and_genhtml_reads_it():
    genhtml = shutil.which("genhtml") or skip("no genhtml")
    p = Program("static", "ucir")
    rows = query(p.trace, "--exec", p.exec, "coverage")
    write_file(p.trace, "--exec", p.exec, "coverage", "--lcov", "out.info")
    want = collections.Counter()
    for place, steps in zip(addr2line(p.exec, [int(r["address"], 16) for r in rows]), counted(rows).values()):
        want[place] = max(want[place], steps)
    files = read_lcov("out.info")
    got = {(name, number): steps for name, lines in files.items() for number, steps in lines.items() if steps}
    assert got == {place: steps for place, steps in want.items() if place[0]}
    # The source is not here: lcov 2 has an option for that besides the error to ignore.
    options = subprocess.run([genhtml, "--help"], capture_output=True, text=True, timeout=LIMIT).stdout
    ignored = ["source,source", "--synthesize-missing"] if "--synthesize-missing" in options else ["source"]
    done = subprocess.run([genhtml, "--ignore-errors", *ignored, "-o", "html", "out.info"], capture_output=True, text=True, timeout=LIMIT)
    n_lines = sum(map(len, files.values()))
    assert done.returncode == 0 and f"({len(got)} of {n_lines} lines)" in done.stdout, done


@case
def without_lines_lcov_is_refused():
    done = subprocess.run([TRACESTUB, "query", "--quiet", TRACES["bap"], "coverage", "--lcov", "no.info"], capture_output=True,
                          text=True, timeout=LIMIT)
    assert done.returncode == 2 and "lines of the source" in done.stderr and not done.stdout, done


def read_drcov(path):
    """The modules and blocks, by the layout of version 2 that DynamoRIO publishes."""
    with open(path, "rb") as f:
        head, _, rest = f.read().partition(b"BB Table: ")
    lines = head.decode().splitlines()
    assert lines[0] == "DRCOV VERSION: 2" and lines[1].startswith("DRCOV FLAVOR: "), lines[:2]
    n_modules = int(lines[2].removeprefix("Module Table: version 2, count "))
    assert lines[3] == "Columns: id, base, end, entry, path", lines[3]
    modules = []
    for i, line in enumerate(lines[4:]):
        number, base, end, _, path = line.split(",", 4)
        assert int(number) == i and path.startswith(" "), line
        modules.append((int(base, 16), int(end, 16)))
    assert len(modules) == n_modules
    count, _, data = rest.partition(b" bbs\n")
    assert len(data) == 8 * int(count)
    return modules, list(struct.iter_unpack("<IHH", data))


def drcov_covers_what_was_executed(trace):
    rows = query(trace, "coverage")
    write_file(trace, "coverage", "--drcov", "out.log")
    executed = {int(r["address"], 16) + i for r in rows for i in range(int(r["length"] or 1))}
    modules, blocks = read_drcov("out.log")
    covered = set()
    for start, length, number in blocks:
        base, end = modules[number]
        assert length and base + start < end, (start, length, number)
        covered |= set(range(base + start, base + start + length))
    assert covered == executed
    assert set(counted(rows)) <= covered


def drcov_has_the_program_where_it_lies(suffix):
    """A reader takes a block's offset for one from where the image begins: the page of the lowest segment."""
    p = Program("static", suffix)
    write_file(p.trace, "--exec", p.exec, "coverage", "--drcov", "out.log")
    modules, blocks = read_drcov("out.log")
    with open("out.log", "rb") as f:
        path = f.read().split(b"\n")[4].split(b", ", 4)[4].decode()
    text = subprocess.run(["readelf", "-lW", p.exec], capture_output=True, text=True, check=True, timeout=LIMIT).stdout
    lowest = min(int(line.split()[2], 16) for line in text.splitlines() if line.strip().startswith("LOAD "))
    executed = set(counted(query(p.trace, "coverage")))
    assert modules[0][0] == lowest & ~0xfff and path.endswith("prog"), (modules, path)
    assert {lowest + start for start, _, number in blocks if number == 0} <= executed and len(blocks) > 10


for suffix_of in "ucir", "frames", "bin", "trace64":
    add_case(f"drcov has the program where it lies: {suffix_of}", drcov_has_the_program_where_it_lies, suffix_of)

for format_name, format_trace in TRACES.items():
    add_case(f"steps are counted: {format_name}", steps_are_counted, format_trace)
    add_case(f"drcov covers what was executed: {format_name}", drcov_covers_what_was_executed, format_trace)
@case
def a_file_has_the_mode_of_the_users_mask():
    mask = os.umask(0o027)
    write_file(TRACES["usercorn"], "coverage", "--drcov", "mode.log")
    os.umask(mask)
    assert os.stat("mode.log").st_mode & 0o777 == 0o640


add_case("functions are counted", functions_are_counted, TRACES["usercorn"], DATA / "usercorn/x64_walk.elf")

run_cases()
