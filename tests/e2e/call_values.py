#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Arguments and results of calls as the program's types say; what is expected are the values in the source of values.c."""
import functools
import json
import os
import pathlib
import pwd
import shutil
import struct
import subprocess

from _ask import Asker
from _record import LIMIT, build, record
from _tap import DATA, TRACESTUB, add_case, case, run_cases, skip


asker = functools.cache(Asker)      # a process for each recording: it reads the types of the C library once


def rows(out, *words, options=()):
    rows, end = asker(out, *options).answer(" ".join(words))
    assert end["complete"] or words[0] == "why", (words, end)      # its depth is cut
    return rows


@functools.cache
def recorded(source, options):
    """A recording of its own for each way to compile it."""
    out = f"{source}.{options.replace(' ', '')}.ucir".replace("/", "")
    record(out, build(source, out.removesuffix(".ucir"), options))
    return out


def hex_of(form, *values):
    return struct.pack("<" + form, *values).hex(" ")


PAIRS = hex_of("dd", 1.25, -2), hex_of("dd", 3, 4.5)
LARGE = hex_of("5q", 1, 2, 3, 3, 4)
# function: arguments, None where any will do; result
EXPECTED = {
    "mean": ([None, "0x3"], "2.75"),
    "half": (["3.5"], "1.75"),
    "make_pair": (["1.25", "-2.0"], PAIRS[0]),
    "area": (list(PAIRS), "11.625"),
    "make_mixed": (["0x3", "2.5", "0x61", "0.5"], None),
    "make_large": (["0x1"], LARGE),
    "nothing": (["0xfffd", "0xc8", "0x1"], ""),
    "many": ([*(hex(i) for i in range(1, 8)), "8.5", "0x9"], "0x2d"),
    "twice": (["1.5"], "3.0"),
    "none": ([], "0x5"),
    "next": ([hex_of("fff", 1, 2, 3)], hex_of("fff", 2, 2, 3)),
    "of_large": (["0xa", LARGE, "0x14"], "0x20"),
    "of_bits": ([hex_of("I", 5 | 77 << 3)], "0x4d"),
    "make_text": (["0x61"], "61 62 63 00 05"),
    "make_three": (["1.0"], hex_of("fff", 1, 2, 3)),
    "make_either": (["2.5"], hex_of("d", 2.5)),
    "length": ([None], "0x9"),
}


def values_are_those_of_the_source(options):
    out = recorded("values.c", options)
    for name, (arguments, result) in EXPECTED.items():
        got = rows(out, "calls", name)[0]
        assert len(got["arguments"]) == len(arguments), got
        assert all(b is None or a == b for a, b in zip(got["arguments"], arguments)), got
        assert result is None or (got["result"] or "") == result, got
    mixed = rows(out, "calls", "make_mixed")[0]["result"].split()
    assert struct.unpack("<i4xd", bytes.fromhex("".join(x.replace("??", "00") for x in mixed))) == (100, 3.0), mixed
    assert rows(out, "calls", "length")[0]["texts"][0] == "some text"


for options in ("-O0 -g -w", "-O2 -g -w", "-O1 -gdwarf-4 -w -no-pie", "-O2 -g -gz -w -static"):
    add_case(f"values, {options}", values_are_those_of_the_source, options)


@case
def floating_point_results_of_i386_are_in_a_register_of_x87():
    record("values32.ucir", build("values.c", "values32", "-O0 -g -w -static", "i386"))
    results = [rows("values32.ucir", "calls", name)[0]["result"] for name in ("mean", "half", "twice")]
    assert results == ["2.75", "1.75", "3.0"], results


