#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same questions through every interface: random ones through query's three forms, monitor commands, and mcp, some of
them through gdb's commands; one of each verb through gdb's commands, too.

Rows of mcp are those of query's JSON Lines, TSV has the cells of them, and a monitor command prints what query prints
on a terminal. What is not understood is refused by all, with the same sentence.
"""
import json
import os
import pathlib
import re
import shutil

from _forms import cell, json_lines, query, query_text
from _gdb import Gdb
from _mcp import Client
from _questions import MORE_TRACES, TRACES, Questions, monitor, question_of
from _recording import Recording
from _rsp import Rsp
from _server import Server
from _tap import SRCDIR, add_case, case, run_cases

N_QUESTIONS, N_MORE, N_IN_GDB = 24, 8, 6
FIB = 0x4013ef     # of x64_walk.elf, by nm


def check_refused(question, done, result, shown):
    assert done.returncode == 2 and not done.stdout, (question, done)
    sentence = done.stderr.strip().removeprefix("tracestub: ")
    assert re.search("'.*; example: ", sentence), (question, done)
    assert result["isError"] and result["content"][0]["text"] == sentence, (question, result, sentence)
    assert sentence in shown, (question, shown, sentence)


def check_answered(n, question, trace, done, result, shown):
    """The @n-th question.  TSV and the terminal's table are compared in turn: query_forms has both of each question."""
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert not result["isError"], (question, result)
    assert result["structuredContent"] == {"rows": lines[:-1], "end": lines[-1]}, (question, result, lines)
    rows, _ = json_lines(done.stdout)
    if n % 2:
        tsv = query(trace, question).stdout.splitlines()
        assert tsv[1:] == ["\t".join(map(cell, row.values())) for row in rows], (question, tsv)
        assert not rows or tsv[0].split("\t") == list(rows[0]), (question, tsv)
        return
    if question.startswith("goto"):
        shown = shown.split("\n")[0]     # a session goes there, and shows what is stopped for there, too
    assert shown.rstrip("\n") == query_text(trace, question)[0].rstrip("\n"), (question, shown)


def the_doors_agree(trace, seed, n_questions, n_verbs):
    questions, verbs = Questions(trace, seed), set()
    with Client(str(trace)) as c, Server(str(trace)) as server, Rsp(server.address) as r:
        for n in range(n_questions):
            verb, arguments = questions.next()
            question = question_of(verb, arguments)
            done = query(trace, question, "--json")
            result = c.call(verb.replace("-", "_"), **arguments)
            shown = monitor(r, question)
            if done.returncode in (0, 1):
                check_answered(n, question, trace, done, result, shown)
                verbs.add(verb)
            else:
                check_refused(question, done, result, shown)
    assert len(verbs) > n_verbs, verbs


@case
def the_symbols_of_an_image_are_known_to_all():
    walk = Recording("x64_walk")
    question = "executions fib first 3"
    done = query(walk.trace, question, "--json", "--image", walk.exec)
    positions = [json.loads(line)["position"] for line in done.stdout.splitlines()[:-1]]
    assert positions == [k for k, pc in enumerate(walk.pcs()) if pc == FIB][:3], done
    with Server(walk.trace, "--image", walk.exec) as server, Rsp(server.address) as r:
        shown = monitor(r, question)
        assert [int(line.split()[1]) for line in shown.splitlines()[1:-1]] == positions, (shown, done)
    shutil.copyfile(walk.exec, "image.elf")
    with Server(walk.trace, "--image", "image.elf") as server:
        with Rsp(server.address) as r:
            assert monitor(r, question) == shown
        os.remove("image.elf")
        with Rsp(server.address) as r:
            assert monitor(r, question) == shown, "each client reads them"
    with Server(walk.trace) as server, Rsp(server.address) as r:
        assert "'fib' is neither an address nor a known symbol" in monitor(r, question)


# A question of each verb that leaves all as it is; "at" because query has no session.
ASKED = ["history total first 5", "accesses total rw last 4", "executions fib first 3", "calls fib first 4 depth 3",
         "stack at 50%", "events first 6", "threads in 0:", "processes in 0:", "modules in 0:", "maps in 0:",
         "memory total at 50%", "registers at 30%", "steps first 3", "compares first 3", "unexplained",
         'find "total" first 3', "strings min 6 first 5", "why total at end depth 2", "why branch at 50%", "flows total at 20% first 5", "flows $sp at 0 to address first 3", "hot 5",
         "coverage first 4", "coverage minus 50%: first 4", "when at 30%",
         *(f"last-{what} total at end" for what in ("write", "read", "access", "change")), "last-exec fib at end",
         *(f"next-{what} total at 0" for what in ("write", "read", "access", "change")), "next-exec fib at 0"]
# what moves, or writes; "there" only where marks are
MOVES = ["goto 40", "goto 90", "back", "forward", "goto 25%", "goto next exec fib", "when"]
MARKS = ["mark here at 70 seen from there", "mark there at 50%", "marks", "unmark there", "marks"]
GDBS_OWN = {"find"}
# commands to a session that are no questions
OF_MONITOR = set("announce checkpoint collect condition direction export filter help info physical translate wait".split())


def cells_of(text):
    """What a table shows, wherever its columns stand. A client that knows no processes is told of thread 1, not 1.1."""
    return [line.replace("thread 1.", "thread ").split() for line in text.splitlines()]


def commands_of(verb):
    return ["monitor ", "ts "] + ([] if verb in GDBS_OWN else [""])


