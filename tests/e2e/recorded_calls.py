#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""calls and stack of programs that longjmp, switch stacks and handle signals, against the programs' own lists of calls.

The place that longjmp leads to does not pass the return address of a call that it left: with a link register such a call
would end there as if it had returned.
"""
import functools

from _ask import Asker
from _record import build, emulator, record
from _tap import add_case, run_cases


asker = functools.cache(Asker)      # a process for each recording


def query(recording, *words):
    rows, end = asker(recording).answer(" ".join(words))
    assert rows and end["complete"], end
    return rows


def calls_are_those_of_the_program(target):
    emulator(target)
    program = build("leaps.c", f"leaps.{target}", "-O1 -g -static -fno-optimize-sibling-calls -w", target)
    done = record(f"{target}.ucir", program)
    assert done.returncode == 0, done
    want = [tuple(line.split()) for line in done.stdout.splitlines()]
    assert len(want) > 40 and {kind for *_, kind in want} == {"return", "unwound", "open"}, want
    rows = query(f"{target}.ucir", "calls", "f_*")
    got = [(r["callee"], r["caller"], r["kind"]) for r in rows]
    differs = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), None)
    assert got == want, (differs, got[differs:][:3] if differs is not None else len(got), want[differs or 0:][:3])
    for row in {(r["callee"], r["caller"]): r for r in rows}.values():
        stack = [r["function"] for r in query(f"{target}.ucir", "stack", "at", str(row["begin"]))]
        assert stack[0] == row["callee"] and stack[1] == row["caller"], (row, stack)
        assert len(stack) == row["depth"] + 1 or "signal" in stack, (row, stack)
        if stack[1] == "f_turn":
            assert "main" not in stack, stack       # the coroutine's stack begins in it
        if stack[1] == "f_third":
            assert stack[:6] == ["f_leaf", "f_third", "f_second", "f_first", "f_jumper", "main"], stack


for _target in ("x86_64", "aarch64", "arm"):
    add_case(f"calls and stacks of a program of {_target} are those of its own list", calls_are_those_of_the_program, _target)
run_cases()