@case
def values_of_aarch64_are_those_of_the_source():
    record("values64.ucir", build("values.c", "values64", "-O0 -g -w -static", "aarch64"))
    expected = EXPECTED | {
        "make_mixed": (["0x3", "2.5", "0x61", "0.5"], hex_of("i4xd", 100, 3.0)),
        "make_large": (["0x1"], ""),     # it is where x8 pointed when the function began
        "twice": ([None], bytes(13).hex(" ") + " 80 00 40"),     # 3.0 of 16 bytes
        "area": ([None, None], "11.625"),
        "next": ([None], EXPECTED["next"][1]),
        "of_large": (["0xa", None, None], "0x20"),
        "of_bits": ([None], "0x4d"),
    }
    for name, (arguments, result) in expected.items():
        got = rows("values64.ucir", "calls", name)[0]
        assert len(got["arguments"]) == len(arguments) and all(b is None or a == b for a, b in zip(got["arguments"], arguments)), got
        assert (got["result"] or "") == result, got
    record("named64.ucir", build("values.c", "named64", "-O2 -g -w -static", "aarch64"))
    got = [rows("named64.ucir", "calls", name)[0]["arguments"] for name in ("twice", "area")]    # DWARF names their registers
    assert got == [[bytes(13).hex(" ") + " 80 ff 3f"], list(PAIRS)], got


@case
def people_see_the_names_of_parameters():
    shown = subprocess.run([TRACESTUB, "gdb", recorded("values.c", "-O2 -g -w"), "--", "-batch", "-ex", "monitor calls many"],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT).stdout
    assert "a=0x1, b=0x2, c=0x3" in shown and "h=8.5, i=0x9" in shown, shown


@case
def calls_that_leave_a_stack_return_when_it_is_resumed():
    for options in ("-O2 -g -w", "-O0 -g -w -static"):
        out = recorded("coroutines.c", options)
        turns = rows(out, "calls", "turn")
        assert [c["kind"] for c in turns if c["kind"] != "tail"] == ["return"] * len([c for c in turns if c["kind"] != "tail"]) and turns, turns
        swaps = rows(out, "calls", "swapcontext")
        first = [c for c in swaps if c["caller"] in ("turn", "main")]
        assert len(first) == 4 and {c["kind"] for c in first} == {"return"}, (options, swaps)
        for c in first:     # it returns to the code after the call
            end = rows(out, "steps", "in", f"{c['end']}:{c['end'] + 1}")[0]
            assert 0 < int(end["pc"], 16) - int(c["pc"], 16) < 8 and end["function"] == c["caller"], (c, end)


@case
def a_linkage_table_hides_no_caller():
    """However the linker was told to bind: functions that are chosen at the start (IFUNC), and others."""
    for options in ("", "-Wl,-z,now", "-fcf-protection -Wl,-z,ibtplt -Wl,-z,now", "-fno-plt", "-static-pie", "-static"):
        out = recorded("linked.c", f"-O1 -g -w -fno-builtin {options}")
        for name, n in ("strlen", 4), ("memcmp", 4), ("malloc", 4), ("free", 4), ("strcpy", 4):
            calls = rows(out, "calls", name)
            assert len(calls) == len(rows(out, "executions", name)), (options, name)
            own = [c for c in calls if c["caller"] == "main"]
            assert len(own) == n and {c["kind"] for c in own} == {"return"}, (options, name, calls)


@case
def a_call_over_two_bytes_is_one_where_no_code_is_recorded():
    path = build("call_over.S", "call_over", "-nostdlib -static")
    record("call_over.ucir", path)
    done = subprocess.run([TRACESTUB, "export", "call_over.ucir", "--as", "tenet", "-o", "call_over.tenet"], capture_output=True, text=True)
    assert done.returncode == 0, done
    expected = [("over", 1), ("f", 2), ("g", 2), ("4", 3)]
    for trace, options in ("call_over.ucir", ()), ("call_over.tenet", ("--exec", path)), ("call_over.tenet", ()):
        calls = rows(trace, "calls", options=options)
        assert [c["depth"] for c in calls] == [depth for _, depth in expected], (trace, options, calls)
        assert {c["kind"] for c in calls} == {"return"}, calls


@case
def an_assembler_s_functions_have_the_registers_of_the_convention():
    """Its debugging information lists functions without their parameters: nothing is known of those."""
    answers = []
    for options in "", "-g":
        out = recorded("call_over.S", f"-nostdlib -static {options}")
        answers.append([c["arguments"] for c in rows(out, "calls")])
    assert answers[0] == answers[1] and all(len(a) == 6 for a in answers[0]), answers


