#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stock gdb takes the description of every architecture, and lays registers out as our tables say.

Each set of optional features is loaded from a file, where gdb prints the number and offset that it would
use, and then served by a stub, where each register has bytes of its own: what gdb shows for a register must
be exactly those. One gdb shows all of a set.
"""
import collections
import functools
import os
import pathlib
import re
import shutil
import subprocess

from _stub import Stub
from _tap import SRCDIR, add_case, run_cases, skip_all

BUILDDIR = os.environ.get("TEST_BUILDDIR", SRCDIR)
DUMP = f"{BUILDDIR}/tests/tools/tdesc_dump"

Reg = collections.namedtuple("Reg", "num off length name role")

PART = "echo \\n====\\n"
# gdb makes vs0..vs63 of these and the floating-point and vector registers, and shows only those
UPPER_HALF = re.compile(r"vs\d+h")


def dump(*args):
    return subprocess.run([DUMP, *args], check=True, capture_output=True, text=True, timeout=60).stdout


class Arch:
    def __init__(self, line):
        self.name, self.gdb_name, self.order, *optional = line.split()
        self.is_mips = self.name.startswith("mips")
        self.all_features = f"{sum(int(o.split('=')[0], 16) for o in optional):x}"
        # gdb has no 16-bit GNU/Linux, and warns unless it is told that there is no system.
        self.osabis = ["none"] if self.name == "i8086" else ["GNU/Linux", None]
        self.osabis += ["Windows"] * (self.name in ("i386", "x86_64"))

    def registers(self, features):
        rows = (line.split() for line in dump("regs", self.name, features).splitlines())
        return [Reg(int(num), int(off), int(length), *words) for num, off, length, *words in rows]

    def xml(self, features, osabi):
        return dump("xml", self.name, features, *([osabi] if osabi else []))


def gdb(arch, *commands):
    argv = ["gdb-multiarch", "-nx", "-q", "-batch", "-ex", f"set endian {arch.order}", "-ex", "set width 0"]
    for c in commands:
        argv += ["-ex", c]
    run = subprocess.run(argv, capture_output=True, text=True, timeout=120)
    expected = ("warning: No executable has been specified", "determining executable automatically")
    complaints = [line for line in run.stderr.splitlines() if line and not line.startswith(expected)]
    assert run.returncode == 0 and not complaints, f"status {run.returncode}: {complaints}"
    return run.stdout


def stub(arch, features, value_of):
    """It has value_of(register), in hex digits."""
    return Stub(arch.xml(features, arch.osabis[0]), "".join(value_of(reg) for reg in arch.registers(features)))


@functools.cache
def shown(arch, features):
    """What one gdb shows: of the description in a file for each system, of registers with values, and of unknown ones."""
    asked, others = unknown_in_turn(arch, features)
    layouts = []
    for osabi in arch.osabis:
        path = os.path.abspath(f"{arch.name}.{osabi}.xml").replace("GNU/", "")
        pathlib.Path(path).write_text(arch.xml(features, osabi))
        layouts += [PART, f"set tdesc filename {path}", "show architecture", "maint print remote-registers"]
    with stub(arch, features, lambda reg: pattern(reg).hex()) as filled, stub(arch, features, unknown) as empty:
        text = gdb(arch, "set remotetimeout 20", *layouts, "unset tdesc filename",
                   PART, f"target remote {filled.address}", "maint print remote-registers",
                   "echo ----\\n", "maint print raw-registers", "print/x $pc", "print/x $sp", "disconnect",
                   PART, f"target remote {empty.address}", "info registers " + " ".join(reg.name for reg in asked), *others)
    _, *parts = text.split("====\n")
    return parts[:-2], parts[-2], parts[-1]


def table(text):
    """The rows of "maint print *registers" by gdb's own number: {Nr: [name, bytes, the other columns]}."""
    rows = (re.match(r" *(\S+) +(\d+) +\d+ +\d+ +(\d+) +(.*)", line) for line in text.splitlines())
    return {int(m[2]): [m[1], int(m[3]), *m[4].split()] for m in rows if m}


