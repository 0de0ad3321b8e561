# SPDX-License-Identifier: MIT
"""why, last-write and flows beside an independent slicer (_slice.py), at random positions about random places of real programs.

Nothing that is certainly part of a value is lost, nothing is called start or input that is none, and the last writer is the
step that wrote last.  Each byte that is certainly made of others is one to which these flow, and no byte that is not.
SLICES=N asks N questions of each recording, about its first SLICES_MAX positions; SEED=N others than
usual; SLICES_TRACE=FILE (and SLICES_OPTIONS) asks about that recording only.
"""
import collections
import gzip
import os
import pathlib
import random
import re
import shutil
import subprocess

from _slice import ANY, INPUT, MAPPED, MARK, START, Recorded, tid_of
from _slice_more import Mips, RiscV
from _slice_risc import A64, Arm
from _slice_x86 import X86
from _tap import DATA, TRACESTUB, add_case, run_cases, skip

N = int(os.environ.get("SLICES", 50))
N_FLOWS = int(os.environ.get("SLICES_FLOWS", N // 25))
N_FOLLOWED = 200        # steps after each
SEED = int(os.environ.get("SEED", 27))
BATCH = 50
MAX_OPEN = float(os.environ.get("SLICES_OPEN", 1 / 3))      # share of answers that may end at something unknown
X86_RECORDINGS = ("usercorn/x64_walk.ucir", "usercorn/x86_walk.ucir", "usercorn/x64_fpu.ucir", "usercorn/x64_lib.ucir",
                  "bap-samples/tw-x86_64.frames.gz", "bap-samples/plug-i386.frames.gz", "gdbrecord-samples/walk64.core.gz",
                  "gdbrecord-samples/walk32.core.gz", "rvnbintrace-samples/tiny-fib.bin.gz", "x64dbg-samples/fib64.trace64.gz", "x64dbg-samples/list64.trace64.gz", "x64dbg-samples/threads-flagless.trace64.gz",
                  "x64dbg-samples/fib32.trace32.gz", "programs/static/story.ucir.gz", "programs/static/story.frames.gz",
                  "programs/static/story.bin.gz", "programs/static/story.trace64.gz", "programs/pie/story.frames.gz")
X86_REGISTERS = "rax rbx rcx rdx rsi rdi rbp r8 r9 r10 r12 r13 r14 r15 eax edx al ah bl cx xmm0 xmm1".split()
FLAG_BITS = {"$CF": 0, "$PF": 2, "$ZF": 6, "$SF": 7, "$OF": 11}


SLICERS = {"i386:x86-64": X86, "i386": X86, "aarch64": A64, "arm": Arm, "armv7": Arm, "mips": Mips, "riscv:rv64": RiscV, "riscv:rv32": RiscV}
OTHERS = ("usercorn/arm64_walk.ucir", "gdbrecord-samples/list-aarch64.core.gz", "usercorn/arm_walk.ucir", "usercorn/mips_walk.ucir",
          "bap-samples/tw-arm.frames.gz")     # not list-arm.core: gdb did not record what strh stores


def cells(text):
    """Rows of a table as text."""
    names = []
    for line in text.splitlines():      # lines of progress may come first
        if line.startswith("#"):
            names = line.split()
        elif re.match(r"\d+  ", line) and names:
            yield dict(zip(names, re.split(r"\s{2,}", line.strip())))


class Questions:
    """Places that can be asked about, and how the answers are to be read."""

    def __init__(self, slicer, rng):
        self.s, self.rng = slicer, rng
        self.has_flags = isinstance(slicer, X86)
        if self.has_flags:
            names = [n for n in X86_REGISTERS if (slicer.is_64 or n[0] != "r") and (n[:3] != "xmm" or n in slicer.r.registers)]
        else:
            names = [n for n in slicer.asked if n in slicer.r.registers]
        self.registers = {name: slicer.register_of(name) for name in names}
        self.recent = collections.deque(maxlen=400)

    def choose(self):
        """(WHAT, places)"""
        s, rng = self.s, self.rng
        kind = rng.random()
        if kind < 0.5 or (not self.recent if kind < 0.85 else not self.has_flags):
            name = rng.choice(list(self.registers))
            return f"${name}", s.register(*self.registers[name])
        if kind < 0.85:
            first = rng.choice(self.recent)
            size = rng.choice((1, 2, 4, 8, 8, 16))
            return f"{first:#x},{size}", list(range(first, first + size))
        name = rng.choice(list(FLAG_BITS))
        return name, [s.flag(FLAG_BITS[name])]


def place_of(slicer, text):
    """The places of a cell of the column place."""
    if m := re.match(r"(0x[0-9a-f]+),(\d+)$", text):
        return list(range(int(m[1], 16), int(m[1], 16) + int(m[2])))
    places = []
    for m in re.finditer(r"\$(\w+)(?:\[(\d+):(\d+)\])?", text):
        places += slicer.places_named(*m.groups())
    return places


def check_why(slicer, rows, wanted, asked):
    """What is wrong with the leaves; None: nothing."""
    sets = slicer.sets.sets
    must, may = sets[wanted[0]], sets[wanted[1]]
    got, everywhere, is_open = set(), set(), False
    for row in rows:
        at = slicer.of_thread(row.get("thread", "-"), lambda: place_of(slicer, row.get("place", "-")))
        kind = row["kind"]
        if kind == "cut" or (kind == "unknown" and (not at or not slicer.lost.isdisjoint(at))):
            is_open = True
        elif kind == "unknown" or kind == "map":
            everywhere.update(at)
        elif kind == "input":
            got.update((INPUT, p, int(row["position"])) for p in at)
            if not at:
                everywhere.update(p for k, p, pos in must | may if k == INPUT and pos == int(row["position"]))
        elif kind == "start":
            got.update((START, p, 0) for p in at)
    everywhere.update(p for kind, p, _ in got if (MAPPED, p, 0) in must)    # a file's bytes, or zeros
    asked["open"] += is_open
    lost = [x for x in must if x not in got and x[1] not in everywhere]
    is_any = any(x[0] == ANY for x in may)
    false = [x for x in got if x not in may and (MAPPED, x[1], 0) not in may and x[1] not in slicer.lost] if not is_any else []
    if lost and not is_open:
        return "lost", sorted(lost)[:6]
    return ("false", sorted(false)[:6]) if false else None


def check_writer(slicer, rows, writers):
    """The last step that wrote any of the places."""
    if any(w is None for w in writers) or any(row.get("kind") == "unexplained" for row in rows):
        return None
    last = max(writers)
    got = max((int(row["position"]) for row in rows if row.get("position", "-") != "-"), default=-1)
    return None if got == last else ("writer", got, last)


def slices(trace, options, n, seed):
    rng = random.Random(seed)
    recorded = Recorded(trace, *options, n_max=int(os.environ.get("SLICES_MAX", 2000)))
    try:
        slicer = SLICERS[recorded.architecture](recorded)
        slicer.decode_all()
        questions = Questions(slicer, rng)
        wrong, asked = compare(slicer, recorded, questions, n, rng)
        for _ in range(N_FLOWS):
            wrong += follow(slicer, recorded, questions, rng, asked)
        print(f"# not followed: {[x for x in slicer.unknown.most_common(12) if x[1]]}")
        return wrong, asked
    finally:
        recorded.close()


def turn_to(slicer, recorded, k):
    """Registers are those of the thread at position k."""
    slicer.look_at(recorded.threads[min(k, recorded.n - 1)])


def follow(slicer, recorded, questions, rng, asked):
    """A question each of flows, history and steps: what is wrong with the rows."""
    at = rng.randrange(recorded.n - 1)
    end = min(recorded.n - (recorded.n - 1 in recorded.calls), at + N_FOLLOWED)     # an exit returns nothing
    for k in range(max(0, at - 4), at):     # an IT block of ARM may have begun there
        slicer.step(k)
    turn_to(slicer, recorded, at)
    what, places = questions.choose()
    slicer.shadow, slicer.writer = dict.fromkeys(places, slicer.leaf(MARK, at)), {}
    wanted = {}         # (step, place): whether it is certainly made of the marked bytes, and whether it may be
    writes = {}         # step: whether it certainly writes them
    written = {}        # step: registers that it certainly writes, and those that it may
    for k in range(at, end):
        slicer.step(k)
        turn_to(slicer, recorded, k)
        for place in slicer.new:
            must, may = (slicer.sets.sets[i] for i in slicer.shadow[place])
            is_certain = slicer.writer[place] == k and place not in slicer.lost
            wanted[k, place] = is_certain and (MARK, at, 0) in must, any(kind in (MARK, ANY) for kind, _, _ in may)
        written[k] = [{p for p in slicer.new if p < 0 and not slicer.is_flag(p) and (slicer.writer[p] == k or not is_certain)}
                      for is_certain in (True, False)]
        if any(p in slicer.new or slicer.writer.get(p, -1) in (k, None) for p in places):
            writes[k] = any(slicer.writer.get(p) == k for p in places)
    flows, history, steps = recorded.console(f"flows {what} at {at} in {at}:{end}" if what not in FLAG_BITS else "when",
                                             f"history {what} at {at} in {at}:{end}", f"steps in {at}:{end}")
    rows = list(cells(history))
    wrong = [("history lost", [k for k, is_certain in writes.items() if is_certain and str(k) not in {r["position"] for r in rows}]),
             ("history false", [r["position"] for r in rows if r["kind"] == "write" and int(r["position"]) not in writes])]
    wrong += check_steps(slicer, recorded, list(cells(steps)), written)
    asked["rows of history"] += len(rows)
    asked["registers written"] += sum(len(certain) for certain, _ in written.values())
    if what not in FLAG_BITS:
        wrong += check_flows(slicer, recorded, list(cells(flows)), wanted)
        asked["flows"] += 1
        asked["bytes they came to"] += sum(must for must, _ in wanted.values())
    return [(at, what, kind, found[:6]) for kind, found in wrong if found]


def check_steps(slicer, recorded, rows, written):
    lost, false = [], []
    for row in rows:
        k = int(row["position"])
        turn_to(slicer, recorded, k)
        got = {p for item in re.findall(r"\$[^=]+", row["writes"]) if re.match(r"\w+", item[1:])[0] not in slicer.ignored for p in place_of(slicer, item)}
        got = {p for p in got if not slicer.is_flag(p)}
        ignored = {p for name in slicer.ignored if name in recorded.registers for p in slicer.register(*recorded.registers[name])}
        lost += [(k, p) for p in sorted(written[k][0] - got - ignored)]
        false += [(k, p) for p in sorted(got - written[k][1])]
    return [("steps lost", lost), ("steps false", false)]


def check_flows(slicer, recorded, rows, wanted):
    got = set()
    for row in rows:
        if row["kind"] in ("copy", "compute"):
            turn_to(slicer, recorded, int(row["position"]))
            got.update((int(row["position"]), place) for place in place_of(slicer, row["place"]))
    return [("flows lost", sorted(x for x, (must, _) in wanted.items() if must and x not in got and not slicer.is_flag(x[1]))),
            ("flows false", sorted(x for x in got if not wanted.get(x, (0, 1))[1]))]


def compare(slicer, recorded, questions, n, rng):
    wrong, asked, batch = [], collections.Counter(), []
    positions = sorted(rng.randrange(1, recorded.n + 1) for _ in range(n))
    k = 0
    for at in positions:
        while k < at:
            slicer.step(k)
            questions.recent.extend(p for p in slicer.new if p >= 0)
            k += 1
        turn_to(slicer, recorded, at)
        what, places = questions.choose()
        batch.append((at, what, places, slicer.mix(places), [slicer.writer.get(p, -1) for p in places]))
        if len(batch) == BATCH or at == positions[-1]:
            ask(slicer, recorded, batch, wrong, asked)
            batch = []
    return wrong, asked


def ask(slicer, recorded, batch, wrong, asked):
    commands = []
    for at, what, *_ in batch:
        who = f" thread {tid_of(recorded.threads[min(at, recorded.n - 1)])}" if len(set(recorded.threads)) > 1 and what[:2] != "0x" else ""
        commands += [f"why {what} at {at}{who} inputs", f"last-write {what} at {at}{who}"]
    answers = list(recorded.console(*commands))
    for (at, what, places, wanted, writers), why, last in zip(batch, answers[::2], answers[1::2]):
        turn_to(slicer, recorded, at)
        rows = list(cells(why))
        for row in rows:
            asked[row["kind"]] += 1
        asked["questions"] += 1
        asked["with leaves"] += wanted[0] != 0
        asked["certain writers"] += None not in writers
        for found in (check_why(slicer, rows, wanted, asked), check_writer(slicer, list(cells(last)), writers)):
            if found:
                wrong.append((at, what, *found))


def unpacked(path):
    if path.suffix != ".gz":
        return path
    plain = pathlib.Path(path.name[:-3])
    with gzip.open(path) as packed, open(plain, "wb") as out:
        shutil.copyfileobj(packed, out)
    return plain


def agrees(trace, options):
    trace = unpacked(trace)
    if "walk64.elf" in options:
        unpacked(DATA / "tenet-samples/walk64.elf.gz")
    wrong, asked = slices(str(trace), options, N, SEED)
    print(f"# {trace}: {dict(asked)}", flush=True)
    assert asked["open"] <= N * MAX_OPEN, f"too much is unknown: {asked['open']} of {N}"
    assert not wrong, f"{len(wrong)} wrong:\n" + "\n".join(map(str, wrong[:20]))


def agrees_when_recorded_here(compiler, *options):
    """Of this processor no sample is kept: story.c, recorded in QEMU."""
    compiler = shutil.which(compiler) or skip(f"no {compiler}")
    subprocess.run([compiler, *options, "-static", "-w", DATA / "programs/story.c", "-o", "story"], check=True)
    got = subprocess.run([TRACESTUB, "record", "-o", "here.ucir", "./story"], capture_output=True, text=True)
    if not os.path.exists("here.ucir"):
        skip(f"not recorded: {got.stderr.strip()}")
    agrees(pathlib.Path("here.ucir"), ())


def the_exit_writes_the_whole_register():
    """It changes al alone of eax; the slicer has all of eax from the system."""
    trace = DATA / "usercorn/x64_fpu.ucir"
    for register in ("$eax", "$al", "$ah", "$rax"):
        for question in ("why {}", "last-write {}", "history {} in 0:2055 last 1"):
            question = f"{question.format(register)} at 2055"
            done = subprocess.run([TRACESTUB, "query", trace, question], capture_output=True, text=True, check=True)
            names, *rows = [line.split("\t") for line in done.stdout.splitlines()]
            assert [row[names.index("position")] for row in rows] == ["2054"], (question, rows)
            if question.startswith("why"):
                assert [(row[names.index("kind")], row[names.index("place")]) for row in rows] == [("input", register)], rows
    done = subprocess.run([TRACESTUB, "query", trace, "steps in 2054:2055"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1].split("\t")[-1] == "$rax=0x0", done.stdout     # rcx and r11 are not written without a return


if "SLICES_TRACE" in os.environ:
    add_case("a recording", agrees, pathlib.Path(os.environ["SLICES_TRACE"]), os.environ.get("SLICES_OPTIONS", "").split())
else:
    for name in (*X86_RECORDINGS, *OTHERS):
        add_case(name, agrees, DATA / name, ())
    add_case("riscv64, -O2", agrees_when_recorded_here, "riscv64-linux-gnu-gcc", "-O2")
    add_case("the exit", the_exit_writes_the_whole_register)
    add_case("tenet", agrees, DATA / "tenet-samples/pin-walk64.log.gz", ("--exec", "walk64.elf"))
run_cases()
