#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory that the kernel takes away or changes through a file: the recording holds what the program prints of it, and nothing is
unexplained; bytes that read() left as they were count as written."""
import json
import pathlib
import re
import subprocess

from _naive_ucir2 import Ucir2
from _record import LIMIT, build, record
from _tap import TRACESTUB, add_case, case, run_cases, skip


def ask(*words):
    done = subprocess.run([TRACESTUB, "query", "kernel.ucir", *words, "--json"], capture_output=True, text=True, timeout=LIMIT)
    return [json.loads(line) for line in done.stdout.splitlines()][:-1]


def what_the_kernel_changed(*options):
    done = record("kernel.ucir", build("kernel_memory.c", "kernel_memory"), options=options)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 11 and "unexplained 0" in done.stderr, done
    out = [w for w in ask("events", "syscall") if w["name"] == "write" and w["arguments"][0] == "0x1"]
    assert len(out) == 2 * len(lines), out
    asked = [w for k in range(len(lines)) for w in ("-ex", f"goto {out[2 * k]['position']}", "-ex", f"x/32xb {lines[k][1]}")]
    shown = subprocess.run([TRACESTUB, "gdb", "kernel.ucir", "--", "-batch", *asked], capture_output=True, text=True,
                           timeout=LIMIT).stdout
    rows = ["".join(re.findall(r"\t0x(..)", line)) for line in shown.splitlines() if "\t0x" in line]
    held = ["".join(rows[i:i + 4]) for i in range(0, len(rows), 4)]
    assert held == [found for *_, found in lines], list(zip(lines, held))


add_case("what the kernel changed", what_the_kernel_changed)
add_case("what the kernel changed, with QEMU", what_the_kernel_changed, "--with", "qemu")


@case
def the_same_value_is_a_write():
    done = record("kernel.ucir", build("kernel_memory.c", "kernel_memory"))
    addr = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("same ")][0]
    rows = ask("history", f"{addr},4")
    reads = {e["position"] for e in ask("events", "syscall") if e["name"] == "read"}
    assert any(r["position"] in reads and r["old"] == r["new"] == "0x7a7a7a7a" for r in rows), rows


@case
def what_the_kernel_reads_for_a_ring_is_told_or_counted_with_its_place():
    """The ring and its parameters are told with the call; nothing says when the buffer was written: it is found by its load."""
    pathlib.Path("text").write_text("twenty bytes of text")
    program = build("uring.c", "uring")
    if subprocess.run([program, "text"], capture_output=True, timeout=LIMIT).returncode:
        skip("no io_uring here")
    done = record("kernel.ucir", program, "text")
    if done.returncode == 77:
        skip("the engine has no io_uring")
    where, read, user, text = done.stdout.rstrip("\n").split(" ", 3)
    assert done.returncode == 0 and (read, user, text) == ("20", "77", "twenty bytes of text"), done
    found = ask("unexplained")
    assert [(int(row["address"], 16), row["length"]) for row in found] == [(int(where, 16), 20)], (where, found)
    assert bytes.fromhex(found[0]["new"].replace("0x", "").replace(" ", "")) == text.encode(), found


@case
def what_calls_write_beside_their_result_is_recorded():
    """Lengths of addresses, headers of messages, capabilities: the program reads each byte, and none is unexplained."""
    done = record("kernel.ucir", build("returned.c", "returned"))
    assert done.stdout.strip().isdigit() and "unexplained 0" in done.stderr, done
    names = {w["name"] for w in ask("events", "syscall")}
    assert {"accept", "getsockname", "recvfrom", "getsockopt", "recvmmsg", "msgctl", "capget"} <= names, names


def what_calls_change_beside_their_arguments(*options):
    """Mappings of a file, words that a failing call writes, the lock of a thread that has gone: none is unexplained."""
    done = record("kernel.ucir", build("beside.c", "beside"), options=options)
    assert done.stdout.strip().isdigit() and "unexplained 0" in done.stderr, done
    last = ask("events", "syscall", "last", "1")
    assert [w["name"] for w in last] == ["exit_group"], last


add_case("what calls change beside their arguments", what_calls_change_beside_their_arguments)
add_case("what calls change beside their arguments, with QEMU", what_calls_change_beside_their_arguments, "--with", "qemu")


def what_mremap_moved_comes_from_where_it_was(*options):
    """The byte that was read goes on in the new mapping, and the constant comes from it."""
    done = record("kernel.ucir", build("moved.c", "moved", "-O0 -w"), options=options, input="abcd")
    assert done.returncode == 0 and "unexplained 0" in done.stderr, done
    read, moved = done.stdout.split()
    calls = {e["name"]: e["position"] for e in ask("events", "syscall")}
    chain = ask("why", f"{moved},2", "at", str(calls["mremap"] + 1), "depth", "9")
    assert chain[0]["position"] == calls["mremap"] and chain[0]["place"] == f"{moved},2", chain
    assert [r["value"] for r in chain if r["kind"] == "constant"] == [hex(ord("k"))], chain
    assert [(r["place"], r["value"]) for r in chain if r["kind"] == "input"] == [(f"{read},1", hex(ord("c")))], chain
    read_at = min(r["position"] for r in chain if r["kind"] == "input")
    hops = ask("flows", f"{read},1", "at", str(read_at + 1))
    assert any((r["position"], r["kind"], r["place"]) == (calls["mremap"], "copy", f"{moved},1") for r in hops), hops


add_case("what mremap moved comes from where it was", what_mremap_moved_comes_from_where_it_was)
add_case("what mremap moved comes from where it was, with QEMU", what_mremap_moved_comes_from_where_it_was, "--with", "qemu")


@case
def a_part_of_a_file_that_is_mapped_over_the_whole_is_written_once():
    done = record("again.ucir", build("again.c", "again"))
    assert "unexplained 0" in done.stderr, done
    where, *firsts = done.stdout.split()
    assert firsts == [str(ord(c)) for c in "abcgefgh".replace("f", chr(0))], firsts
    where, r = int(where, 16), Ucir2("again.ucir")
    held = r.memory(where, 8 * 4096)
    assert [str(held[i * 4096]) for i in range(8)] == firsts, [held[i * 4096] for i in range(8)]
    calls = [g for step in r.all_steps for g in step.after]
    first = next(i for i, g in enumerate(calls) if any(m[0] == "map" and m[6].endswith("again.file") for m in g.maps))
    written = sum(len(what) for g in calls[first:] for addr, what in g.writes
                  if isinstance(what, bytes) and where <= addr < where + 8 * 4096)
    assert written == 8 * 4096, f"{written}: not the 7 pages that are not zero, and the one of another part"


run_cases()
