# SPDX-License-Identifier: MIT
"""The registers that the debugger stub of an emulator showed of the programs in tests/data/bap-samples."""
import gzip
import json

from _tap import DATA

# What the alignment may pass over, nearest first.
SKIPS = sorted(((i, j) for i in range(400) for j in range(400)), key=sum)


def oracle(name, pc_name, order):
    regs = {}
    with gzip.open(DATA / f"bap-samples/{name}.oracle.gz", "rt") as file:
        for line in file:
            entry = json.loads(line)
            if "regs" in entry:
                regs.update(entry["regs"])
                yield int.from_bytes(bytes.fromhex(regs[pc_name]), order), dict(regs)


def aligned(ours, theirs):
    """Pairs of the same moment.  Where pcs differ, either side goes on to the nearest place where three pcs are equal."""
    a = b = 0
    while a < len(ours) and b < len(theirs):
        if ours[a][0] == theirs[b][0]:
            yield a, ours[a][1], theirs[b][1]
            a, b = a + 1, b + 1
            continue
        for i, j in SKIPS:
            if [x[0] for x in ours[a + i:a + i + 3]] == [x[0] for x in theirs[b + j:b + j + 3]]:
                break
        else:
            return
        a, b = a + i, b + j