@case
def gdbs_commands_answer_as_query_does():
    walk = Recording("x64_walk")
    with Gdb(walk, "--exec", walk.exec) as g:
        g(f"source {SRCDIR / 'gdbinit'}")
        for question in ASKED:
            wanted = cells_of(query_text(walk.trace, f"{question} --exec {walk.exec}")[0])
            assert len(wanted) > (question.split()[0] not in ("when", "unexplained")), (question, wanted)
            for door in commands_of(question.split()[0]):
                shown = g(door + question)
                assert cells_of(shown) == wanted, (door + question, wanted, shown)
        for verb in "threads", "processes", "modules", "maps":      # without a word: of where the session stands
            wanted = cells_of(query_text(walk.trace, f"{verb} at 0 --exec {walk.exec}")[0])
            for door in commands_of(verb):
                assert cells_of(g(door + verb)) == wanted, (door + verb, wanted, str(g))


def gdb_answers_as_query_does(trace, seed):
    questions, walk = Questions(trace, seed), Recording("x64_walk")
    walk.trace = str(trace)
    with Gdb(walk, has_exec=False) as g:
        g(f"source {SRCDIR / 'gdbinit'}")
        for _ in range(N_IN_GDB):
            verb, arguments = questions.next()
            question = question_of(verb, arguments)
            wanted, status = query_text(trace, question)
            for door in commands_of(verb) if status in (0, 1) and verb != "goto" else []:
                shown = g(door + question)
                assert cells_of(shown) == cells_of(wanted), (door + question, wanted, shown)


def copy_of(walk, name):
    copy = pathlib.Path(f"{name}.ucir").absolute()
    pathlib.Path(f"{copy}.tsmarks").unlink(missing_ok=True)
    return shutil.copy(walk.trace, copy)


def asked_in_gdb(walk, door):
    recording = Recording("x64_walk")
    recording.trace = copy_of(walk, f"in_gdb_{door.strip()}")
    with Gdb(recording, "--exec", walk.exec) as g:
        g(f"source {SRCDIR / 'gdbinit'}")
        return [g(door + question) for question in MOVES + MARKS]


@case
def what_moves_or_marks_says_the_same_to_all():
    walk = Recording("x64_walk")
    trace = copy_of(walk, "raw")
    with Server(trace, "--exec", walk.exec) as server, Rsp(server.address) as r:
        wanted = [monitor(r, question) for question in MOVES + MARKS]
    assert wanted[0].startswith("position 40 of ") and list(map(cells_of, wanted[2:4])) == list(map(cells_of, wanted[:2])), wanted
    for door in commands_of("goto")[1:]:
        shown = asked_in_gdb(walk, door)
        for question, w, s in zip(MOVES + MARKS, wanted, shown):
            # gdb itself shows where it has come to, too
            assert cells_of(w)[0] in cells_of(s) if w.startswith("position") else cells_of(w) == cells_of(s), (door, question, w, s)
    trace = copy_of(walk, "asked")
    shown = [query_text(trace, question)[0] for question in MARKS]
    assert list(map(cells_of, shown)) == list(map(cells_of, wanted[len(MOVES):])), (wanted, shown)


@case
def tools_move_and_mark_as_monitor_commands_do():
    walk = Recording("x64_walk")
    with Server(copy_of(walk, "served"), "--exec", walk.exec) as server, Rsp(server.address) as r, \
            Client(str(copy_of(walk, "tools")), "--exec", str(walk.exec)) as c:
        for question in MOVES:
            verb, _, what = question.partition(" ")
            row = c.call(verb, **({"what": what} if what else {}))["structuredContent"]["rows"][0]
            shown = re.match(r"position (\d+) of (\d+) .*, thread \d+\.(\d+), pc (0x[0-9a-f]+)", monitor(r, question))
            assert list(shown.groups()) == [str(row[k]) for k in ("position", "positions", "thread", "pc")], (question, row, shown)
        marks = [{"what": "here", "at": 70}, {"what": "there", "at": "50%"}]
        for arguments in marks:
            assert not c.call("mark", **arguments)["isError"]
            assert monitor(r, f"mark {arguments['what']} at {arguments['at']}")
        for left in 2, 1:
            rows = c.call("marks")["structuredContent"]["rows"]
            table = [line.split()[1:3] for line in monitor(r, "marks").splitlines()[1:-1]]
            assert len(rows) == left and table == [[str(row["position"]), row["mark"]] for row in rows], (rows, table)
            assert not c.call("unmark", what="there")["isError"] or left == 1
            monitor(r, "unmark there")


@case
def every_verb_is_asked_through_all():
    walk = Recording("x64_walk")
    with Server(walk.trace) as server, Rsp(server.address) as r:
        verbs = set(re.findall(r"^monitor (\S+)", monitor(r, "help"), re.M))
    asked = {question.split()[0] for question in ASKED + MOVES + MARKS}
    assert asked - verbs == set() and verbs - asked == OF_MONITOR, (asked - verbs, verbs - asked)


for seed, (name, path) in enumerate((TRACES | MORE_TRACES).items(), 1):
    n_questions, n_verbs = (N_QUESTIONS, 9) if name in TRACES else (N_MORE, 2)
    add_case(f"all interfaces answer the same on {name}", the_doors_agree, path, seed, n_questions, n_verbs)

for seed, (name, path) in enumerate(TRACES.items(), 1):
    add_case(f"gdb answers as query does on {name}", gdb_answers_as_query_does, path, seed)

run_cases()
