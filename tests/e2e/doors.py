#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same random questions through every interface: query's three forms, monitor commands, and mcp.

Rows of mcp are those of query's JSON Lines, TSV has the cells of them, and a monitor command prints what query prints
on a terminal. What is not understood is refused by all, with the same sentence.
"""
import json
import random
import re

from _forms import cell, json_lines, query, query_text
from _mcp import Client
from _rsp import Rsp
from _server import Server
from _tap import DATA, add_case, run_cases

TRACES = {
    "usercorn": DATA / "usercorn/x64_walk.ucir",
    "x64dbg": DATA / "x64dbg-samples/fib64.trace64.gz",
    "bap": DATA / "bap-samples/tw-x86_64.frames.gz",
    "rvnbintrace": DATA / "rvnbintrace-samples/tiny-fib.bin.gz",
    "tfile": DATA / "tfile-samples/work-regs.tf",
}
N_QUESTIONS = 45
REGS = "$pc $sp $flags $ZF $CF $al $ah $ax $eax $rbx $xmm3 $st0 $fp".split()


class Questions:
    """Random ones, as words: the verb, and the arguments of its tool."""
    def __init__(self, trace, seed):
        self.rnd = random.Random(seed)
        ends, _ = json_lines(query(trace, "when", "--json").stdout)
        self.n = int(ends[0]["positions"].text)
        pcs, _ = json_lines(query(trace, "history $pc first 3000", "--json").stdout)
        sps, _ = json_lines(query(trace, "history $sp first 500", "--json").stdout)
        self.pcs = [r["pc"] for r in pcs]
        self.stack = [r["new"] for r in sps if str(r["new"]).startswith("0x")] or ["0x1000"]

    def position(self):
        return self.rnd.randrange(self.n + 1)

    def memory(self):
        rnd = self.rnd
        addr = max(0, int(rnd.choice(self.stack), 16) + rnd.randrange(-64, 64)) if rnd.random() < .7 else int(rnd.choice(self.pcs), 16)
        return rnd.choice([f"{addr:#x}", f"{addr:#x},{rnd.randrange(1, 40)}", f"{addr:#x}:{addr + 16:#x}"])

    def what(self):
        return self.rnd.choice(REGS) if self.rnd.random() < .5 else self.memory()

    def code(self):
        return self.rnd.choice([self.rnd.choice(self.pcs), f"{self.rnd.choice(self.pcs)},64"])

    def range(self):
        a, b = sorted((self.position(), self.position()))
        return self.rnd.choice([{}, {"in": f"{a}:{b + 1}"}])

    def bound(self):
        return {self.rnd.choice(["first", "last"]): self.rnd.randrange(1, 30)}

    def at(self):
        return {"at": self.rnd.choice([self.position(), "50%", "begin", "end"])}

    def value(self):
        return {} if self.rnd.random() < .7 else {"if": self.rnd.choice(["value > 5", "value == 0", "value != 0x10"])}

    def next(self):
        rnd = self.rnd
        near = rnd.choice(["last", "next"])
        return rnd.choice([
            lambda: ("history", {"what": self.what(), **self.range(), **self.bound(), **self.at(), **self.value(),
                                 **rnd.choice([{}, {"changes": True}])}),
            lambda: ("accesses", {"what": self.memory(), "kinds": rnd.choice(["r", "w", "x", "rwx"]), **self.range(), **self.bound(),
                                  **self.at()}),
            lambda: (f"{near}-{rnd.choice(['write', 'change'])}", {"what": self.what(), **self.at()}),
            lambda: (f"{near}-{rnd.choice(['read', 'access', 'exec'])}", {"what": self.memory(), **self.at()}),
            lambda: ("executions", {"what": self.code(), **self.range(), **self.bound(), **self.at(),
                                    **rnd.choice([{}, {"if": "$sp > 0x1000 && $al != 3"}])}),
            lambda: ("calls", {**self.range(), **self.bound(), **rnd.choice([{}, {"depth": 2}, {"what": self.code()}])}),
            lambda: ("stack", {**self.at(), **self.bound()}),
            lambda: ("events", {**self.range(), **self.bound(), **rnd.choice([{}, {"what": "syscall"}, {"what": "exit"}])}),
            lambda: (rnd.choice(["threads", "processes", "modules", "maps"]), {**self.range(), **self.bound(), **self.at()}),
            lambda: ("find", {"what": rnd.choice(["00 00 ?? 01", '"a"', "u32:1", "u8:7"]), **self.range(), **self.bound(), **self.at()}),
            lambda: ("strings", {**self.range(), **self.bound(), "min": rnd.randrange(3, 9), **self.at()}),
            lambda: ("why", {"what": rnd.choice([self.what(), "branch"]), "depth": rnd.randrange(5), **self.at(), **self.bound()}),
            lambda: ("hot", {**self.range(), "first": rnd.randrange(1, 9), **self.at(), **rnd.choice([{}, {"by": "address"}])}),
            lambda: ("coverage", {**self.range(), **self.bound(), **self.at()}),
            lambda: ("when", self.at()),
            lambda: (rnd.choice(["history", "executions", "events", "why"]),
                     {"what": rnd.choice(["$nope", "nowhere", "0x10:0x5", "$pc+"]), **self.at()}),
        ])()


# arguments, in the order in which words may stand, and the words
WORDS = {"what": "", "kinds": "", "by": "by", "in": "in", "if": "if", "first": "first", "last": "last", "at": "at",
         "depth": "depth", "min": "min"}


def question_of(verb, arguments):
    words = [f"{word} {arguments[name]}" for name, word in WORDS.items() if name in arguments]
    if verb == "hot":
        words = [w.replace("first ", "") for w in words]
        words.sort(key=lambda w: not w.isdigit())
    return " ".join([verb, *words, *(["--changes"] if arguments.get("changes") else [])]).replace("  ", " ")


def monitor(r, question):
    """What a monitor command prints, and its reply if that is no OK."""
    r.send("qRcmd," + question.encode().hex())
    text = ""
    while (reply := r.receive()).startswith("O") and reply != "OK":
        text += bytes.fromhex(reply[1:]).decode()
    if not reply.startswith("E") and reply != "OK":
        text += bytes.fromhex(reply).decode()
    return re.sub(r"^looked through up to .*\n", "", text, flags=re.M)     # progress, once a second


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


for seed, (format_name, path) in enumerate(TRACES.items(), 1):
    add_case(f"all interfaces answer the same on {format_name}", the_doors_agree, path, seed)

run_cases()
