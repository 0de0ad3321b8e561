#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program is hardened, where the build asks for it: by its ELF headers and symbols."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

BUILD = pathlib.Path(os.environ.get("TEST_BUILDDIR", pathlib.Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("TRACESTUB", str(BUILD / "tracestub"))


def flags(name):
    return re.search(rf"^{name} = *(.*)$", (BUILD / "Makefile").read_text(), re.M)[1]


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options, PROGRAM], capture_output=True, text=True, check=True).stdout


# flag -> whether the program shows its effect
EFFECTS = {
    "-pie": lambda: re.search(r"Type: +DYN", readelf("-h")),
    "-Wl,-z,relro,-z,now": lambda: "GNU_RELRO" in readelf("-l") and re.search(r"FLAGS_1.*NOW", readelf("-d")),
    "-fstack-protector-strong": lambda: "__stack_chk_fail" in readelf("--dyn-syms"),
    "-D_FORTIFY_SOURCE=2": lambda: re.search(r"_chk@", readelf("--dyn-syms")),
    "-Wl,-z,noexecstack": lambda: re.search(r"GNU_STACK.* RW ", readelf("-l")),
}


def main():
    used = (flags("HARDEN_CFLAGS") + " " + flags("HARDEN_LDFLAGS")).split()
    if not used or not shutil.which("readelf"):
        print("1..0 # SKIP " + ("no readelf" if used else "configured without hardening"))
        return 0
    failed = False
    print(f"1..{len(EFFECTS)}")
    for n, (flag, has_effect) in enumerate(EFFECTS.items(), 1):
        if flag not in used:
            print(f"ok {n} - {flag} # SKIP this compiler does not have it")
            continue
        good = bool(has_effect())
        failed |= not good
        print(f"{'' if good else 'not '}ok {n} - {flag} shows in the program")
    return failed


sys.exit(main())
