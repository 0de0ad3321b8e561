#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Six recordings whose causes are found by tracestub mcp alone: each in at most six calls and 20 KB of answers.

A session knows what its user knows, the symptom and the names in the program's output, and goes on with nothing but what the
tools answered before: positions, addresses, names. What it finds is compared with the program's source.
"""
import functools
import os
import pathlib
import subprocess

from _mcp import Client
from _record import SOURCES, build, record
from _tap import DATA, case, run_cases

MAX_CALLS, MAX_BYTES = 6, 20_000


class Session:
    """A client whose calls are counted."""
    def __init__(self, *argv):
        self.client, self.n, self.len = Client(*argv), 0, 0

    def __call__(self, tool, **arguments):
        """The rows."""
        result = self.client.call(tool, **arguments)
        assert not result["isError"], (tool, arguments, result)
        self.n += 1
        self.len += len(result["content"][0]["text"])
        return result["structuredContent"]["rows"]

    def __enter__(self):
        self.client.__enter__()
        return self

    def __exit__(self, *exc):
        self.client.__exit__(*exc)
        if not exc[0]:
            print(f"# {self.n} calls, {self.len} bytes")
            assert self.n <= MAX_CALLS and self.len <= MAX_BYTES, (self.n, self.len)


@functools.cache
def recorded(name, options, *argv):
    """The recording of a program of tests/data/record, and the program."""
    program = build(f"{name}.c", name, f"-g -pthread {options}")
    trace = os.path.abspath(f"{name}{len(argv)}{''.join(argv)}.ucir")
    record(trace, program, *argv)
    return trace, "--exec", program


def line_of(name, text):
    lines = [n for n, line in enumerate((SOURCES / f"{name}.c").read_text().splitlines(), 1) if text in line]
    assert len(lines) == 1, (text, lines)
    return lines[0]


@case
def the_demo_prints_69_and_returns_21():
    walk = DATA / "usercorn/x64_walk"
    with Session(f"{walk}.ucir", "--exec", f"{walk}.elf") as ask:
        end = ask("overview")[0]
        assert end["last_events"][-1]["text"] == "status 21", end
        row = ask("why", what="total", depth=1)[0]
        assert (row["function"], row["line"], row["value"]) == ("rt_main", 40, hex(21)), row
        before = ask("ask", question="last-write", what="total", at=row["position"])[0]
        assert (before["function"], before["new"]) == ("bump", hex(69)), before


@case
def a_serial_number_that_is_wrong():
    """Which bytes of the input decide, and what they should have been."""
    with Session(*recorded("serial", "-O1", "alice", "1a22")) as ask:
        last = [e for e in ask("overview")[0]["last_events"] if e.get("name") == "write"][-1]
        caller = ask("where", at=last["position"])[0]["stack"]
        assert any(f.get("function") == "main" for f in caller), caller
        call = ask("ask", question="calls is_right last 1")[0]
        assert call["result"] == "0x0" and "alice" in str(call["texts"]) and "1a22" in str(call["texts"]), call
        chain = ask("why", what="$eax", at=call["end"], depth=4)
        values = {int(r["value"], 16) for r in chain if (r["value"] or "").startswith("0x") and r["place"][0] == "$"}
        h = 0x1505
        for c in b"alice":
            h = h * 33 + c
        assert {0x1a22, h & 0xffff} <= values, (values, chain)
    good = f"{h & 0xffff:04x}"
    trace, *options = recorded("serial", "-O1", "alice", "1a22")
    other, *_ = recorded("serial", "-O1", "alice", good)
    with Session(trace, other, *options) as ask:     # two inputs: where they part
        rows = ask("diff", a=trace, b=other)
        assert rows, rows
        ends = [ask("overview", recording=t)[0]["last_events"][-1]["text"] for t in (trace, other)]
        assert ends == ["status 1", "status 0"], ends


@case
def a_name_that_is_longer_than_its_place():
    """The pointer behind it is made of the name's last letters: set_name wrote it."""
    with Session(*recorded("overflow", "-O1")) as ask:
        end = ask("overview")[0]
        assert "fault" in end["end"] or any(e["kind"] in ("signal", "fault") for e in end["last_events"]), end
        here = ask("where")[0]
        assert here["function"] == "add", here
        pointer = here["last_step"]["writes"][0].split("=")[0]      # what was loaded last is what the next one used
        chain = ask("why", what=pointer)
        writer = max((r for r in chain if r["kind"] == "write" and r["place"].startswith("0x")), key=lambda r: r["position"])
        assert writer["function"] == "set_name" and writer["line"] == line_of("overflow", "*to++ = *name++"), chain
        lines = ask("source", what="set_name")
        assert any(r["text"] and "*to++ = *name++" in r["text"] and r["steps"] == len("alexandrina") + 1 for r in lines), lines


