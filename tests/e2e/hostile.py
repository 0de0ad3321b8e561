#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces that cost as much as their format allows: what an index holds of them grows as they do, and no faster.

TEST_SHARE=n: a share of 1/n of each size. make check-asan takes less, for what it sees does not depend on the size.
"""
import os
import pathlib
import subprocess
import tempfile

import _hostile
from _tap import TRACESTUB, case, run_cases

FOLDER = pathlib.Path(tempfile.mkdtemp())
SHARE = int(os.environ.get("TEST_SHARE", "1"))


def index(family, n):
    """Index a trace of @n items.  Returns the status, what was said, and the length of the index file."""
    trace, out = FOLDER / "trace", FOLDER / "index"
    out.unlink(missing_ok=True)
    _hostile.write(family, n, trace)
    done = subprocess.run([TRACESTUB, "index", "--index", out, trace], capture_output=True, text=True)
    return done.returncode, done.stderr, out.stat().st_size if out.exists() else 0


def grows_with(family, n):
    """Three sizes: each doubling adds at most what the one before did, twice, and a little."""
    sizes = []
    for k in 1, 2, 4:
        status, said, size = index(family, n * k // SHARE)
        assert status == 0 and size, (status, said)
        sizes.append(size)
    first, second = sizes[1] - sizes[0], sizes[2] - sizes[1]
    assert second <= 2.2 * first + 65536, (family, sizes)


@case
def open_groups_of_two_processes():
    grows_with("ucir_two_tasks", 8000)
    grows_with("ucir_two_tasks_late", 8000)


@case
def many_processes_in_turn():
    grows_with("ucir_processes", 3000)


@case
def regions_that_come_and_go():
    grows_with("ucir_maps", 3000)


@case
def system_calls_with_many_ops():
    grows_with("ucir_syscalls", 30000)


@case
def counts_beyond_the_file():
    grows_with("ucir_counts", 20000)


@case
def threads_and_sessions():
    grows_with("x64_threads", 1000)
    grows_with("x64_sessions", 50)


@case
def damage_with_many_ways_out():
    grows_with("x64_damage", 100)
    grows_with("x64_nested", 100)


@case
def other_formats():
    for family, n in ("rvn_events", 20000), ("rvn_regions", 2000), ("rvn_interrupts", 2000), ("bap_modules", 1000), ("bap_operands", 2000), \
            ("text_steps", 5000), ("tenet_gaps", 3000), ("tenet_accesses", 1000), ("tenet_damage", 3000), ("gdb_groups", 5000):
        grows_with(family, n)


@case
def more_threads_than_the_bound_end_the_trace():
    status, said, size = index("x64_threads", 17000)
    assert "more than 16384 threads" in said and size, (status, said, size)       # and what is before it is indexed


@case
def values_beyond_the_bound_are_not_parsed():
    status, said, _ = index("x64_json", 600000)
    assert status == 0 and "524288 values; ignored" in said, (status, said)
    status, said, _ = index("x64_json", 1000)
    assert status == 0 and "ignored" not in said, (status, said)


run_cases()
