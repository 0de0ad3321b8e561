# SPDX-License-Identifier: MIT
"""Programs for tests of `tracestub record`: their compilers and emulators, and how they are recorded."""
import functools
import json
import os
import re
import shutil
import subprocess

from _tap import DATA, LIMIT, TRACESTUB, Skip, skip, skip_all

SOURCES = DATA / "record"
ENGINE = None     # "qemu" or "valgrind": what record() asks for; None: tracestub chooses
IMPOSSIBLE = re.compile(r"recording needs [^\n\\]*")    # what the program says where it lacks what it records with

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


@functools.cache
def has_plugins(qemu):
    """Was this QEMU built with plugins? One that was not does not know the option."""
    said = subprocess.run([qemu, "-plugin", "/no/such/plugin.so", "/bin/true"], capture_output=True, text=True, timeout=LIMIT,
                          stdin=subprocess.DEVNULL)
    return "unknown option" not in said.stdout + said.stderr


def emulator(target="x86_64"):
    """A QEMU that loads plugins."""
    found = shutil.which(f"qemu-{target}") or skip(f"no qemu-{target}: Debian's package is qemu-user")
    return found if has_plugins(found) else skip(f"{found} was built without plugins")


def need_emulator():
    """Skips all cases where there is none."""
    try:
        emulator()
    except Skip as why:
        skip_all(why)


def recorder():
    """Skips a case where nothing can be recorded."""
    record("recorder.ucir", "/bin/true")


def compiler(target="x86_64"):
    name, _ = COMPILERS[target]
    return shutil.which(name) or skip(f"no {name}")


def build(source, name, options="-O1 -g -pthread -w", target="x86_64"):
    """A program of tests/data/record."""
    path = os.path.abspath(name)
    subprocess.run([compiler(target), *options.split(), "-o", path, str(SOURCES / source), "-lm"], check=True, timeout=LIMIT)
    return path


def build_bare(target, more="", source="truth.c"):
    """A program without a library."""
    path = os.path.abspath(f"{source[:-2]}.{target}")
    options = "-O1 -w -nostdlib -static -ffreestanding -fno-stack-protector -fno-tree-loop-distribute-patterns"
    subprocess.run([compiler(target), *options.split(), *COMPILERS[target][1].split(), *more.split(), "-o", path,
                    str(SOURCES / source), "-lgcc"], check=True, timeout=LIMIT)
    return path


def load_address(out):
    """Where the engine of a recording puts a program that can be anywhere: its versions differ."""
    rows = subprocess.run([TRACESTUB, "query", out, "modules", "--json", "--quiet"], capture_output=True, text=True, check=True)
    return int(json.loads(rows.stdout.splitlines()[0])["address"], 16)


def use_engine(name):
    """record() asks for this engine from now on."""
    global ENGINE
    ENGINE = name


def with_engine():
    return ("--with", ENGINE) if ENGINE else ()


def record(out, *argv, options=(), **more):
    """The finished process; its output as text. Skips a case whose program cannot be recorded here."""
    more = {"capture_output": True, "text": True, "timeout": LIMIT, **more}
    done = subprocess.run([TRACESTUB, "record", "-o", out, *with_engine(), *options, "--", *argv], **more)
    if done.returncode == 1 and done.stderr and (why := IMPOSSIBLE.search(str(done.stderr))):
        skip(why[0])
    return done
