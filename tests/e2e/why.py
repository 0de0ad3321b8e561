# SPDX-License-Identifier: MIT
"""why: no row of a register is before its last change before the row above it, by the recorder's own list of positions."""
import functools
import gzip
import random

from _ask import Asker
from _mcp import Client
from _programs import Program
from _tap import DATA, case, run_cases

NAME = "x64_walk"
REGS = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "r8", "r9", "r10", "r11", "r12")


@functools.cache
def asker():
    return Asker(DATA / f"usercorn/{NAME}.ucir", "--index", "none")


def query(*words):
    return asker().answer(" ".join(words))


def positions():
    """State, and what changed, at each position."""
    state, out = {}, []
    for line in gzip.open(DATA / f"usercorn/{NAME}.positions.gz", "rt"):
        words = line.split()
        changed = dict(w.split("=") for w in words[2:])
        state = {**state, **changed}
        out.append((int(words[1], 16), state, changed))
    return out


def parent_of(rows, i):
    return next(r for r in reversed(rows[:i]) if r["depth"] == rows[i]["depth"] - 1)


@case
def rows_are_the_last_change_of_their_place():
    at = positions()
    rng = random.Random(5)
    n_rows = 0
    for _ in range(60):
        here, reg = rng.randrange(200, len(at) - 1), rng.choice(REGS)
        rows, end = query("why", f"${reg}", "at", str(here))
        assert end["complete"] == ("cut" not in {r["kind"] for r in rows}), (here, reg, rows, end)
        for i, r in enumerate(rows):
            place = (r["place"] or "")[1:]
            if place not in REGS or r["kind"] not in ("write", "input"):
                continue
            k = r["position"]
            before = here if not i else None if r["count"] > 1 or parent_of(rows, i)["count"] > 1 else \
                parent_of(rows, i)["position"]
            assert int(r["pc"], 16) == at[k][0], r
            assert r["value"] == hex(int(at[k + 1][1][place], 16)), (r, at[k + 1])
            # a step that wrote without a change is no change in the list: the writer may be later than the last change
            if before is not None:
                assert k >= max((p - 1 for p in range(1, before + 1) if place in at[p][2]), default=0), (here, reg, r)
            n_rows += 1
    assert n_rows > 60, n_rows


@case
def an_instruction_names_its_inputs():
    at = positions()
    for k in range(len(at) - 2, 200, -1):     # there are few, near the end
        rows, _ = query("why", "$rax", "at", str(k), "depth", "1")
        if not rows[0]["instruction"] or not rows[0]["instruction"].startswith("mov rax, r"):
            continue
        source = rows[0]["instruction"].split(", ")[1]
        assert [r["place"] for r in rows[1:]] == [f"${source}"], rows
        return
    raise AssertionError("no such instruction")


@case
def constants_and_the_start_go_no_further():
    kinds = set()
    at = positions()
    for k in range(100, len(at) - 1, max(1, len(at) // 60)):
        rows, _ = query("why", "$rax", "at", str(k), "depth", "30")
        for i, r in enumerate(rows):
            kinds.add(r["kind"])
            if r["kind"] in ("constant", "start", "input", "seen"):
                assert i + 1 == len(rows) or rows[i + 1]["depth"] <= r["depth"], rows
            if r["kind"] == "constant":
                assert r["position"] is None and r["place"] is None, r
            assert r["depth"] == 0 or i and rows[i - 1]["depth"] >= r["depth"] - 1, rows
    assert {"write", "constant"} <= kinds, kinds


@case
def a_branch_has_the_instruction_that_set_its_condition():
    rows, _ = query("why", "branch", "at", "500", "depth", "1")
    assert rows[0]["kind"] == "branch" and rows[0]["position"] < 500 and rows[0]["instruction"][0] == "j", rows
    assert rows[1]["position"] < rows[0]["position"], rows
    assert rows[1]["instruction"].split()[0] in ("cmp", "test", "sub", "add", "and", "or", "dec", "inc", "xor", "shl", "shr"), rows


def without(rows, *names):
    return [{k: v for k, v in r.items() if k not in names} for r in rows]


@case
def another_format_of_the_same_execution_has_the_same_chain():
    """usercorn and rvnbintrace: both record the changes of registers. Only usercorn knows what a system call wrote. It alone
    names the libraries, too, so that functions and lines are there where this machine has the library's debug file."""
    rng, n_rows = random.Random(3), 0
    for name in "pie", "static":
        with Client(Program(name, "ucir").trace) as a, Client(Program(name, "bin").trace) as b:
            for _ in range(80):
                what, at = "$" + rng.choice([*REGS, "eax", "al", "ZF", "CF"]), rng.randrange(100, 9000)
                want, rows = (without(c.rows("why", what=what, at=at, depth=3)[0], "thread", "function", "file", "line") for c in (a, b))
                if "input" not in [r["kind"] for r in want + rows] and "syscall" not in [r["instruction"] for r in want]:
                    assert rows == want, (name, what, at)
                    n_rows += len(rows)
    assert n_rows > 500, n_rows


run_cases()
