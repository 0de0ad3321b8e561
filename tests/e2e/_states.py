# SPDX-License-Identifier: MIT
"""What the library says of a trace, by tests/tools/states."""
import os
import subprocess

TOOL = os.environ.get("TEST_BUILDDIR", ".") + "/tests/tools/states"


def run(*args, text=None):
    return subprocess.run([TOOL, *args], input=text, capture_output=True, text=True, check=True).stdout


def states(path):
    """(pc, registers) a position; an unknown register is not there."""
    regs = {}
    for line in run("regs", path).splitlines():
        _, _, pc, *changes = line.split()
        for change in changes:
            name, value = change.split("=")
            regs.pop(name, None)
            if value:
                regs[name] = value
        yield int(pc, 16), dict(regs)


def ask(path, questions):
    """The bytes for each (position, address, length), ".." where unknown."""
    return run("ask", path, text="".join(f"{pos} {addr} {size}\n" for pos, addr, size in questions)).split("\n")[:-1]


def steps(path):
    """(pc, accesses) a step; these are (kind, address, bytes), of kind R, W or K: the kernel wrote."""
    for line in run("steps", path).splitlines():
        pc, *accesses = line.split()
        split = (access.split(":") for access in accesses)
        yield int(pc, 16), [(kind, int(addr, 16), bytes.fromhex(value.replace("..", "00"))) for kind, addr, value in split]
