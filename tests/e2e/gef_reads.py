#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What gef and pwndbg read of a remote process, by the commands and the Python that they use: files in /proc, the
auxiliary vector, memory and registers. What the recording does not know is refused, and the session goes on.
"""
import pathlib
import re

from _gdb import Gdb
from _recording import Recording
from _tap import case, run_cases

MAPS = re.compile(r"([0-9a-f]+)-([0-9a-f]+) ([r-][w-][x-][ps]) ([0-9a-f]{8,}) [0-9a-f]{2}:[0-9a-f]{2} (\d+) *(.*)")


def maps(g):
    """The regions of /proc/PID/maps: (start, end, permissions, name)."""
    pid = int(re.search(r"process (\d+)", g("info inferiors"))[1])
    path = pathlib.Path(g.folder, "maps")
    g(f"remote get /proc/{pid}/maps {path}")
    lines = path.read_text().splitlines()
    found = [MAPS.fullmatch(line) for line in lines]
    assert found and all(found), lines
    return [(int(m[1], 16), int(m[2], 16), m[3], m[6]) for m in found]


def region(regions, address):
    return next((r for r in regions if r[0] <= address < r[1]), None)


@case
def maps_have_the_code_and_the_stack():
    with Gdb("x64_walk") as g:
        g("stepi 100")
        regions = maps(g)
        assert regions == sorted(regions) and all(a[1] <= b[0] for a, b in zip(regions, regions[1:])), regions
        assert region(regions, g.address("$pc"))[2] == "r-xp" and region(regions, g.address("$sp"))[3] == "[stack]"
        assert region(regions, 0) is None, regions


@case
def maps_are_those_of_the_position():
    with Gdb("x64_walk") as g:
        g("tbreak add_all")
        g("continue")
        head = g.address("head")
        assert region(maps(g), head)
        g("reverse-continue")
        assert not region(maps(g), head)


@case
def the_auxiliary_vector_and_the_command_line():
    recording = Recording("x64_walk")
    with Gdb("x64_walk") as g:
        g("info auxv")
        assert int(g.expect(r"AT_ENTRY .*(0x[0-9a-f]+)$")[1], 16) == recording.pcs()[0]
        path = pathlib.Path(g.folder, "cmdline")
        g(f"remote get /proc/1/cmdline {path}")
        argc = g.value("*(long *) $sp")     # at the first instruction
        argv = [g(f'printf "%s", ((char **) $sp)[{1 + k}]') for k in range(argc)]
        assert argc == 3 and path.read_bytes() == "".join(f"{a}\0" for a in argv).encode(), (argv, path.read_bytes())


@case
def what_is_not_recorded_is_refused_and_the_session_goes_on():
    with Gdb("x64_walk") as g:
        g("stepi 5")
        for name in "io", "exe", "status/x":
            g(f"remote get /proc/1/{name} {g.folder}/x")
            g.expect("Remote I/O error")
        g("python print(gdb.selected_frame().read_register('eflags'))")
        g.expect("<unavailable>")
        g("python\ntry:\n    gdb.selected_inferior().read_memory(16, 8)\nexcept gdb.MemoryError as error:\n    print(error)\nend")
        g.expect("Cannot access memory at address 0x10")
        assert g.position() == 5


run_cases()