GO = """package main

//go:noinline
func add(a int, b int32, s string, f float64) (int, string) { return a + int(b) + len(s) + int(f), s }

//go:noinline
func sum(p *int32, n uint8, x uint64) uint64 { return uint64(*p) + uint64(n) + x }

//go:noinline
func half(f float64) float64 { return f / 2 }

type pair struct { a uint8; b int }

//go:noinline
func large(n int) ([2]int, int8, pair) { return [2]int{n, n}, int8(n), pair{1, -2} }

func main() {
	large(7)
	n, _ := add(1, -2, "hello", 3.5)
	k := int32(7)
	println(half(float64(n-2)), sum(&k, 9, 10))
}
"""


def q(*values):
    return hex_of(f"{len(values)}q", *values)


# what results.s has in registers: the results of a function, None where they are not certain
PLACED = {
    "several": f"0x1, {q(2, 3)}, 2.5, ??, 0x4",    # an array of two is on the stack
    "padded": "01" + " ??" * 7 + " " + q(2),
    "full": f"??, {q(1)}, ",      # ten words have no registers, and take none
    "blank": "0x1, ??, ??",
    "twice": "0x1",      # it is listed twice
    "disorder": None,
    "pair": q(1, 5),
    "halves": None,
    "truth": "0x1",
    "real": "2.5",
    "tagged": q(1),
    "option": None,
    "dropped": None,
    "old": None,
    "changed": None,
    "kept": "0x1",
    "hidden": None,     # an old clang may have dropped it without a word
    "seen": "0x1",
    "plain": "0x1",
}


@case
def results_of_go_and_rust_are_where_the_convention_has_them():
    subprocess.run(["gcc", "-nostdlib", "-static", "-no-pie", "-o", "placed", DATA / "variables/results.s"], check=True, timeout=LIMIT)
    record("placed.ucir", "./placed")
    calls = rows("placed.ucir", "calls", options=("--exec", "placed"))
    texts = {c["callee"]: c["texts"][-1] for c in calls if c["texts"]}
    assert texts == {"word": "lette", "slice": "et"}, calls      # as long as the result says
    assert {c["callee"]: c["result"] for c in calls if c["callee"] not in texts} == PLACED, calls
    arguments = {c["callee"]: c["arguments"] for c in calls}
    assert [arguments[name] for name in ("changed", "kept", "hidden", "seen", "plain")] == [[None], ["0x4"], [None], ["0x4"], ["0x4"]], arguments


@case
def go_has_arguments_and_results_in_registers():
    """By its debugging information: a string is two registers."""
    if not shutil.which("go"):
        skip("no go")
    pathlib.Path("values.go").write_text(GO)
    subprocess.run(["go", "build", "-o", "values-go", "values.go"], check=True, timeout=LIMIT,
                   env={**os.environ, "GOCACHE": os.path.abspath("go-cache"), "GO111MODULE": "off", "GOTOOLCHAIN": "local"})
    if "Valgrind does not know an instruction" in record("go.ucir", "./values-go").stderr:
        # Valgrind claims RDTSCP also where a virtual machine's processor has it not, and Go's runtime then executes it
        record("go.ucir", "./values-go", options=("--with", "qemu"))
    done = subprocess.run([TRACESTUB, "query", "--quiet", "go.ucir", "calls", "main.*", "--json"], capture_output=True, text=True, timeout=LIMIT)
    got = {row["callee"]: row for row in map(json.loads, done.stdout.splitlines()[:-1])}
    assert got["main.half"]["arguments"] == ["5.0"] and got["main.half"]["result"] == "2.5", got["main.half"]
    assert got["main.sum"]["arguments"][1:] == ["0x9", "0xa"] and got["main.sum"]["result"] == "0x1a", got["main.sum"]
    a, b, text, f = got["main.add"]["arguments"]
    assert got["main.add"]["texts"] == [None, None, "hello", None, None], got["main.add"]
    assert (a, b, f) == ("0x1", "0xfffffffe", "3.5") and text.endswith(hex_of("q", 5)) and len(text) == 47, got["main.add"]
    assert got["main.add"]["result"] == f"0x7, {text}", got["main.add"]
    assert got["main.large"]["result"] == "??, 0x7, 01" + " ??" * 7 + " " + q(-2), got["main.large"]


