#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Questions about variables that an optimised program keeps in registers, or a function that it called has saved."""
import contextlib
import re

from _gdb import Gdb
from _record import build, record, recorder
from _tap import SRCDIR, case, run_cases

SUMS = 3, 7, 12, 18, 25         # kept.c prints them


class Kept:
    """The recording of kept.c, as a recording of _recording.py."""
    @staticmethod
    def gdb():
        return "gdb"

    def __init__(self):
        self.name = "kept"
        self.exec = build("kept.c", self.name, "-O2 -g -w")
        self.trace = f"{self.name}.ucir"
        recorder()
        done = record(self.trace, self.exec)
        assert done.stdout == "".join(f"{n}\n" for n in SUMS), done

    def copy_sources(self, folder):
        pass


@contextlib.contextmanager
def session():
    program = Kept()
    # gdbinit before the connection, as by "tracestub gdb": later, gdb 18 has found the linker's probes and lists no libc.
    argv = [program.gdb(), "-nx", "-nh", "-q", "-x", f"{SRCDIR}/gdbinit", program.exec]
    with Gdb(program, "--exec", program.exec, argv=argv) as g:
        yield g


def last_write(g, name):
    """Where the variable is, and the value that its last write left."""
    text = g(f"ts last-write {name}")
    place = re.search(rf"^{name} is in (\S+) here\.$", text, re.M)
    row = re.search(r"^1  .*  (0x\w+)$", text, re.M)
    assert place and row, text
    return place[1], int(row[1], 16) & 0xffffffff


@case
def variables_are_found_where_they_are_kept():
    with session() as g:
        g("break printf")
        for total in SUMS:
            g("continue")
            g("up")
            g("print sum")
            g.expect(rf"= {total}$")
            place, value = last_write(g, "sum")
            assert place.startswith("$") and value == total, (place, value)
        g("delete")
        g("break write")
        for total in reversed(SUMS[:-1]):      # before the last call of printf
            g("reverse-continue")
            g("frame function add_up")
            g("print sum")
            g.expect(rf"= {total}$")
            place, value = last_write(g, "sum")
            assert re.fullmatch(r"0x[0-9a-f]+,8", place) and value == total, (place, value)


@case
def what_is_in_no_place_is_refused_with_gdbs_reason():
    with session() as g:
        g("break printf")
        g("continue")
        g("up")
        g("ts history &sum first 1")        # what "&sum" means as WHAT is what "sum" means: where it is kept
        g.expect(r"^sum is in \$r\w+ here")
        for text, why in (("sum+1", "Attempt to take address of value not located in memory"),
                          ("nosuch", 'No symbol "nosuch" in current context')):
            g(f"ts history {text}")
            g.expect(rf"^'{re.escape(text)}' is neither an address nor a known symbol")
            g.expect(rf"Nothing was done\. gdb says of '{re.escape(text)}': .*{why}")
            g.expect_not("Python")


run_cases()
