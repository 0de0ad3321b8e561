#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every entry of a function is a row of calls: calls F, executions F and gdb's count of a breakpoint at F agree for every function
of optimized programs, whichever way it was entered; stack in a signal's handler has what it interrupted."""
import functools
import json
import os
import pathlib
import re
import subprocess

from _ask import Asker
from _record import LIMIT, build, load_address, record
from _tap import DATA, TRACESTUB, add_case, case, run_cases

PROGRAMS = {
    "entries.c": "-O2 -g -w",
    "leaps.c": "-O2 -g -w -no-pie",
    "shapes.cc": "-O2 -g -w -pthread -Wl,--no-as-needed -lstdc++",
    "subject.c": "-O2 -g -w -static",    # with libc and its IFUNCs
}
ARGUMENTS = {"subject.c": ["signals"]}
NO_CALL = {"_start", "__restore_rt"}    # the first instruction of all, at which one stands; what a handler returns to


asker = functools.cache(Asker)      # a process for each recording


def ask(out, *words):
    return asker(out).rows(" ".join(words))


@case
def calls_that_were_stepped_over_are_said_to_lack():
    """The event of a gap is where the tracer went past instructions."""
    trace = DATA / "tenet-samples/pin-gap64.log.gz"

    def lines(*words):
        done = subprocess.run([TRACESTUB, "query", trace, *words, "--json", "--quiet"], capture_output=True, text=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    gaps = [row["position"] for row in lines("events", "gap")[:-1]]
    assert gaps and f"the recording has {len(gaps)} gap" in lines("calls")[-1]["note"], gaps
    assert "gap" in lines("calls", "in", f"{gaps[0]}:{gaps[0] + 1}")[-1]["note"]
    assert not lines("calls")[-1]["complete"]
    assert "note" not in lines("calls", "in", f"0:{gaps[0]}")[-1] and lines("calls", "in", f"0:{gaps[0]}")[-1]["complete"]
    # code that did not run in a recorded step may have run there; memory that no instruction wrote may have changed there
    for verb in "executions", "last-exec":
        end, = lines(verb, "0x10")
        assert "gap" in end["note"], end
    assert "note" not in lines("executions", "0x10", "in", f"0:{gaps[0]}")[-1]
    end, = lines("accesses", "0x10", "w")
    assert "history" in end["note"], end


@functools.cache
def kinds():
    """A recording of entries.c."""
    record("kinds.ucir", build("entries.c", "kinds", "-O2 -g -w"))
    return "kinds.ucir"


def gdb(out, *commands):
    argv = [TRACESTUB, "gdb", out, "--", "-batch"] + [word for c in commands for word in ("-ex", c)]
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=2 * LIMIT).stdout


def functions(out, path, base):
    """Those of the program that ran, its libraries' too where it is static: name -> address."""
    text = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    found = {base + int(addr, 16): name for addr, kind, name in re.findall(r"^(\w+) ([TtWw]) (\S+)$", text, re.M)}
    return {addr: name for addr, name in found.items() if name not in NO_CALL and ask(out, "executions", hex(addr))}


def entries(source, options):
    path = build(source, source.replace(".", "_"), options)
    out = f"{source}.ucir"
    done = record(out, path, *ARGUMENTS.get(source, ()))
    assert "unexplained" in done.stderr, done
    base = 0 if "-static" in options or "-no-pie" in options else load_address(out)
    found = functions(out, path, base)
    assert len(found) > 10, found
    commands = [c for addr in found for c in (f"break *{addr:#x}", "ignore $bpnum 1000000")]
    shown = gdb(out, "handle all nostop noprint pass", *commands, "continue", "info breakpoints")
    hits = dict.fromkeys(range(1, len(found) + 1), 0)
    for number, count in re.findall(r"^(\d+) +breakpoint .*(?:\n\t(?!break).*)*\n\tbreakpoint already hit (\d+) time", shown, re.M):
        hits[int(number)] = int(count)
    assert sum(hits.values()) > 3, shown
    for i, (addr, name) in enumerate(found.items()):
        calls = ask(out, "calls", hex(addr))
        begins = sorted(c["begin"] for c in calls)
        executions = ask(out, "executions", hex(addr))
        assert (len(calls), len(executions)) == (hits[i + 1],) * 2, (name, len(calls), len(executions), hits[i + 1])
        assert {c["kind"] for c in calls} <= {"return", "unwound", "open", "tail", "handler"}, calls
        assert all(b <= e["position"] for b, e in zip(begins, executions)), (name, begins)


for source, options in PROGRAMS.items():
    add_case(f"entries of {source}", entries, source, options)


