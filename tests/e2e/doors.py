#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same random questions through every interface: query's three forms, monitor commands, and mcp.

Rows of mcp are those of query's JSON Lines, TSV has the cells of them, and a monitor command prints what query prints
on a terminal. What is not understood is refused by all, with the same sentence.
"""
import json
import re

from _forms import cell, json_lines, query, query_text
from _mcp import Client
from _questions import TRACES, Questions, monitor, question_of
from _recording import Recording
from _rsp import Rsp
from _server import Server
from _tap import add_case, case, run_cases

N_QUESTIONS = 45
FIB = 0x4013ef     # of x64_walk.elf, by nm


def check_refused(question, done, result, shown):
    assert done.returncode == 2 and not done.stdout, (question, done)
    sentence = done.stderr.strip().removeprefix("tracestub: ")
    assert re.search("'.*; example: ", sentence), (question, done)
    assert result["isError"] and result["content"][0]["text"] == sentence, (question, result, sentence)
    assert sentence in shown, (question, shown, sentence)


def check_answered(question, trace, done, result, shown):
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert not result["isError"], (question, result)
    assert result["structuredContent"] == {"rows": lines[:-1], "end": lines[-1]}, (question, result, lines)
    rows, _ = json_lines(done.stdout)
    tsv = query(trace, question).stdout.splitlines()
    assert tsv[1:] == ["\t".join(map(cell, row.values())) for row in rows], (question, tsv)
    assert not rows or tsv[0].split("\t") == list(rows[0]), (question, tsv)
    assert shown.rstrip("\n") == query_text(trace, question)[0].rstrip("\n"), (question, shown)


def the_doors_agree(trace, seed):
    questions, verbs = Questions(trace, seed), set()
    with Client(str(trace)) as c, Server(str(trace)) as server, Rsp(server.address) as r:
        for _ in range(N_QUESTIONS):
            verb, arguments = questions.next()
            question = question_of(verb, arguments)
            done = query(trace, question, "--json")
            result = c.call(verb.replace("-", "_"), **arguments)
            shown = monitor(r, question)
            if done.returncode in (0, 1):
                check_answered(question, trace, done, result, shown)
                verbs.add(verb)
            else:
                check_refused(question, done, result, shown)
    assert len(verbs) > 12, verbs


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
    with Server(walk.trace) as server, Rsp(server.address) as r:
        assert "'fib' is neither an address nor a known symbol" in monitor(r, question)


for seed, (format_name, path) in enumerate(TRACES.items(), 1):
    add_case(f"all interfaces answer the same on {format_name}", the_doors_agree, path, seed)

run_cases()