@case
def two_threads_that_wait_for_each_other():
    """Each waits for a lock that the other one took before."""
    with Session(*recorded("deadlock", "-O1")) as ask:
        end = ask("overview")[0]
        waits = {t["thread"]: [f.get("function") or "" for f in t["stack"]] for t in end["threads"]}
        assert len(waits) == 2 and all(any("lock" in f for f in stack) for stack in waits.values()), waits
        calls = ask("ask", question="calls *pthread_mutex_lock")
        wanted = {c["thread"]: c["arguments"][0] for c in calls if c["kind"] == "open"}
        held = {c["arguments"][0]: c["thread"] for c in calls if c["kind"] == "return" and c["thread"] in wanted}
        assert len(wanted) == 2 and {t: held[lock] for t, lock in wanted.items()} == dict(zip(wanted, reversed(list(wanted)))), calls
        frames = {f["function"] for t in end["threads"] for f in t["stack"] if f.get("function") in ("deposit", "withdraw", "main")}
        assert "deposit" in frames and frames & {"withdraw", "main"}, frames


@case
def a_program_that_unpacks_itself():
    """The region that is written and then executed, its entry, and what stands there then."""
    with Session(*recorded("unpack", "-O1")) as ask:
        ask("overview")
        maps = [e for e in ask("ask", question="events map last 12") if "rwx" in (e["text"] or "")]
        region = maps[-1]["text"].split()[0]
        entry = ask("ask", question=f"accesses {region} x first 1")[0]
        code = ask("ask", question="memory", what=f"{entry['pc']},6", at=entry["position"])[0]
        assert code["bytes"] == "b8 6f 2a 00 00 c3", code
        writer = ask("why", what=f"{entry['pc']},1", at=entry["position"], depth=1)[0]
        assert (writer["function"], writer["line"]) == ("main", line_of("unpack", "page[i] = packed[i] ^")), writer
        steps = ask("ask", question="steps", what=region, first=3)
        assert [s["instruction"] for s in steps] == ["mov eax, 0x2A6F", "ret"], steps


@case
def a_mean_that_is_too_high_at_O2():
    """Its loop takes in the value behind the five: 9000."""
    with Session(*recorded("mean", "-O2")) as ask:
        ask("overview")
        call = ask("ask", question="calls mean")[0]
        assert int(call["result"], 16) == (150 + 9000) // 5 and call["arguments"][1] == "0x5", call
        steps = [r for r in ask("source", what="mean", at=call["end"]) if r["line"] == line_of("mean", "sum += v[i]")]
        assert steps[0]["steps"] == 6, steps       # six values, and n is 5
        first = ask("why", what="$eax", at=call["end"], inputs=True)
        values = [r for r in first if r["place"]]
        assert any(int(r["value"], 16) == 9000 if (r["value"] or "").startswith("0x") else "28 23" in (r["value"] or "")
                   for r in values), first


@case
def only_files_with_the_names_of_sources_are_read():
    """A program's debugging information may name any file: a link to another one is none, nor is a name without a suffix."""
    here = pathlib.Path.cwd()
    for name, text, is_shown in ("real.c", "int secret = 0; /* shown */\n", True), ("link.c", None, False), ("secret", "token\n", False):
        path = here / name
        if text:
            path.write_text(text)
        else:
            (here / "plain.txt").write_text("token\n")
            path.symlink_to(here / "plain.txt")
        source = here / f"from_{name}.c"
        source.write_text(f'#line 1 "{path}"\nint main(void) {{ return 0; }}\n')
        program = f"{source}.elf"
        subprocess.run(["gcc", "-g", "-O0", "-o", program, source], check=True)
        record(f"{source}.ucir", program)
        for more in (), ("--no-sandbox",):
            with Client(f"{source}.ucir", "--exec", program, *more) as c:
                rows, _ = c.rows("source", what="main")
                assert rows and all(r["line"] == 1 and (r["text"] is not None) == is_shown for r in rows), (name, more, rows)


run_cases()