@case
def kinds_and_callers():
    tails = [c for c in ask(kinds(), "calls", "leaf") if c["kind"] == "tail"]
    assert {c["caller"] for c in tails} >= {"middle", "outer"}, tails
    assert all(c["end"] and c["result"] for c in tails if c["caller"] == "middle"), tails
    handlers = {name: ask(kinds(), "calls", name) for name in ("handler", "inner_handler", "other_handler")}
    assert {n: [c["kind"] for c in rows] for n, rows in handlers.items()} == {
        "handler": ["handler"] * 2, "inner_handler": ["handler"] * 2, "other_handler": ["handler"]}, handlers
    assert all(c["end"] for rows in handlers.values() for c in rows), handlers
    assert [c["arguments"][0] for c in handlers["other_handler"]] == ["0xe"]


@case
def a_return_address_may_be_taken_off_the_stack():
    """What the source does: a call goes on while its address is back in its place, or still there."""
    done = record("popped.ucir", build("popped.c", "popped", "-O0 -g -w -static"))
    assert done.returncode == 0, done
    for name, kind, result in (("keeps", "return", 11), ("puts_back", "return", 22), ("jumps_back", "return", 33), ("is_left", "return", 44),
                               ("drops", "unwound", None), ("lowers", "unwound", None)):
        call, = ask("popped.ucir", "calls", name)
        assert (call["kind"], call["result"] and int(call["result"], 16)) == (kind, result), (name, call)
    at, = (row["position"] for row in ask("popped.ucir", "executions", "worker"))
    for steps in range(-3, 5):
        stack = [row["function"] for row in ask("popped.ucir", "stack", "at", str(at + steps))]
        assert stack[:2] == ["keeps" if steps < 0 else "worker", "main"], (steps, stack)
    shown = gdb("popped.ucir", f"goto {at + 4}", "bt")
    assert re.search(r"#0 .*worker[^#]*#1 .*main \(", shown), shown


@case
def an_indirect_function_is_the_one_that_runs():
    done = record("chosen.ucir", build("chosen.c", "chosen", "-O1 -g -fno-builtin"))
    for name, addr, least in zip(("strlen", "strcasecmp"), done.stdout.split(), (31, 11)):
        executions = ask("chosen.ucir", "executions", name)
        assert {e["pc"] for e in executions} == {addr} and len(executions) >= least, (name, addr, executions)
        calls = ask("chosen.ucir", "calls", name)
        assert len(calls) == len(executions) and {c["address"] for c in calls} == {addr}, (name, calls)
        assert sum(c["caller"] == "main" for c in calls) == least, (name, calls)
        positions = [e["position"] for e in executions]
        first, last = positions[0], positions[-1]
        end = max(int(e["address"], 16) + e["length"] for e in ask("chosen.ucir", "coverage", name))
        assert {row["position"] for row in ask("chosen.ucir", "last-exec", name, "at", "end")} == {last}, (name, last)
        assert {row["position"] for row in ask("chosen.ucir", "next-exec", name, "at", str(first))} == {positions[1]}, (name, positions)
        assert ask("chosen.ucir", "when", "at", f"previous exec {name}")[0]["position"] == last, name
        assert ask("chosen.ucir", "coverage", name)[0]["address"] == addr, (name, addr)
        accesses, _ = asker("chosen.ucir").client.rows("accesses", what=name, kinds="x", first=9999)
        compares = ask("chosen.ucir", "compares", name)
        assert compares or name != "strlen"    # strcasecmp may begin with the loading of a table, behind which lies another function
        for rows in ask("chosen.ucir", "steps", name), compares, accesses:
            assert all(int(addr, 16) <= int(row["pc"], 16) < end for row in rows), (name, rows[:3])
        assert {row["position"] for row in ask("chosen.ucir", "steps", name)} >= set(positions), name
        assert {row["position"] for row in accesses} >= set(positions), name
    shown = gdb("chosen.ucir", "ts executions strlen first 1")
    assert "IFUNC" in shown and done.stdout.split()[0] in shown, shown


@case
def conditions_on_results_and_through_pointers():
    rows = ask(kinds(), "calls", "leaf")
    results = [int(c["result"], 16) for c in rows]
    for wanted in set(results):     # leaf(a) is a * 3
        got = ask(kinds(), "calls", "leaf", "if", f"result == {wanted}")
        assert [int(c["arguments"][0], 16) * 3 for c in got] == [wanted] * results.count(wanted), got
    assert len(ask(kinds(), "calls", "leaf", "if", "result", "!=", str(results[0]), "&&", "$rdi", "<", "5")) == sum(
        r != results[0] and int(c["arguments"][0], 16) < 5 for r, c in zip(results, rows))
    # compare(a, b) is *a - *b of two ints
    rows = ask(kinds(), "calls", "compare")
    negative = ask(kinds(), "calls", "compare", "if", "result == -2")
    assert [c for c in rows if c["result"] == "0xfffffffe"] == negative and negative, (rows, negative)
    of_9 = ask(kinds(), "calls", "compare", "if", "*(u32*)$rdi == 9 || *(i32 *)($rsi + 0) == 9")
    of_no = ask(kinds(), "calls", "compare", "if", "*(u32*)$rdi != 9 && *(i32 *)($rsi + 0) != 9")
    assert of_9 and of_no and len(of_9) + len(of_no) == len(rows), (of_9, of_no, rows)
    done = subprocess.run([TRACESTUB, "query", kinds(), "executions", "leaf", "if", "result == 1"], capture_output=True, text=True)
    assert done.returncode == 2 and "only calls have a result" in done.stderr and not done.stdout, done
    shown = gdb(kinds(), f"ts calls leaf if result == {results[0] // 3} * 3")
    assert f"\n{results.count(results[0])} row" in shown, shown


