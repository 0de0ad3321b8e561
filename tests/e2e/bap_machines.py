#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each machine of BAP's frames is one that gdb takes, with its program counter; the others are named."""
import pathlib
import shutil
import subprocess
import tempfile

from _frames import Frames, reg
from _server import Server
from _tap import add_case, run_cases, skip_all

# Architecture and machine, gdb's name, a register.
MACHINES = [
    (9, 0, "i386", "eax"), (9, 1, "i386", "eax"), (9, 3, "i386:intel", "eax"), (9, 64, "i386:x86-64", "rax"),
    (9, 65, "i386:x86-64:intel", "rax"), (9, 2, "i8086", "eax"),
    (35, 0, "arm", "r0"), (35, 5, "armv4", "r0"), (35, 6, "armv4t", "r0"), (35, 7, "armv5", "r0"), (35, 8, "armv5t", "r0"),
    (35, 9, "armv5te", "r0"), (35, 10, "xscale", "r0"), (78, 0, "aarch64", "x0"),
    (8, 0, "mips", "r4"), (8, 32, "mips:isa32", "r4"), (8, 33, "mips:isa32r2", "r4"), (8, 64, "mips:isa64", "r4"),
    (8, 65, "mips:isa64r2", "r4"), (8, 3000, "mips:3000", "r4"), (8, 4000, "mips:4000", "r4"),
    (23, 32, "powerpc:common", "r3"), (23, 64, "powerpc:common64", "r3"), (24, 6000, "rs6000:6000", "r3"),
    (6, 1, "sparc", "g1"), (6, 4, "sparc:v8plus", "g1"), (6, 5, "sparc:v8plusa", "g1"), (6, 9, "sparc:v8plusb", "g1"),
    (6, 7, "sparc:v9", "g1"), (6, 8, "sparc:v9a", "g1"), (6, 10, "sparc:v9b", "g1"),
    (2, 1, "m68k:68000", "d0"), (2, 4, "m68k:68020", "d0"), (2, 8, "m68k:cpu32", "d0"), (2, 9, "m68k:fido", "d0"),
    (2, 11, "m68k:isa-a", "d0"), (2, 31, "m68k:isa-c:nodiv:emac", "d0"),
    (66, 31, "s390:31-bit", "r2"), (66, 64, "s390:64-bit", "r2"),
]
PC = 0x2000


def server_of(folder, arch, machine, name):
    file = Frames(3, arch, machine, ("unknown", ""), "")
    file.std(PC, 0, bytes(4), [reg(name, 0x1234, 8)], [])
    path = pathlib.Path(folder) / f"{arch}-{machine}.frames"
    path.write_bytes(file.close())
    return Server(str(path))


def gdb_takes(machines):
    argv = ["gdb-multiarch", "-nx", "-q", "-batch"]
    with tempfile.TemporaryDirectory() as folder:
        servers = [server_of(folder, arch, machine, name) for arch, machine, _, name in machines]
        for server, (arch, machine, gdb_name, name) in zip(servers, machines):
            order = "big" if arch in (2, 6, 8, 23, 24, 66) else "little"
            alias = "a0" if arch == 8 else name
            argv += ["-ex", f"set endian {order}", "-ex", f"echo <{arch} {machine}>\\n", "-ex",
                     f"target remote {server.address}", "-ex", "show architecture", "-ex", "output/x $pc", "-ex", "echo |",
                     "-ex", f"output/x ${alias}", "-ex", "echo |\\n", "-ex", "disconnect"]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120)
        for server in servers:
            server.close()
    sections = done.stdout.split("<")[1:]
    assert len(sections) >= len(machines), done
    for arch, machine, gdb_name, name in machines:
        text = next(s for s in sections if s.startswith(f"{arch} {machine}>"))
        assert f'(currently "{gdb_name}")' in text, (gdb_name, text, done.stderr)
        assert f"{PC:#x}|0x1234|" in text, (gdb_name, text, done.stderr)
    complaints = [line for line in done.stderr.splitlines()
                  if "rchitecture" in line or "description" in line]
    assert not complaints, complaints


if not shutil.which("gdb-multiarch"):
    skip_all("no gdb-multiarch")
for at in range(0, len(MACHINES), 13):
    part = MACHINES[at:at + 13]
    add_case(f"gdb takes {part[0][2]} to {part[-1][2]}", gdb_takes, part)
run_cases()
