#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracestub info of BAP's frames: modules over time, and machines that gdb does not know."""
import json
import pathlib
import subprocess
import tempfile

from _frames import Frames, mem, reg
from _tap import TRACESTUB, case, run_cases


def info(file, *options):
    path = pathlib.Path(tempfile.mkdtemp()) / "trace.frames"
    path.write_bytes(file.close())
    done = subprocess.run([TRACESTUB, "info", *options, str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    return done.stdout


def with_modules():
    file = Frames(2, 9, 64, ("bpt", "1.0.0"), "/bin/demo")
    file.modload("/bin/demo", 0x400000, 0x40ffff)
    file.std(0x401000, 0, b"\x90", [reg("RAX", 5, 8)], [])
    file.modload("/lib/a.so", 0x7f0000, 0x7f1000)       # as some say it: the first address behind
    file.std(0x401001, 0, b"\x90", [], [])
    file.std(0x401002, 0, b"\x90", [], [])
    file.modload("/lib/b.so", 0x7f0000, 0x7f0fff)
    file.std(0x401003, 0, b"\x90", [], [])
    return file


@case
def modules_are_listed_with_their_time():
    text = info(with_modules())
    assert "\nmodules       3\n" in text, text
    assert "\n  0x400000-0x40ffff /bin/demo\n" in text, text
    assert "\n  0x7f0000-0x7f0fff /lib/a.so, from position 1, until position 3\n" in text, text
    assert "\n  0x7f0000-0x7f0fff /lib/b.so, from position 3\n" in text, text


@case
def modules_are_in_the_json():
    found = json.loads(info(with_modules(), "--json"))["modules"]
    assert found == [
        {"first": "0x400000", "last": "0x40ffff", "process": 0, "file": "/bin/demo", "from": 0, "until": None},
        {"first": "0x7f0000", "last": "0x7f0fff", "process": 0, "file": "/lib/a.so", "from": 1, "until": 3},
        {"first": "0x7f0000", "last": "0x7f0fff", "process": 0, "file": "/lib/b.so", "from": 3, "until": None},
    ], found


@case
def program_and_arguments_are_in_the_json():
    facts = json.loads(info(with_modules(), "--json"))
    assert (facts["program"], facts["arguments"]) == ("/bin/demo", ["/bin/demo"]), facts


@case
def the_recorder_and_what_is_unknown_are_named():
    text = info(with_modules())
    assert "bap, version 2, bpt 1.0.0" in text, text
    assert "\nprogram       /bin/demo\narguments     /bin/demo\n" in text, text
    assert "\nregisters     rax rip\n" in text, text
    assert "\nwarnings      0\n" in text, text


@case
def a_machine_that_gdb_has_not_is_named():
    file = Frames(3, 81, 0, ("qemu", "8.1.0-tracewrap"))
    for k in range(3):
        file.std(0x1000 + 4 * k, 1, b"abcd", [reg("R0", k, 4), mem(0x5000, b"wxyz")], [])
    text = info(file)
    assert "hexagon" in text and "positions     0..3:" in text, text
    assert "no registers are known of architecture hexagon" in text, text


run_cases()