@case
def a_tree_is_indented():
    done = subprocess.run([TRACESTUB, "query", kinds(), "calls", "tree", "--json"], capture_output=True, text=True, timeout=LIMIT)
    rows = [c for c in map(json.loads, done.stdout.splitlines()[:-1]) if c["callee"] in ("main", "outer", "signals", "handler", "inner_handler")]
    shown = gdb(kinds(), "ts calls tree")
    for c in rows:
        [line] = re.findall(rf"^\d+ +{c['position']} .*$", shown, re.M)
        bars = re.search(rf" {c['address']} +((?:\| )*){c['callee']} ", line)
        assert bars and bars[1].count("|") == c["depth"] - 1, (c, line)
    assert len(rows) > 8 and max(c["depth"] for c in rows) > 3, rows


@case
def every_door_has_the_texts_of_arguments():
    [said] = ask(kinds(), "calls", "say")
    assert said["texts"][0] == "done" and len(said["texts"]) == len(said["arguments"]) + 1, said
    shown = gdb(kinds(), "ts calls say")
    assert '"done"' in shown and "texts" not in shown, shown


@case
def a_handler_s_stack_has_what_was_interrupted():
    for name, chain in {"leaf": ("inner_handler", "signal", "handler", "signal", "signals", "main"),
                        "outer": ("other_handler", "signal", "signals", "main")}.items():
        at = [e["position"] for e in ask(kinds(), "executions", name)
              if "signal" in [r["function"] for r in ask(kinds(), "stack", "at", str(e["position"]))]]
        rows = [r["function"] for r in ask(kinds(), "stack", "at", str(at[0]))]
        rest = iter(rows)
        assert all(f in rest for f in chain), rows


@functools.cache
def pending():
    """A recording of pending.c."""
    assert record("pending.ucir", build("pending.c", "pending", "-O2 -g -w")).returncode == 0
    return "pending.ucir"


@case
def handlers_that_follow_each_other_are_entered_by_signals():
    """None returns to the interrupted code, but the last; no jump of sigreturn's code leads to the others."""
    rows = ask(pending(), "calls", "handle")
    assert [(c["kind"], c["caller"], c["end"] is None) for c in rows] == [("handler", rows[0]["caller"], False)] * 3, rows
    assert rows[0]["caller"] not in ("__restore_rt", None) and rows[0]["end"] == rows[1]["begin"] < rows[2]["begin"], rows
    stacks = [[r["function"] for r in ask(pending(), "stack", "at", str(c["begin"]))] for c in rows]
    assert stacks[0] == stacks[1] == stacks[2] and stacks[0].count("signal") == 1 and "unblock" in stacks[0], stacks
    # gdb: what interrupted nothing that one steps over is passed over, all three
    shown = gdb(pending(), "handle SIG36 nostop noprint pass", f"goto {rows[0]['begin'] - 1}", "stepi", "printf \"handled %d\\n\", n_handled",
                "bt 1")
    assert "handled 3" in shown and "#0" in shown and "handle (" not in shown, shown


@case
def a_handler_that_longjmp_leaves_ends_with_what_it_interrupted():
    failed, left = ask(pending(), "calls", "fail"), ask(pending(), "calls", "leave")
    assert [c["kind"] for c in failed] == ["unwound"] * 2 and [c["kind"] for c in left] == ["handler"] * 2, (failed, left)
    assert [c["end"] for c in left] == [c["end"] for c in failed] and left[0]["end"] < left[1]["begin"], (failed, left)


@case
def stacks_that_go_moves_are_said():
    """No Go is needed for it: the function that moves them has this name."""
    pathlib.Path("moves.c").write_text('void moves(void) __asm__("runtime.newstack");\n'
                                       '__attribute__((noinline)) void moves(void) { __asm__(""); }\nint main(void) { moves(); return 0; }\n')
    subprocess.run(["gcc", "-O1", "-static", "-o", "moves", "moves.c"], check=True, timeout=LIMIT)
    record("moves.ucir", os.path.abspath("moves"))
    for out in ("moves.ucir", pending()):
        for words in (["calls", "main", "first", "1"], ["stack", "at", "50%"]):
            done = subprocess.run([TRACESTUB, "query", out, *words, "--json"], capture_output=True, text=True, timeout=LIMIT)
            moved = out == "moves.ucir"
            assert ("Go moves stacks" in done.stdout) == moved and ('"complete":false' in done.stdout) == moved, (out, done)


run_cases()
