# SPDX-License-Identifier: MIT
"""Random questions about a recording of each format, and how a monitor command is sent: for tests of all interfaces."""
import random
import re

from _forms import json_lines, query
from _tap import DATA

TRACES = {
    "usercorn": DATA / "usercorn/x64_walk.ucir",
    "x64dbg": DATA / "x64dbg-samples/fib64.trace64.gz",
    "bap": DATA / "bap-samples/tw-x86_64.frames.gz",
    "rvnbintrace": DATA / "rvnbintrace-samples/tiny-fib.bin.gz",
    "gdbrecord": DATA / "gdbrecord-samples/walk64.core.gz",
    "tenet": DATA / "tenet-samples/pin-walk64.log.gz",
    "threads": DATA / "x64dbg-samples/threads-flagless.trace64.gz",
    "tfile": DATA / "tfile-samples/work-regs.tf",
}
# Of other processors, position-independent, one that begins inside of frames, one with flags and vectors.
MORE_TRACES = {
    "x86": DATA / "usercorn/x86_walk.ucir",
    "arm": DATA / "usercorn/arm_walk.ucir",
    "mips": DATA / "usercorn/mips_walk.ucir",
    "pie": DATA / "programs/pie/story.trace64.gz",
    "inside of frames": DATA / "gdbrecord-samples/ring64.core.gz",
    "recorded": DATA / "record/gate.ucir",
}
REGS = "$pc $sp $flags $ZF $CF $al $ah $ax $eax $rbx $xmm3 $st0 $fp".split()


class Questions:
    """Random ones about a recording, as words: the verb, and the arguments of its tool."""
    def __init__(self, trace, seed):
        self.rnd = random.Random(seed)
        ends, _ = json_lines(query(trace, "when", "--json").stdout)
        self.n = int(ends[0]["positions"].text)
        pcs, _ = json_lines(query(trace, "history $pc first 3000", "--json").stdout)
        sps, _ = json_lines(query(trace, "history $sp first 500", "--json").stdout)
        self.pcs = [r["pc"] for r in pcs]
        self.stack = [r["new"] for r in sps if str(r["new"]).startswith("0x")] or ["0x1000"]
        threads, _ = json_lines(query(trace, "threads in 0:", "--json").stdout)
        self.threads = [int(t["thread"].text) for t in threads]

    def position(self):
        return self.rnd.randrange(self.n + 1)

    def memory(self):
        rnd = self.rnd
        addr = max(0, int(rnd.choice(self.stack), 16) + rnd.randrange(-64, 64)) if rnd.random() < .7 else int(rnd.choice(self.pcs), 16)
        return rnd.choice([f"{addr:#x}", f"{addr:#x},{rnd.randrange(1, 40)}", f"{addr:#x}:{addr + 16:#x}"])

    def area(self):
        addr = int(self.rnd.choice(self.stack), 16)
        return f"{addr:#x}:{addr + 4096:#x}"

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

    def thread(self):
        return self.rnd.choice([{}, {}, {"thread": self.rnd.choice(self.threads)}])

    def next(self):
        rnd = self.rnd
        near = rnd.choice(["last", "next"])
        return rnd.choice([
            lambda: ("history", {"what": self.what(), **self.range(), **self.bound(), **self.at(), **self.value(),
                                 **self.thread(), **rnd.choice([{}, {"changes": True}])}),
            lambda: ("accesses", {"what": self.memory(), "kinds": rnd.choice(["r", "w", "x", "rwx"]), **self.range(), **self.bound(),
                                  **self.at(), **self.value(), **self.thread(), **rnd.choice([{}, {"changes": True}])}),
            lambda: (f"{near}-{rnd.choice(['write', 'change'])}", {"what": self.what(), **self.at()}),
            lambda: (f"{near}-{rnd.choice(['read', 'access', 'exec'])}", {"what": self.memory(), **self.at()}),
            lambda: ("executions", {"what": self.code(), **self.range(), **self.bound(), **self.at(), **self.thread(),
                                    **rnd.choice([{}, {"if": "$sp > 0x1000 && $al != 3"}])}),
            lambda: ("calls", {**self.range(), **self.bound(), **self.thread(), **rnd.choice([{}, {"depth": 2}, {"what": self.code()}]),
                               **rnd.choice([{}, {"if": "$sp > 0x1000"}])}),
            lambda: ("stack", {**self.at(), **self.bound(), **self.thread()}),
            lambda: ("events", {**self.range(), **self.bound(), **rnd.choice([{}, {"what": "syscall"}, {"what": "exit"}])}),
            lambda: (rnd.choice(["threads", "processes", "modules", "maps"]), {**self.range(), **self.bound(), **self.at()}),
            lambda: ("find", {"what": rnd.choice(["00 00 ?? 01", '"a"', "u32:1", "u8:7"]), **self.range(), **self.bound(), **self.at(),
                              **rnd.choice([{}, {"memory": self.area()}])}),
            lambda: ("strings", {**rnd.choice([{}, {"what": self.memory()}]), **self.range(), **self.bound(), "min": rnd.randrange(3, 9),
                                 **self.at()}),
            lambda: ("why", {"what": rnd.choice([self.what(), "branch"]), "depth": rnd.randrange(5), **self.at(), **self.bound()}),
            lambda: ("hot", {**self.range(), "first": rnd.randrange(1, 9), **self.at(), **rnd.choice([{}, {"by": "address"}])}),
            lambda: ("coverage", {**self.range(), **self.bound(), **self.at()}),
            lambda: ("when", self.at()),
            lambda: ("goto", {"what": rnd.choice([str(self.position()), "begin", "end", f"{rnd.randrange(101)}%"])}),
            lambda: (rnd.choice(["history", "executions", "events", "why"]),
                     {"what": rnd.choice(["$nope", "nowhere", "0x10:0x5", "$pc+"]), **self.at()}),
        ])()


# arguments, in the order in which words may stand, and the words
WORDS = {"what": "", "kinds": "", "memory": "in memory", "by": "by", "in": "in", "if": "if", "first": "first", "last": "last", "at": "at", "thread": "thread",
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
    return re.sub(r"^(looked through|preparing: read) up to .*\n", "", text, flags=re.M)     # progress, once a second
