# SPDX-License-Identifier: MIT
"""An independent slicer: which bytes each byte of a recording was made of, found by one walk forwards.

It shares nothing with tracestub's own search for causes: instructions are decoded by objdump, what they do is written down
in _slice_*.py, and the walk goes forwards, with a shadow of each byte, where "why" goes backwards.  Registers and events
come from tracestub, which other tests compare with the truth.

A place is a number: an address; below 0 a byte of a thread's registers, or a flag.  The shadow of a place is a pair of sets
of leaves: those that certainly are part of it, and those that may be.  ANY in the second one stands for all.  A leaf is
(kind, place, position): INPUT from the kernel, START of the recording, MAPPED memory, which begins anew.
"""
import collections
import json
import re
import subprocess

from _rsp import Rsp
from _server import Server
from _tap import TRACESTUB

INPUT, START, MAPPED, ANY = "input", "start", "map", "any"
THREAD = 1 << 16        # places of a thread's registers
FLAGS = 1 << 15         # its flags follow its registers
REGISTER = re.compile(r'<reg name="([^"]+)"([^>]*)>')


def objdump(program, options, codes, slot=32, nop=b"\x90", comment="#"):
    """(text, length) of the instruction that each of @codes begins with; None if it is none."""
    blob, starts, found = b"", {}, dict.fromkeys(codes)
    for code in codes:
        starts[len(blob)] = code
        # what follows it may be cut in two: nothing of that reaches the next one
        blob += code + nop * ((slot - len(code)) // len(nop))
    with open("slice.bin", "wb") as out:
        out.write(blob)
    got = subprocess.run([program, "-D", "-z", "-b", "binary", "-w", "--insn-width=16", *options, "slice.bin"],
                         capture_output=True, text=True, check=True)
    for line in got.stdout.splitlines():
        parts = line.split("\t")
        if len(parts) < 3 or not parts[0].strip().endswith(":"):
            continue
        code = starts.get(int(parts[0].strip()[:-1], 16))
        if code is not None:
            text = re.split(rf"\s+(?:{comment}|<)", " ".join(parts[2:]))[0].strip()
            found[code] = text, len(parts[1].replace(" ", "")) // 2
    return found


class Recorded:
    """A recording as positions: registers, code, the kernel's writes, maps."""

    def __init__(self, trace, *options, n_max=None):
        self.trace, self.options = trace, ("--index", "none", *options)
        info = subprocess.run([TRACESTUB, "info", trace, *options], capture_output=True, text=True).stdout
        self.server = Server(trace, *self.options, "--quiet")
        self.rsp = Rsp(self.server.address)
        self.rsp.ask("qSupported:swbreak+;hwbreak+;xmlRegisters=i386")
        xml = self.description("target.xml")
        self.registers = self.place(xml)
        self.architecture = re.search("<architecture>([^<]*)", xml)[1]
        self.pc = self.registers[next(n for n in ("rip", "eip", "pc") if n in self.registers)]
        self.is_big = "big-endian" in info
        self.states, self.threads = [], []
        self.read_states(n_max)
        self.n = len(self.states) - 1
        self.code = {}
        self.writes, self.maps, self.calls = collections.defaultdict(list), collections.defaultdict(list), set()
        self.unexplained = collections.defaultdict(list)
        self.read_events()

    @staticmethod
    def place(xml):
        """Offset in the 'g' packet and bytes of each register: they lie there in the order of their numbers."""
        found, number, off, places = [], -1, 0, {}
        for name, rest in REGISTER.findall(xml):
            given = re.search(r'regnum="(\d+)"', rest)
            number = int(given[1]) if given else number + 1
            found.append((number, name, int(re.search(r'bitsize="(\d+)"', rest)[1]) // 8))
        for number, name, size in sorted(found):
            places[name] = off, size
            off += size
        return places

    def description(self, name):
        text, at = "", 0
        while True:
            part = self.rsp.ask(f"qXfer:features:read:{name}:{at:x},3000")
            text, at = text + part[1:], at + len(part) - 1
            if part[0] == "l":
                return re.sub(r'<xi:include href="([^"]+)"/>', lambda m: self.description(m[1]), text)

    def console(self, *commands):
        """What "monitor COMMAND" prints, for each."""
        self.rsp.send(*("qRcmd," + c.encode().hex() for c in commands))
        for command in commands:
            text = ""
            while (got := self.rsp.receive()) != "OK":
                assert got[:1] != "E", (command, got)
                text += bytes.fromhex(got[1:]).decode()
            yield text

    def ask(self, *words):
        """Rows of a question."""
        got = subprocess.run([TRACESTUB, "query", self.trace, *words, "--json", "--quiet", *self.options], capture_output=True,
                             text=True)
        assert got.returncode in (0, 1), got
        return [json.loads(line) for line in got.stdout.splitlines()][:-1]

    def read_states(self, n_max):
        n = self.ask("when")[0]["positions"]
        next(self.console("goto 0"))
        n = min(n, n_max) if n_max else n
        if len(self.ask("threads")) > 1:
            self.read_states_of_threads(n)
            return
        self.rsp.ask("?")
        thread = re.search("thread:([^;]+)", self.rsp.ask("?"))[1]
        self.states.append(self.rsp.ask("g"))
        self.threads.append(thread)
        for first in range(0, n, 500):
            count = min(500, n - first)
            got = self.rsp.ask_all(["s", "g"] * count)
            for stop, state in zip(got[::2], got[1::2]):
                found = re.search("thread:([^;]+)", stop)
                self.threads.append(found[1] if found else self.threads[-1])
                self.states.append(state)

    def read_events(self):
        events = self.ask("events")
        kept = {e["position"] for e in events if e["kind"] == "syscall" and e["name"] in ("mprotect", "pkey_mprotect")}
        for e in events:
            if e["kind"] == "syscall":
                self.calls.add(e["position"])
            elif e["kind"] in ("map", "unmap") and e["text"] and e["position"] not in kept:
                first, end = (int(x, 16) for x in re.match(r"(0x\w+):(0x\w+)", e["text"]).groups())
                self.maps[e["position"]].append((first, end))
        top = "0xffffffffffffffff" if int(self.pc[1]) == 8 else "0xffffffff"
        for w in self.ask("accesses", f"0x0:{top}", "w", "in", f"0:{self.n}"):
            self.writes[w["position"]].append((int(w["address"], 16), w["length"]))
        for u in self.ask("unexplained"):
            if u["address"]:
                self.unexplained[u["position"]].append((int(u["address"], 16), u["length"]))

    def read_states_of_threads(self, n):
        """A step is one of the thread that steps: each position is gone to."""
        for k in range(n + 1):
            next(self.console(f"goto {k}"))
            self.threads.append(re.search("thread:([^;]+)", self.rsp.ask("?"))[1])
            self.rsp.ask(f"Hg{self.threads[-1]}")
            self.states.append(self.rsp.ask("g"))

    def value(self, k, off, size):
        """Bytes of a register at position k as a number; None if not all are known."""
        text = self.states[k][2 * off:2 * (off + size)]
        return None if "x" in text or len(text) < 2 * size else \
            int.from_bytes(bytes.fromhex(text), "big" if self.is_big else "little")

    def code_at(self, k, length):
        """Bytes of code at position k's pc, as far as they are known."""
        pc = self.value(k, *self.pc)
        if pc not in self.code:
            next(self.console(f"goto {k}"))
            got = self.rsp.ask(f"m{pc:x},{length:x}") if pc is not None else "E"
            self.code[pc] = b"" if got.startswith("E") else bytes.fromhex(got.split("x")[0][:2 * length])
        return self.code[pc]

    def close(self):
        self.rsp.close()
        self.server.close()


class Sets:
    """Sets of leaves by number; unions are made once."""

    def __init__(self):
        self.sets, self.numbers, self.unions = [frozenset()], {frozenset(): 0}, {}

    def number(self, items):
        items = frozenset(items)
        if items not in self.numbers:
            self.numbers[items] = len(self.sets)
            self.sets.append(items)
        return self.numbers[items]

    def union(self, a, b):
        if a == b or not b:
            return a
        if not a:
            return b
        key = (a, b) if a < b else (b, a)
        if key not in self.unions:
            self.unions[key] = self.number(self.sets[a] | self.sets[b])
        return self.unions[key]


def tid_of(thread):
    """The number of a thread that packets call p1.6040."""
    return int(thread.split(".")[-1], 16)


class Slicer:
    """The shadow of each place, and which step wrote it last: None if that is not certain."""

    def __init__(self, recorded):
        self.r, self.sets = recorded, Sets()
        self.shadow, self.writer = {}, {}
        self.any = self.sets.number({(ANY, 0, 0)})
        self.mapped = []
        self.k, self.base = 0, 0
        self.numbers = {}
        self.unknown = collections.Counter()
        self.lost = set()       # memory that a store wrote which the recording lacks: tracewrap leaves out those of vectors

    def enter(self, k):
        """The step from position k on is looked at."""
        self.k = k
        self.look_at(self.r.threads[k])
        self.new = {}

    def look_at(self, thread):
        """Registers are those of the thread, as packets name it."""
        self.base = -(self.numbers.setdefault(tid_of(thread), len(self.numbers)) + 1) * THREAD

    def of_thread(self, tid, result):
        """result() with registers of the thread of a row; "-": as before."""
        kept = self.base
        if tid != "-" and len(self.numbers) > 1:
            self.base = -(self.numbers[int(tid)] + 1) * THREAD
        got = result()
        self.base = kept
        return got

    def register(self, off, size):
        return [self.base + off + i for i in range(size)]

    def flag(self, bit):
        return self.base + FLAGS + bit

    def leaf(self, kind, place, position=0):
        number = self.sets.number({(kind, place, position)})
        return number, number

    def get(self, place):
        if place not in self.shadow:
            is_mapped = place >= 0 and any(first <= place < end for first, end in self.mapped)
            self.shadow[place] = self.leaf(MAPPED if is_mapped else START, place)
        return self.shadow[place]

    def put(self, place, sets, is_certain=True):
        self.new[place] = sets, is_certain

    def mix(self, *lists):
        """The sets of all places of lists; None in place of a list: something that is not known."""
        must = may = 0
        for places in lists:
            if places is None:
                may = self.sets.union(may, self.any)
                continue
            for place in places:
                a, b = self.get(place)
                must, may = self.sets.union(must, a), self.sets.union(may, b)
        return must, may

    def join(self, *pairs):
        must = may = 0
        for a, b in pairs:
            must, may = self.sets.union(must, a), self.sets.union(may, b)
        return must, may

    def maybe(self, sets):
        """Nothing of it is certain, and there may be more."""
        return 0, self.sets.union(sets[1], self.any)

    def leave(self):
        """What the step wrote becomes the state; registers that changed besides are the kernel's, or unexplained."""
        k, r = self.k, self.r
        is_call = k in r.calls
        seen = {p for first, length in r.writes.get(k, ()) for p in range(first, first + length)}
        lost = {p for p in self.new if p >= 0 and p not in seen} if r.writes else set()
        self.lost |= lost
        self.unknown["stores that the recording lacks"] += bool(lost)
        for place, (sets, is_certain) in self.new.items():
            is_certain &= place < 0 or place in seen or not r.writes
            self.shadow[place], self.writer[place] = sets, k if is_certain else None
        for place in seen.difference(self.new):     # the kernel, of a format that has no system calls
            self.shadow[place], self.writer[place] = (0, self.any), k
        if is_call:
            for first, length in r.writes.get(k, ()):
                for place in range(first, first + length):
                    self.shadow[place], self.writer[place] = self.leaf(INPUT, place, k), k
        for first, length in r.unexplained.get(k, ()):      # nobody knows since when it is there
            for place in range(first, first + length):
                self.shadow[place], self.writer[place] = (0, self.any), None
        for first, end in r.maps.get(k, ()):
            self.mapped.append((first, end))
            for place in [p for p in self.shadow if first <= p < end]:
                self.shadow[place], self.writer[place] = self.leaf(MAPPED, place), None
        if k < r.n and r.threads[k + 1] == r.threads[k]:
            self.compare(k, is_call)

    def compare(self, k, is_call):
        a, b = self.r.states[k], self.r.states[k + 1]
        if a == b:
            return
        for name, (off, size) in self.r.registers.items():
            if (off, size) == self.r.pc or a[2 * off:2 * (off + size)] == b[2 * off:2 * (off + size)]:
                continue
            for i in range(off, off + size):
                if a[2 * i:2 * i + 2] == b[2 * i:2 * i + 2] or self.base + i in self.new or name in self.ignored:
                    continue
                if is_call:
                    self.shadow[self.base + i], self.writer[self.base + i] = self.leaf(INPUT, self.base + i, k), k
                else:
                    self.shadow[self.base + i], self.writer[self.base + i] = (0, self.any), None
                    self.unknown[f"changed {name}"] += 1

    ignored = ()
