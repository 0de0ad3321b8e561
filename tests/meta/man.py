#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The man page, --help and the monitor's commands name the same things."""
import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(os.environ.get("TEST_SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
TRACESTUB = os.environ.get("TRACESTUB", str(TOP / "tracestub"))

PAGE = (TOP / "src/program/tracestub.1").read_text()
PLAIN = re.sub(r"\\f.", "", PAGE.replace("\\-", "-"))
HELP = subprocess.run([TRACESTUB, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout


def options_of_the_source():
    return set(re.findall(r'\{ "([a-z-]+)", (?:no|required)_argument', (TOP / "src/program/cli.c").read_text()))


def commands_of_the_source():
    return set(re.findall(r'\[TS_CMD_\w+\] = \{ "([a-z]+)"', (TOP / "src/program/cli.c").read_text()))


CASES = {
    "every option is in --help": (options_of_the_source(), set(re.findall(r"--([a-z][a-z-]+)", HELP))),
    "every option has its paragraph in the man page":
        (options_of_the_source(), set(re.findall(r"^\.TP\n\.BI? --([a-z-]+)", PLAIN, re.M))),
    "the man page has no option that is not in --help":
        (set(re.findall(r"--([a-z][a-z-]+)", PLAIN)), set(re.findall(r"--([a-z][a-z-]+)", HELP))),
    "every command is in --help": (commands_of_the_source(), set(re.findall(r"^  tracestub ([a-z]+) ", HELP, re.M))),
    "every command has its paragraph in the man page":
        (commands_of_the_source(), set(re.findall(r'^\.TP\n\.BI "([a-z]+) ', PLAIN, re.M))),
    "every monitor command has its paragraph in the man page":
        (set(re.findall(r'^\t\{ "([a-z]+)", ".*run_\1 \},$', (TOP / "protocol/packets/monitor.c").read_text(), re.M)),
         set(re.findall(r'^\.TP\n\.BI? "?monitor ([a-z]+)', PLAIN, re.M))),
    "every command of gdbinit has its paragraph in the man page":
        (set(re.findall(r"^define ([a-z]+)$", (TOP / "gdbinit").read_text(), re.M)),
         set(re.findall(r"^\.TP\n\.BI? ([a-z]+)", PLAIN, re.M))),
}

failed = False
print(f"1..{len(CASES)}")
for n, (name, (wanted, there)) in enumerate(CASES.items(), 1):
    missing = wanted - there
    ok = bool(wanted) and not missing
    failed |= not ok
    print(f"{'' if ok else 'not '}ok {n} - {name}")
    if not ok:
        print(f"# missing: {', '.join(sorted(missing)) or 'all, for nothing was found in the source'}")
sys.exit(failed)
