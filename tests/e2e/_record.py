# SPDX-License-Identifier: MIT
"""Programs for tests of `tracestub record`: their compilers and emulators, and how they are recorded."""
import os
import shutil
import subprocess

from _tap import DATA, TRACESTUB, skip

SOURCES = DATA / "record"
LIMIT = 60

# QEMU's name -> compiler, options for programs without a library
COMPILERS = {
    "x86_64": ("gcc", "-mno-red-zone"),
    "i386": ("i686-linux-gnu-gcc", "-fno-pic"),
    "aarch64": ("aarch64-linux-gnu-gcc", ""),
    "arm": ("arm-linux-gnueabihf-gcc", "-mthumb"),
    "riscv64": ("riscv64-linux-gnu-gcc", ""),
    "mips": ("mips-linux-gnu-gcc", "-mno-abicalls -fno-pic -Wl,-e,_start"),
    "ppc64": ("powerpc64-linux-gnu-gcc", ""),
}


def emulator(target="x86_64"):
    return shutil.which(f"qemu-{target}") or skip(f"no qemu-{target}: Debian's package is qemu-user")


def compiler(target="x86_64"):
    name, _ = COMPILERS[target]
    return shutil.which(name) or skip(f"no {name}")


def build(source, name, options="-O1 -g -pthread -w", target="x86_64"):
    """A program of tests/data/record."""
    path = os.path.abspath(name)
    subprocess.run([compiler(target), *options.split(), "-o", path, str(SOURCES / source), "-lm"], check=True, timeout=LIMIT)
    return path


def build_bare(target, more=""):
    """truth.c, without a library."""
    path = os.path.abspath(f"truth.{target}")
    options = "-O1 -w -nostdlib -static -ffreestanding -fno-stack-protector -fno-tree-loop-distribute-patterns"
    subprocess.run([compiler(target), *options.split(), *COMPILERS[target][1].split(), *more.split(), "-o", path,
                    str(SOURCES / "truth.c"), "-lgcc"], check=True, timeout=LIMIT)
    return path


def record(out, *argv, options=(), **more):
    """The finished process; its output as text."""
    more = {"capture_output": True, "text": True, "timeout": LIMIT, **more}
    return subprocess.run([TRACESTUB, "record", "-o", out, *options, "--", *argv], **more)