def layout(text):
    """Of "maint print remote-registers": {number in the protocol: (gdb's own number, name, bytes, offset)}."""
    return {int(row[-2]): (nr, row[0], row[1], int(row[-1]))
            for nr, row in table(text).items() if len(row) >= 5 and row[-2].isdigit()}


def check_layout(arch, features, text):
    found, ours = layout(text), arch.registers(features)
    assert sorted(found) == [reg.num for reg in ours], set(found) ^ {reg.num for reg in ours}
    for reg in ours:
        _, name, length, off = found[reg.num]
        is_hidden = arch.is_mips or UPPER_HALF.fullmatch(reg.name)
        assert name == ("''" if is_hidden else reg.name), f"gdb calls {reg} {name}"
        assert (off, length) == (reg.off, reg.length), f"gdb has {reg} at {off}, {length} bytes"


def numbers_and_offsets_agree(arch, features):
    layouts, _, _ = shown(arch, features)
    assert len(layouts) == len(arch.osabis)
    for text in layouts:
        assert f'(currently "{arch.gdb_name}")' in text, text.splitlines()[:2]
        check_layout(arch, features, text)


def pattern(reg):
    # Multiples of four: no architecture sees a mark in the low bits of an address.
    return bytes((reg.num * 29 + j * 7 + 3) % 64 * 4 for j in range(reg.length))


def values_land_in_their_registers(arch, features):
    _, text, _ = shown(arch, features)
    head, tail = text.split("----")
    check_layout(arch, features, head)
    values = table(tail)
    for reg in arch.registers(features):
        expected = int.from_bytes(pattern(reg), arch.order)
        found = values[layout(head)[reg.num][0]][-1]
        assert int(found, 16) == expected, f"{reg}: {found} instead of {expected:#x}"
        if reg.role in ("pc", "sp"):
            found = re.search(r"\$%d = (.+)" % (1 if reg.role == "pc" else 2), tail)[1]
            has_31_bits = arch.name == "s390" and reg.role == "pc"
            address = expected & 0x7fffffff if has_31_bits else expected
            assert int(found, 16) == address, f"${reg.role}: {found} instead of {expected:#x}"


def unknown(reg):
    return ("11" if reg.role == "pc" else "xx") * reg.length


def visible(arch, features):
    return [reg for reg in arch.registers(features) if not UPPER_HALF.fullmatch(reg.name)]


def unknown_in_turn(arch, features):
    """Registers for "info registers", and commands for the others: on MIPS it fails for an unknown f0..f31."""
    regs = visible(arch, features)
    asked = [reg for reg in regs if not (arch.is_mips and re.fullmatch(r"f\d+", reg.name))]
    return asked, [c for reg in regs if reg not in asked for c in (f"echo \\n{reg.name}\\040", f"output ${reg.name}")]


def unknown_registers_are_shown_as_such(arch, features):
    """Unknown is neither an error nor zero."""
    _, _, text = shown(arch, features)
    values = dict(re.findall(r"^(\w+):? +(.+)$", text, re.M))
    for reg in visible(arch, features):
        assert ("0x1111" if reg.role == "pc" else "<unavailable>") in values[reg.name], f"{reg}: {values[reg.name]}"


if not shutil.which("gdb-multiarch"):
    skip_all("no gdb-multiarch")

for line in dump("list").splitlines():
    a = Arch(line)
    for mask in dict.fromkeys(["0", a.all_features]):
        label = a.name if a.all_features == "0" else f"{a.name} bare" if mask == "0" else f"{a.name} full"
        add_case(f"{label}: numbers and offsets agree", numbers_and_offsets_agree, a, mask)
        add_case(f"{label}: values land in their registers", values_land_in_their_registers, a, mask)
        add_case(f"{label}: unknown registers are shown as such", unknown_registers_are_shown_as_such, a, mask)

run_cases()
