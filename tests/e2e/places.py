#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""goto with every kind of PLACE, and marks: sessions of `monitor`, mcp and gdb that are asked the same stand at the same position.

Where that is follows from lists that other questions give: accesses, events, calls, and who runs.
"""
import bisect
import json
import pathlib
import re
import shutil
import tempfile

from _ask import Asker
from _forms import query
from _gdb import Gdb
from _mcp import Client
from _questions import TRACES, Questions, monitor
from _rsp import Rsp
from _server import Server
from _tap import SRCDIR, add_case, case, run_cases

N_PLACES = 30
EVENTS = "syscall signal fault interrupt thread-start thread-end module map unmap gap exit".split()


def rows_of(trace, question):
    done = query(trace, question, "--json")
    assert done.returncode in (0, 1), done
    return [json.loads(line) for line in done.stdout.splitlines()][:-1]


class Places(Questions):
    """Random places, and where each one is."""
    def __init__(self, trace, seed):
        super().__init__(trace, seed)
        self.asker = Asker(trace)
        self.trace, self.here, self.marks, self.shown = trace, 0, {}, []
        calls = rows_of(trace, "calls")
        runs = sorted((k["position"], k["thread"]) for t in self.threads for k in rows_of(trace, f"history $pc thread {t}"))
        self.nearest = {
            "call": [c["begin"] for c in calls],
            "return": [c["end"] for c in calls if c["kind"] == "return"],
            "switch": [b[0] for a, b in zip(runs, runs[1:]) if a[1] != b[1]],
            **{kind: [e["position"] for e in rows_of(trace, f"events {kind}")] for kind in EVENTS},
        }

    def find(self, direction, positions):
        positions = sorted(positions)
        if direction == "next":
            i = bisect.bisect_right(positions, self.here)
            return positions[i] if i < len(positions) else None
        i = bisect.bisect_left(positions, self.here)
        return positions[i - 1] if i else None

    def accessed(self, direction, kind, what):
        """Behind the next write, before the previous one; at the next execution."""
        near = "next" if direction == "next" else "last"
        rows = self.asker.rows(f"{near}-{kind} {what} at {self.here}")
        return rows[0]["position"] + (direction == "next" and kind != "exec") if rows else None

    def relative(self):
        distance = self.rnd.randrange(self.n + 1)
        to = self.rnd.choice([(f"+{distance}", self.here + distance), (f"-{distance}", self.here - distance)])
        return to if 0 <= to[1] <= self.n else (to[0], "refused")

    def percent(self):
        tenths = self.rnd.randrange(1001)
        return f"{tenths / 10}%", self.n * tenths // 1000

    def row(self):
        row = self.rnd.randrange(1, 12)
        return f"#{row}", self.shown[row - 1] if row <= len(self.shown) else "refused"

    def mark(self):
        name = self.rnd.choice([*self.marks, "never-made"])
        return name, self.marks.get(name, "refused")

    def near_access(self):
        direction = self.rnd.choice(["next", "previous"])
        kind = self.rnd.choice("write read access change exec".split())
        what = self.what() if kind in ("write", "change") else self.code() if kind == "exec" else self.memory()
        return f"{direction} {kind} {what}", self.accessed(direction, kind, what)

    def near_event(self):
        direction, kind = self.rnd.choice(["next", "previous"]), self.rnd.choice(list(self.nearest))
        return f"{direction}{self.rnd.choice(' -')}{kind}", self.find(direction, self.nearest[kind])

    def next(self):
        """(place, where it is; None: nowhere; "refused": it is not understood)"""
        k = self.position()
        return self.rnd.choice([
            lambda: (str(k), k), lambda: (hex(k), k), lambda: (str(self.n + 1), "refused"), lambda: ("frame", "refused"),
            lambda: (self.rnd.choice(["begin", "start"]), 0), lambda: (self.rnd.choice(["end", "last"]), self.n),
            self.relative, self.percent, self.row, self.mark,
            *[self.near_access] * 6, *[self.near_event] * 6])()


def goto_in_session(r, place):
    """(what was said, the position)"""
    said = monitor(r, f"goto {place}")
    found = re.search(r"^position (\d+) of", monitor(r, "when"), re.M)
    return said, int(found[1])


def goto_in_mcp(c, place):
    result = c.call("goto", what=place)
    text = result["content"][0]["text"]
    return text if result["isError"] else result["structuredContent"], c.rows("when")[0][0]["position"]


def check_said(place, want, said, found):
    """Both say the position, or in a sentence why nothing was done."""
    if want == "refused":
        assert isinstance(found, str) and re.match("'.*; example: ", found) and len(said.splitlines()) == 1, (place, said, found)
    elif want is None:
        assert found["end"]["note"]
        assert not found["rows"] and said.strip(), (place, said, found)
    else:
        assert found["rows"][0]["position"] == want and f"position {want} of " in said, (place, said, found)


def ask_a_table(p, c, r):
    """Its rows are places from now on."""
    question = p.rnd.choice(["executions", "history"])
    what = "$pc" if question == "history" else f"{p.rnd.choice(p.pcs)},64"
    shown = monitor(r, f"{question} {what} first 9")
    rows, _ = c.rows(question, what=what, first=9)
    assert shown.count("\n") >= len(rows) > 0, (shown, rows)
    p.shown = [row["position"] for row in rows]


def set_a_mark(p, c, r, n):
    """One interface makes it, another one lists it."""
    name, text = f"here-{n}", p.rnd.choice(["", "a note"])
    if n % 2:
        monitor(r, f"mark {name} {text}")
    else:
        c.rows("mark", what=name)
        text = ""
    p.marks[name] = p.here
    want = [{"position": k, "mark": m} for k, m in sorted((k, m) for m, k in p.marks.items())]
    for rows in c.rows("marks")[0], rows_of(p.trace, "marks"):
        assert [{"position": m["position"], "mark": m["mark"]} for m in rows] == want, (rows, want)
        assert next(m["text"] for m in rows if m["mark"] == name) == (text or None), rows
    listed = re.findall(r"^\d+ +(\d+) +(\S+)", monitor(r, "marks"), re.M)
    assert [{"position": int(k), "mark": m} for k, m in listed] == want, (listed, want)
    p.shown = [m["position"] for m in want]


def copied(trace):
    """Marks are kept beside it."""
    trace = shutil.copy(trace, pathlib.Path(tempfile.mkdtemp(dir=".")) / trace.name)
    return str(trace)


def sessions_agree(trace, seed):
    p = Places(copied(trace), seed)
    with Client(p.trace) as c, Server(p.trace) as server, Rsp(server.address) as r:
        p.here = p.n
        monitor(r, "goto end")
        c.rows("goto", what="end")
        for n in range(N_PLACES):
            if n % 8 == 0:
                ask_a_table(p, c, r)
            if n % 6 == 0:
                set_a_mark(p, c, r, n // 6)
            place, want = p.next()
            said, here = goto_in_session(r, place)
            found, there = goto_in_mcp(c, place)
            if p.here == p.n and not re.match("#|frame", place):     # from where query starts
                done = query(p.trace, f"goto {place}", "--json")
                lines = [json.loads(line) for line in done.stdout.splitlines()]
                assert lines[:-1] == ([] if isinstance(found, str) else found["rows"]), (place, done, found)
            assert here == there == (want if isinstance(want, int) else p.here), (place, p.here, want, here, there)
            check_said(place, want, said, found)
            p.here = here


class Traced:
    """What class Gdb needs to know of a recording."""
    def __init__(self, trace):
        self.trace, self.exec = trace, None

    @staticmethod
    def gdb():
        return shutil.which("gdb")

    @staticmethod
    def copy_sources(folder):
        pass


@case
def gdb_goes_where_the_others_go():
    p = Places(copied(TRACES["usercorn"]), 77)
    with Gdb(Traced(p.trace), has_exec=False) as g:
        g(f"source {SRCDIR / 'gdbinit'}")
        g("mark here-1 at 100")
        p.marks["here-1"] = 100
        g(f"executions {p.pcs[0]},64 first 9")
        p.shown = [row["position"] for row in rows_of(p.trace, f"executions {p.pcs[0]},64 first 9")]
        for _ in range(N_PLACES):
            place, want = p.next()
            g(f"goto {place}")
            here = int(re.search(r"^position (\d+)", g("monitor when"), re.M)[1])
            assert here == (want if isinstance(want, int) else p.here), (place, p.here, want, str(g))
            assert hex(g.address("$pc")) == p.asker.rows(f"when at {here}")[0]["pc"], (place, here, str(g))
            p.here = here
        for place in "10", "50%", "next call":
            p.here = int(re.search(r"^position (\d+)", g("monitor when"), re.M)[1])
            g(f"goto {place}")
            g("back")
            assert f"position {p.here} of" in g("monitor when"), (place, p.here, str(g))
            g("forward")


@case
def gdb_prints_what_a_session_prints():
    trace = copied(TRACES["bap"])
    asked = Questions(trace, 5)
    with Gdb(Traced(trace), has_exec=False) as g, Rsp(g.server.address) as r:
        g(f"source {SRCDIR / 'gdbinit'}")
        g("mark one at 7 a text")
        for question in ("history $sp first 5", f"accesses {asked.memory()} rw first 5", f"executions {asked.code()}",
                         f"last-write {asked.memory()}", "next-change $flags", "calls first 9", "stack at 50%", "events",
                         "threads in 0:", "processes", "modules", "maps", "find u32:1 first 3", "strings first 3", "why $sp",
                         "hot 3", "coverage first 3", "marks", "history $nope", "goto 99999999"):
            shown = monitor(r, question).strip()
            assert shown and g(f"ts {question}").strip().startswith(shown), (question, shown, str(g))


for seed, (format_name, path) in enumerate(TRACES.items(), 1):
    add_case(f"sessions that go the same way stand at the same position: {format_name}", sessions_agree, path, seed)

run_cases()
