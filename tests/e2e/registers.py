#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Registers over time: history and last-write of registers, parts of them and flags, against the recorders' oracles.

The oracle has all registers at each position. A change of $al, say, is a position k at which the low byte of rax is another one
than at k + 1. Rows of same-value writes are in some formats only: --changes leaves them out.
"""
import gzip
import json
import random

from _mcp import Client
from _programs import FORMATS, Program
from _tap import add_case, run_cases

# name: register of the oracle, lowest bit, bits
PARTS = {"rax": ("rax", 0, 64), "eax": ("rax", 0, 32), "ax": ("rax", 0, 16), "al": ("rax", 0, 8), "ah": ("rax", 8, 8),
         "ebx": ("rbx", 0, 32), "sil": ("rsi", 0, 8), "r12d": ("r12", 0, 32), "r8b": ("r8", 0, 8), "sp": ("rsp", 0, 64),
         "CF": ("eflags", 0, 1), "PF": ("eflags", 2, 1), "ZF": ("eflags", 6, 1), "SF": ("eflags", 7, 1), "OF": ("eflags", 11, 1),
         "xmm0": ("xmm0", 0, 128), "xmm3": ("xmm3", 0, 128), "st0": ("st0", 0, 80)}


def states(program):
    with gzip.open(program.truth, "rt") as lines:
        state, out = {}, []
        for line in lines:
            state = {**state, **json.loads(line)["regs"]}
            out.append(state)
    return out


def values(at, name):
    whole, low, bits = PARTS[name]
    return [int(s[whole], 16) >> low & ((1 << bits) - 1) for s in at]


def number(text):
    """A value of a row: a number; None where a part of it is unknown."""
    if text is None or "??" in text:
        return None
    return int(text, 16)


def the_oracle_agrees(name, suffix):
    program = Program(name, suffix)
    at, rnd, n_rows = states(program), random.Random(7), 0
    with Client(program.trace) as c:
        n = min(len(at) - 1, c.rows("when", at="end")[0][0]["positions"])
        for part in PARTS:
            all_values = values(at, part)
            changes = [k for k in range(n) if all_values[k] != all_values[k + 1]]
            for _ in range(4):
                a, b = sorted(rnd.sample(range(n + 1), 2))
                rows, _ = c.rows("history", what=f"${part}", changes=True, first=10000, **{"in": f"{a}:{b}"})
                # what may be a change, because it was not known before, is a row as well
                sure = [(r["position"], number(r["old"]), number(r["new"])) for r in rows]
                sure = [r for r in sure if None not in r]
                assert all(all_values[k] == old and all_values[k + 1] == new for k, old, new in sure), (part, a, b)
                known = {r["position"] for r in rows}
                if sure:
                    want = [k for k in changes if sure[0][0] <= k < b]
                    assert [k for k, _, _ in sure] == want, (part, a, b, set(want) ^ known)
                last, _ = c.rows("last_change", what=f"${part}", at=b)
                before = [k for k in changes if k < b]
                if last and None not in (number(last[0]["old"]), number(last[0]["new"])):
                    assert before and last[0]["position"] == before[-1], (part, b, last)
                n_rows += len(sure)
    assert n_rows > 3000, n_rows


for which in "pie", "static":
    for form in FORMATS:
        add_case(f"registers of {which} in {form} are those of the oracle", the_oracle_agrees, which, form)

run_cases()
