#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every change of the flags register is a row of its history, also of bits that are no flags (AC, ID, NT; Q, GE, E, T, IT).

The truth is the register at each position, by the packet 'g'."""
import os
import pathlib
import subprocess

from _record import SOURCES, compiler, record
from _slice import Recorded
from _tap import add_case, run_cases, skip


def changes_are_rows(target, register, bits, options):
    path = os.path.abspath("flags")
    subprocess.run([compiler(target), *options.split(), "-nostdlib", "-static", "-o", path, str(SOURCES / "flags.S")], check=True)
    record("flags.ucir", path)
    if not pathlib.Path("flags.ucir").exists():
        skip(f"no recording of {target}")
    r = Recorded("flags.ucir")
    try:
        place = r.registers[register]
        values = [r.value(k, *place) for k in range(r.n + 1)]
        changed = {k: (values[k], values[k + 1]) for k in range(r.n) if None not in values[k:k + 2] and values[k] != values[k + 1]}
        rows = {row["position"]: row for row in r.ask("history", f"${register}")}
        seen = 0
        for k, (old, new) in changed.items():
            assert k in rows and rows[k]["kind"] == "write", (k, hex(old), hex(new), rows.get(k))
            assert (int(rows[k]["old"], 16), int(rows[k]["new"], 16)) == (old, new), rows[k]
            seen |= old ^ new
        assert seen & bits == bits, (hex(seen), hex(bits))
        last = max(changed)
        assert r.ask("last-change", f"${register}", "at", str(r.n))[0]["position"] == last
    finally:
        r.close()


add_case("x86-64", changes_are_rows, "x86_64", "eflags", 0x240000 | 0x400 | 0xd5, "")
add_case("ARM", changes_are_rows, "arm", "cpsr", 0x08070220, "-march=armv7-a -mfloat-abi=soft")
run_cases()