RUST = """use std::hint::black_box;
#[inline(never)] pub fn text(x: &str) -> &str { &x[1..] }
#[inline(never)] pub fn half(x: f64) -> f64 { x / 2.0 }
#[inline(never)] pub fn small(x: u32) -> (u32, u32) { (x, x + 2) }
#[inline(never)] pub fn tuple(x: u64) -> (u64, u64) { (x, x + 2) }
#[inline(never)] pub fn same(x: &u64) -> Option<&u64> { if *x > 3 { Some(x) } else { None } }
#[inline(never)] pub fn unused(x: u64) -> u64 { black_box(x); x * 77 }
fn main() {
    let n = black_box(5u64);
    black_box(text(black_box("hello")));
    black_box(half(black_box(5.0)));
    black_box((small(n as u32), tuple(n), same(&n)));
    unused(n);
}
"""


@case
def rust_has_scalars_and_pairs_of_words_in_registers():
    env = {**os.environ, "HOME": pwd.getpwuid(os.getuid()).pw_dir}      # rustup's rustc looks there
    if not shutil.which("rustc") or subprocess.run(["rustc", "--version"], env=env, capture_output=True).returncode:
        skip("no rustc")
    pathlib.Path("values.rs").write_text(RUST)
    for level, unused in ("0", hex(5 * 77)), ("3", None):   # LLVM drops what nobody uses
        subprocess.run(["rustc", "-A", "warnings", "-g", f"-Copt-level={level}", "-o", "values-rust", "values.rs"], env=env, check=True, timeout=LIMIT)
        record("rust.ucir", "./values-rust")
        done = subprocess.run([TRACESTUB, "query", "--quiet", "rust.ucir", "calls", "values::*", "--json"], capture_output=True, text=True, timeout=LIMIT)
        calls = {row["callee"].removeprefix("values::"): row for row in map(json.loads, done.stdout.splitlines()[:-1])}
        got = {name: row["result"] for name, row in calls.items()}
        texts = {name: row["texts"][-1] for name, row in calls.items() if row["texts"]}
        assert (got["half"], got["small"], got["tuple"], got["unused"]) == ("2.5", None, q(5, 7), unused), (level, got)
        assert texts["text"] == "ello", (level, got)
        assert got["text"].endswith(q(4)) and len(got["text"]) == 47 and len(got["same"]) == 23, (level, got)


@case
def a_value_survives_the_loader_s_binding():
    """The first call through a linkage table saves and restores the vector registers: each byte comes from what main computed."""
    out = recorded("linked.c", "-O1 -g -w -fno-builtin -Wl,-z,lazy")
    first = rows(out, "executions", "sqrt")[0]["position"]
    main = [r for r in rows(out, "steps", "main", "in", f"0:{first}") if "$xmm0" in str(r["writes"])]
    why = rows(out, "why", "$xmm0", "at", str(first), "depth", "3")
    assert any("rstor" in r["instruction"] for r in why if r["depth"] == 0), why
    made = {r["position"] for r in why if r["depth"] == 2 and r["kind"] == "write"}
    assert main[-1]["position"] in made and made <= {r["position"] for r in main}, (main, why)
    assert not [r for r in why if r["kind"] == "unknown"], why
    written = rows(out, "last-write", "$xmm0", "at", str(first))[0]
    assert written["position"] == why[0]["position"], (written, why)


@case
def the_end_of_a_handler_is_no_call():
    out = recorded("entries.c", "-O2 -g -w")
    assert not rows(out, "calls", "*restore_rt*")
    assert [c["kind"] for c in rows(out, "calls", "handler")] == ["handler"] * 2


run_cases()
