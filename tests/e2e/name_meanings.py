#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A name that stands for several things: the program's own before a library's, data before code where memory is asked about; the
static variables of two source files are told apart by FILE::NAME, and refused with that list without it.  Functions with
parameters, MODULE!NAME, MODULE+OFFSET and FILE:LINE, as what is asked about and as places."""
import json
import pathlib
import re
import shutil
import subprocess

from _record import LIMIT, compiler, record
from _tap import TRACESTUB, case, run_cases, skip

A = """static int state; volatile int index, glob; static int code_in_a(int k) { return k; } static volatile int code_in_b;
static int copied(int k) __asm__("copied.constprop.0.isra.1"), parted(int k) __asm__("parted.part.0");
static int copied(int k) { return k; }
static int parted(int k) { return copied(k); }
static int twice_copy(int k) __asm__("twice.constprop.0");
int twice(int k) { return k; }
static int twice_copy(int k) { return twice(k); }
int one(int k) { state = code_in_a(twice_copy(parted(k))); code_in_b = k; index = k; glob += k; return state; }"""
B = """static int state; static volatile int code_in_a; static int code_in_b(int k) { return k; }
int two(int k) { state = code_in_b(k * 10); code_in_a = k; return state; }
int one(int); int main(void) { int s = 0;
for (int i = 1; i < 4; i++)
s += one(i) + two(i);
return s & 1; }"""


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
    for name, writer in ("code_in_a", "two"), ("code_in_b", "one"):     # a function of one file, data of the other
        _, rows, _ = ask("history", name)
        assert [(r["function"], r["new"]) for r in rows] == [(writer, v) for v in ("0x1", "0x2", "0x3")], (name, rows)
        _, rows, _ = ask("executions", name)
        assert [r["function"] for r in rows] == [name] * 3, (name, rows)


@case
def two_statics_are_told_apart():
    build()
    status, rows, why = ask("history", "state")
    assert status == 2 and not rows and "a.c::state" in why and "b.c::state" in why, (status, rows, why)
    for name, function, values in ("a.c::state", "one", ["0x1", "0x2", "0x3"]), ("'b.c'::state", "two", ["0xa", "0x14", "0x1e"]):
        _, rows, why = ask("history", name)
        assert [(r["function"], r["new"]) for r in rows] == [(function, v) for v in values], (rows, why)


@case
def a_function_of_which_a_copy_is_left_is_the_copy():
    """gcc -O2 names it copied.constprop.0; a part is not the function."""
    build()
    _, rows, why = ask("executions", "copied")
    assert [r["function"] for r in rows] == ["copied.constprop.0.isra.1"] * 3, (rows, why)
    assert len(ask("calls", "copied")[1]) == 3
    status, rows, why = ask("executions", "parted")
    assert status == 2 and not rows and "'parted'" in why, (status, rows, why)


@case
def copies_beside_a_function_are_named():
    """Rows are those of the function alone."""
    build()
    for verb in "calls", "executions":
        done = subprocess.run([TRACESTUB, "query", "names.ucir", verb, "twice", "--json"], capture_output=True, text=True, timeout=LIMIT)
        *rows, end = map(json.loads, done.stdout.splitlines())
        found = re.fullmatch("copies of it that the compiler made are not in these rows: (0x[0-9a-f]+)", end["note"])
        assert len(rows) == 3 and found, (verb, rows, end)
        assert len(ask("executions", found[1])[1]) == 3, end


OVERLOADS = """int calls_of; namespace ns { int f(int x) { return x + 1; } double f(double x, char) { return x * 2; }
int once_more(int x) { return f(x) + (int)f(x * .5, 'c'); } }
int counted(int x) { static int times; return times += x; }
int main() { int s = 0; for (int i = 0; i < 3; i++) s += ns::once_more(i) + counted(i + 1); return s > 1000; }"""


def build_overloads():
    pathlib.Path("over.cc").write_text(OVERLOADS, encoding="ascii")
    subprocess.run([shutil.which("g++") or skip("no g++"), "-g", "-O0", "-w", "-no-pie", "-o", "over", "over.cc"], check=True, timeout=LIMIT)
    record("names.ucir", "./over")
    text = subprocess.run(["nm", "-C", "over"], capture_output=True, text=True, check=True, timeout=LIMIT).stdout
    return {name: int(addr, 16) for addr, _, name in (line.split(None, 2) for line in text.splitlines() if line[0] != " ")}


@case
def functions_with_parameters_are_told_apart():
    addr = build_overloads()
    status, rows, why = ask("executions", "ns::f")
    assert status == 2 and "ns::f(int)" in why and "ns::f(double, char)" in why, (status, rows, why)
    for name, place in ("ns::f(int)", "ns::f(int)"), ("ns::f(double,char)", "ns::f(double, char)"), ("ns::f(double, char)",) * 2:
        status, rows, why = ask("executions", name)
        assert [int(r["pc"], 16) for r in rows] == 3 * [addr[place]], (name, rows, why)


THROWER = """#include <stdexcept>
__attribute__((noinline)) int thrower(int k) { if (k & 1) throw std::runtime_error("odd"); return k; }
int main() { int s = 0; for (int i = 0; i < 10; i++) try { s += thrower(i); } catch (std::exception &) { s += 100; } return s == 520; }"""


@case
def a_cold_part_is_no_function():
    """g++ moves the throw into "thrower(int) [clone .cold]": jumps to it counted as entries of thrower."""
    pathlib.Path("thrower.cc").write_text(THROWER, encoding="ascii")
    subprocess.run([shutil.which("g++") or skip("no g++"), "-g", "-O2", "-o", "thrower", "thrower.cc"], check=True, timeout=LIMIT)
    "thrower(int) [clone .cold]" in subprocess.run(["nm", "-C", "thrower"], capture_output=True, text=True, check=True,
                                                   timeout=LIMIT).stdout or skip("this g++ makes no cold part")
    record("names.ucir", "./thrower")
    for words in ("calls", "thrower"), ("executions", "thrower"), ("calls", "throwe?"):
        _, rows, why = ask(*words)
        assert len(rows) == 10, (words, len(rows), why)
    kinds = sorted(row["kind"] for row in ask("calls", "thrower")[1])
    assert kinds == ["return"] * 5 + ["unwound"] * 5, kinds


@case
def a_static_variable_of_a_function_goes_by_both():
    build_overloads()
    _, rows, why = ask("history", "counted::times")
    assert [r["new"] for r in rows] == ["0x1", "0x3", "0x6"], (rows, why)


@case
def a_name_in_a_namespace_may_stand_alone():
    addr = build_overloads()
    _, rows, why = ask("executions", "once_more")
    assert [int(r["pc"], 16) for r in rows] == 3 * [addr["ns::once_more(int)"]], (rows, why)
    status, rows, why = ask("executions", "f")
    assert status == 2 and "ns::f(int)" in why and "ns::f(double, char)" in why, (status, rows, why)


@case
def modules_and_offsets_in_them_are_places_in_memory():
    addr = build_overloads()
    for words in ("over!ns::once_more",), (f"over+{addr['ns::once_more(int)'] - 0x400000:#x}",), ("over!ns::once_more+0",):
        _, rows, why = ask("executions", *words)
        assert [int(r["pc"], 16) for r in rows] == 3 * [addr["ns::once_more(int)"]], (words, rows, why)
    _, rows, _ = ask("executions", "libc.so.6!exit", "first", "1")
    assert rows and rows[0]["function"] == "exit", rows
    for words in ("over!exit",), ("nowhere!exit",), ("nowhere+0x10",):
        assert ask("executions", *words)[0] == 2, words


@case
def a_line_with_code_in_several_ranges_is_a_place():
    """The loop's initialization stands before its body, its test behind it. Ranges of positions have lines at both ends, too."""
    build()
    _, loop, _ = ask("steps", "b.c:4")
    pcs = [int(row["pc"], 16) for row in loop]
    _, body, _ = ask("steps", "b.c:5", "first", "1")
    assert min(pcs) < int(body[0]["pc"], 16) < max(pcs) and ask("executions", "b.c:4")[0] == 2
    first, then = loop[0]["position"], body[0]["position"]
    assert first < then and ask("when", "at", "b.c:4")[1][0]["position"] == ask("goto", "b.c:4")[1][0]["position"] == first
    for text, begin, end in (("b.c:4:b.c:5", first, then), (f"{first}:b.c:5", first, then), (f"b.c:4:{then}", first, then),
                             ("main:b.c:5", ask("when", "at", "main")[1][0]["position"], then)):
        _, rows, why = ask("steps", "in", text)
        assert [row["position"] for row in rows] == list(range(begin, end)), (text, why)
    assert ask("steps", "in", ":b.c:4", "last", "1")[1][0]["position"] == first - 1
    assert ask("steps", "in", "b.c:4:", "first", "1")[1][0]["position"] == first
    assert ask("steps", "in", "b.c:5:b.c:4")[0] == 2


@case
def a_line_is_its_first_instruction_and_a_place():
    addr = build_overloads()
    _, rows, why = ask("executions", "over.cc:3")
    assert status_of(rows, addr["counted(int)"]), (rows, why)
    first = rows[0]["position"]
    for place in "counted", "over.cc:3", "over!counted":
        _, rows, why = ask("when", "at", place)
        assert rows[0]["position"] == first, (place, rows, why)
    status, _, why = ask("executions", "over.cc:999")
    assert status == 2 and "line without code" in why, why
    assert ask("when", "at", "nobody")[0] == 2


def status_of(rows, addr):
    return len(rows) == 3 and {int(r["pc"], 16) for r in rows} == {addr}


run_cases()
