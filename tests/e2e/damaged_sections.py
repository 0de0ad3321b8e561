#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of one section beside the index, TRACE.tsindex.find and TRACE.tsindex.calls, that are damaged: each interface answers
as it does without, one line says that the file is not used, and it is made anew."""
import json
import pathlib
import shutil
import subprocess
import tempfile

from _gdb import Gdb
from _mcp import Client
from _questions import monitor
from _recording import Recording
from _rsp import Rsp
from _server import Server
from _tap import LIMIT, SRCDIR, TRACESTUB, add_case, run_cases
from _versions import program_of_another_version

WALK = Recording("x64_walk")
VERBS = {"find": ("find", '"total" first 3'), "calls": ("calls", "fib first 3")}


def index(program, trace):
    done = subprocess.run([program, "index", trace], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done
    return pathlib.Path(f"{trace}.tsindex")


class Beside:
    """A trace beside which lie its index and the file of a section, and what each interface answers."""
    def __init__(self, section):
        self.verb, self.words = VERBS[section]
        self.trace = pathlib.Path(f"{section}.ucir").absolute()
        shutil.copy(WALK.trace, self.trace)
        index(program_of_another_version(pathlib.Path.cwd()) if section == "calls" else TRACESTUB, self.trace)
        self.file = pathlib.Path(f"{self.trace}.tsindex.{section}")
        self.file.unlink(missing_ok=True)
        self.answers = {door: DOORS[door](self)[0] for door in DOORS}
        self.good = self.file.read_bytes()

    def question(self):
        return f"{self.verb} {self.words}"

    def check(self, door, damaged):
        """The answer is that of before, and the file is good again, if it was not used, which one line says."""
        self.file.write_bytes(damaged)
        answer, said = DOORS[door](self)
        lines = [line for line in said.splitlines() if str(self.file) in line]
        assert answer == self.answers[door], (door, answer, self.answers[door])
        assert len(lines) <= 1 and all(line.endswith("; ignored") for line in lines), (door, said)
        assert self.file.read_bytes() == (self.good if lines else damaged), (door, said)
        return bool(lines)


def options(beside):
    return ["--exec", WALK.exec] if beside.verb == "calls" else []


def by_query(beside, *form):
    done = subprocess.run([TRACESTUB, "query", beside.trace, *beside.question().split(), *form, *options(beside)],
                          capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done
    return done.stdout, done.stderr


def by_monitor(beside):
    with Server(beside.trace, *options(beside)) as server, Rsp(server.address) as r:
        return monitor(r, beside.question()), server.said()


def by_gdb(beside):
    with Server(beside.trace, *options(beside)) as server, Gdb(WALK, server=server) as g:
        g(f"source {SRCDIR / 'gdbinit'}")
        return g(f"ts {beside.question()}"), server.said()


def by_mcp(beside):
    what, _, rest = beside.words.partition(" ")
    word, n = rest.split()
    with tempfile.TemporaryFile("w+") as err:
        with Client(str(beside.trace), *options(beside), stderr=err) as c:
            result = c.call(beside.verb, what=what, **{word: int(n) if word == "first" else n})
        err.seek(0)
        assert not result["isError"], result
        return json.dumps(result["structuredContent"]), err.read()


DOORS = {"query": by_query, "json": lambda beside: by_query(beside, "--json"), "monitor": by_monitor, "gdb": by_gdb, "mcp": by_mcp}


def damages(good):
    """Such that the file cannot be taken for a good one."""
    for off in 0, 20, 4096 + 50, len(good) // 2 + 100:
        yield good[:off] + bytes([good[off] ^ 0x40]) + good[off + 1:]
    yield good[:len(good) - 4096]
    yield b""


def every_interface_answers_as_without_the_file(section):
    beside = Beside(section)
    for i, damaged in enumerate(damages(beside.good)):
        for door in "query", *list(DOORS)[1 + i % 2::2]:
            assert beside.check(door, damaged), (door, i)


def a_byte_that_is_wrong_anywhere_changes_no_answer(section):
    beside, n_noticed = Beside(section), 0
    for off in range(0, len(beside.good), 131):
        damaged = beside.good[:off] + bytes([beside.good[off] ^ 1]) + beside.good[off + 1:]
        n_noticed += beside.check("json", damaged)
    assert n_noticed > 5, n_noticed


for each in VERBS:
    for test in every_interface_answers_as_without_the_file, a_byte_that_is_wrong_anywhere_changes_no_answer:
        add_case(f"{each}: {test.__name__}", test, each)

run_cases()
