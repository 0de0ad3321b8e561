#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""MIPS: gdb steps forwards over a branch and its delay slot at once, backwards it stands in the slot.

From there it expects the next instruction behind the slot: the server has to help it on.
"""
import json

from _forms import query
from _gdb import Gdb
from _recording import Recording
from _tap import case, run_cases


def taken(pcs):
    """Positions in the slot of a branch that was taken, the first of each address."""
    found = {}
    for k in range(1, len(pcs) - 1):
        if pcs[k] == pcs[k - 1] + 4 and pcs[k + 1] != pcs[k] + 4:
            found.setdefault(pcs[k], k)
    return sorted(found.values())


@case
def a_step_back_into_a_slot_and_forwards_again_comes_to_where_it_was():
    with Gdb("mips_walk") as g:
        slots = taken(g.recording.pcs())
        assert len(slots) > 20
        for k in slots:
            g(f"monitor goto {k + 1}")
            g("maintenance flush register-cache")
            g("reverse-stepi")
            assert g.position() == k
            g("stepi")
            assert g.position() == k + 1
            g("reverse-stepi 2")
            assert g.position() == k - 1
            g("stepi")
            assert g.position() == k + 1


@case
def in_the_slot_of_a_call_the_caller_is_innermost():
    r = Recording("mips_walk")
    pcs = r.pcs()
    calls = [k for k in taken(pcs) if pcs[k + 1] != pcs[k - 1]]
    found = 0
    for k in calls:
        here, after = (json.loads(f"[{','.join(query(r.trace, f'stack at {n}', '--json').stdout.splitlines()[:-1])}]")
                       for n in (k - 1, k))
        assert len(here) == len(after) and int(after[0]["pc"], 16) == pcs[k], (k, here, after)
        found += 1
    assert found > 20


@case
def a_call_begins_behind_its_slot():
    """fib calls fib(n - 1) and fib(n - 2): the instruction in the slot makes the argument."""
    r = Recording("mips_walk")
    pcs = r.pcs()
    rows = [json.loads(line) for line in query(r.trace, "calls", "--json").stdout.splitlines()][:-1]
    assert len(rows) > 100 and all(pcs[row["begin"]] == int(row["address"], 16) for row in rows), rows
    fib = [row for row in rows if row["address"] == "0x40016c"]
    around = {}
    for row in fib:
        n = int(row["arguments"][0], 16)
        caller = around.get(row["depth"] - 1)
        assert (n == 9) if caller is None else (caller - n in (1, 2)), row
        around[row["depth"]] = n
    assert len(fib) > 50


@case
def a_write_in_a_slot_is_watched_in_both_directions():
    with Gdb("mips_walk") as g:
        pcs = g.recording.pcs()
        stores = [k for k in taken(pcs) if "\tsw\t" in g(f"x/i {pcs[k]:#x}")]
        assert stores
        for k in stores:
            g(f"monitor goto {k}")
            g("maintenance flush register-cache")
            g("x/i $pc")
            offset, base = g.expect(r"sw\s+\w+,(-?\d+)\((\w+)\)").groups()
            g(f"watch *(int *) {g.address(f'${base} + {offset}'):#x}")
            g("reverse-stepi 3")
            g("continue")
            g.expect("New value = ")
            assert g.position() == k + 1, (k, g)
            g("stepi 5")
            g("reverse-continue")
            g.expect("New value = ")
            assert g.position() == k, (k, g)
            g("delete")


@case
def a_breakpoint_behind_a_slot_is_hit():
    with Gdb("mips_walk") as g:
        g("break *fib")
        hits = g.positions("*fib")
        for k in hits[:5]:
            g("continue")
            g.expect("Breakpoint 1")
            assert g.position() == k


run_cases()
