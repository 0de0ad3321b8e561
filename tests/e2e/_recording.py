# SPDX-License-Identifier: MIT
"""The recordings in tests/data/usercorn and what is known of them without tracestub.

The oracle of a recording was written by a hook inside the emulator that ran the
program, not from the trace: pc and registers at every position. What the trace
does not have is EXTRA: gdb has to show it as unavailable. gdb gets nowhere on
ARM without a cpsr: of that the server makes out the Thumb bit.
"""
import gzip
import os
import shutil

from _tap import DATA, SRCDIR, skip

FOLDER, SOURCES = DATA / "usercorn", SRCDIR / "tests/demo"

# The names of the oracle where gdb has others.
GDB_NAMES = {"arm64": {"fp": "x29", "lr": "x30"}}
# The names of registers in target descriptions where the oracle and gdb have others.
RAW_NAMES = {"mips": dict(zip("zero at v0 v1 a0 a1 a2 a3 t0 t1 t2 t3 t4 t5 t6 t7 s0 s1 s2 s3 s4 s5 s6 s7 t8 t9 k0 k1 "
                              "gp sp s8 ra".split(), (f"r{n}" for n in range(32)))),
             "x64": {"pc": "rip"}, "x86": {"pc": "eip"}}
EXTRA = {"x64": ["eflags"]}
THUMB_BIT = 0x20
WIDTHS = {"x64": 64, "arm64": 64}
NATIVE = "x64", "x86"
PROGRAMS = {"x64_nosys": "x64_walk"}      # of recordings that have none of their own


_pcs = {}


class Recording:
    def __init__(self, name):
        self.name, self.arch = name, name.split("_")[0]
        self.trace, self.truth = str(FOLDER / f"{name}.ucir"), FOLDER / f"{name}.positions.gz"
        self.exec = str(FOLDER / f"{PROGRAMS.get(name, name)}.elf")
        self.bits = WIDTHS.get(self.arch, 32)

    def gdb(self):
        """The debugger for its processor."""
        name = "gdb" if self.arch in NATIVE else "gdb-multiarch"
        return shutil.which(name) or skip(f"no {name}")

    @staticmethod
    def copy_sources(folder):
        """Put the sources of *_walk where gdb looks for them."""
        for name in "walk.c", "rt.h":
            shutil.copyfile(SOURCES / name, folder / name)
            os.utime(folder / name, (0, 0))     # older than the program

    @staticmethod
    def line(text):
        """The number of the only line of walk.c with this text."""
        lines = (SOURCES / "walk.c").read_text().splitlines()
        found = [n for n, line in enumerate(lines, 1) if text in line]
        assert len(found) == 1, (text, found)
        return found[0]

    def oracle(self):
        """A line a position: pc, and the registers that changed (at position 0: all), by gdb's names."""
        names, extra = GDB_NAMES.get(self.arch, {}), EXTRA.get(self.arch, [])
        with gzip.open(self.truth, "rt") as lines:
            for line in lines:
                _, pc, *registers = line.split()
                pairs = (r.split("=") for r in registers)
                values = {names.get(n, n): int(v, 16) for n, v in pairs if n not in extra}
                if "cpsr" in values:
                    values["cpsr"] &= THUMB_BIT
                yield int(pc, 16), values

    def pcs(self):
        """The pc at each position."""
        if self.name not in _pcs:
            _pcs[self.name] = [pc for pc, _ in self.oracle()]
        return _pcs[self.name]

    def positions(self, pc):
        """Where the oracle has this pc."""
        return [k for k, at in enumerate(self.pcs()) if at == pc]

    def unavailable(self):
        """Registers that the program had but the trace does not."""
        return EXTRA.get(self.arch, [])


def recordings():
    """Those with an oracle."""
    return sorted(p.name.split(".")[0] for p in FOLDER.glob("*.positions.gz"))
