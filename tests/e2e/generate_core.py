#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generate-core-file: a position as a core, which gdb then shows without tracestub."""
import gzip
import pathlib
import re
import shutil
import subprocess

from _gdb import Gdb
from _programs import Program
from _tap import DATA, add_case, case, run_cases, skip


@case
def a_core_of_a_position_has_its_stack_and_memory():
    with Gdb("x64_walk") as g:
        g("break fib if n == 0")
        g("continue")
        stack = g("backtrace")
        g("generate-core-file core")
        g.expect("Saved corefile core")
        done = subprocess.run([g.recording.gdb(), "-nx", "-q", "-batch", "-ex", "set width 0", "-ex", "backtrace",
                               "-ex", "print total", g.recording.exec, f"{g.folder}/core"],
                              capture_output=True, text=True, timeout=60, cwd=g.folder)
        assert stack.strip() in done.stdout, done
        assert "$1 = 35" in done.stdout, done


@case
def a_core_names_the_files_that_were_mapped():
    program = Program("pie", "ucir")
    with Gdb(program, "--exec", program.exec) as g:
        g("generate-core-file core")
        g.expect("Saved corefile core")
        core = pathlib.Path(g.folder, "core").read_bytes()
    # a note is lengths of name and contents, its type (NT_FILE is "FILE"), "CORE", count and page size of the list
    note = re.search(rb"\x05\0\0\0(....)\x45\x4c\x49\x46CORE\0\0\0\0", core, re.S)
    assert note, "no NT_FILE"
    files = core[note.end():note.end() + int.from_bytes(note[1], "little")]
    assert (0x555555554000).to_bytes(8, "little") in files and b"/libc.so.6\0" in files, files


def registers(text):
    """Those that gdb shows as unknown are left out: a core has zeros for them, for gdb cannot say so."""
    return dict(re.findall(r"^([a-z]\w*) +(0x[0-9a-f]+)", text, re.M))


class Bap:
    """The sample, unpacked, with what Gdb asks of a recording."""

    def __init__(self, name):
        self.trace = str(pathlib.Path(f"{name}.frames").resolve())
        pathlib.Path(self.trace).write_bytes(gzip.decompress((DATA / f"bap-samples/{name}.frames.gz").read_bytes()))

    @staticmethod
    def gdb():
        return shutil.which("gdb-multiarch") or skip("no gdb-multiarch")

    @staticmethod
    def copy_sources(folder):
        pass


def a_core_has_what_is_known_without_a_map(name, order):
    look = "info registers", "x/2xw $sp", "x/3i $pc"
    with Gdb(Bap(name), has_exec=False, argv=[Bap.gdb(), "-nx", "-nh", "-q", "-iex", f"set endian {order}"]) as g:
        g("monitor goto 50%")
        g("stepi")
        g("info proc mappings")
        g.expect("unable to open /proc file")       # what is known is not told to be what is mapped
        live = [g(command) for command in look]
        assert len(registers(live[0])) >= 10, live[0]
        g("generate-core-file core")
        g.expect("Saved corefile core")
        done = subprocess.run([g.recording.gdb(), "-nx", "-q", "-batch", "-iex", f"set endian {order}",
                               *(a for c in ("set width 0", *look) for a in ("-ex", c)),
                               f"--core={g.folder}/core"], capture_output=True, text=True, timeout=60)
    found = registers(done.stdout)
    assert {k: found.get(k) for k in registers(live[0])} == registers(live[0]), (live[0], done.stdout)
    for line in "".join(live[1:]).splitlines():
        assert line in done.stdout + done.stderr or "Cannot access" in line and line.split("\t")[1] in done.stderr, (line, done)


for sample, byte_order in (("tw-arm", "little"), ("tw-ppc", "big"), ("tw-x86_64", "little")):
    add_case(f"a core has what is known without a map: {sample}", a_core_has_what_is_known_without_a_map, sample, byte_order)
run_cases()
