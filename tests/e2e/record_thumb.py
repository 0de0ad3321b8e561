#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ARM recordings: the Thumb bit of cpsr at every step is that of the code there, by the program's mapping symbols, also
right after a change between the two kinds of code."""
import bisect
import json
import pathlib
import subprocess

from _record import LIMIT, compiler, record
from _tap import TRACESTUB, case, run_cases

SOURCE = """__attribute__((target("arm"), noinline)) static int in_arm(int k) { return k * 3 + 1; }
__attribute__((noinline)) static int in_thumb(int k) { return in_arm(k) ^ 5; }
int main(void) { volatile int s = 0; for (int i = 0; i < 20; i++) s += in_thumb(i) + in_arm(s); return 0; }
"""


def query(*words):
    done = subprocess.run([TRACESTUB, "query", "t.ucir", *words, "--json"], capture_output=True, text=True, timeout=LIMIT)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert rows and rows[-1]["complete"], done
    return rows[:-1]


def kinds():
    """Where code of each kind begins, by the mapping symbols of the ARM ELF ABI: $t Thumb (1), $a ARM (0), $d data."""
    text = subprocess.run(["readelf", "-sW", "t"], capture_output=True, text=True, check=True, timeout=LIMIT).stdout
    marks = {"$t": 1, "$a": 0, "$d": None}
    found = {int(f[1], 16): marks[f[7][:2]] for f in (line.split() for line in text.splitlines())
             if len(f) == 8 and f[7][:2] in marks}
    return sorted(found.items(), key=lambda item: item[0])


@case
def the_thumb_bit_is_that_of_the_code():
    pathlib.Path("t.c").write_text(SOURCE, encoding="ascii")
    subprocess.run([compiler("arm"), "-mthumb", "-O1", "-static", "-o", "t", "t.c"], check=True, timeout=LIMIT)
    record("t.ucir", "./t")
    starts = kinds()
    changes = {r["position"] + 1: int(r["new"], 16) for r in query("history", "$cpsr")}
    cpsr, n, wrong, switches, last = None, 0, [], 0, None
    for row in query("history", "$pc"):
        cpsr = changes.get(row["position"], cpsr)
        bit = starts[bisect.bisect_right(starts, int(row["pc"], 16), key=lambda item: item[0]) - 1][1]
        if cpsr is None or bit is None:
            continue
        n, switches, last = n + 1, switches + (last not in (None, bit)), bit
        if cpsr >> 5 & 1 != bit:
            wrong.append((row["position"], row["pc"], bit))
    assert n > 1000 and switches >= 80 and not wrong, (n, switches, wrong[:5])


run_cases()
