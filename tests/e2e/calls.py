# SPDX-License-Identifier: MIT
"""calls and stack of five processors' recordings, against a search in the recorder's own list of positions.

The list has pc and registers at each position and no memory: where calls push, a step is taken for one if the stack
pointer goes down by a word and control goes elsewhere; it returns if control comes back to shortly after it.
"""
import functools
import gzip
import json
import re
import subprocess

from _ask import Asker
from _programs import Program
from _tap import DATA, TRACESTUB, add_case, case, run_cases

# word, the link register, bytes from a call to its return address (None: calls push)
PROCESSORS = {
    "x64_walk": (8, None, "rsp"), "x86_walk": (4, None, "esp"), "x64_crash": (8, None, "rsp"),
    "x64_lib": (8, None, "rsp"), "arm_walk": (4, ("lr", 4), "sp"), "arm64_walk": (8, ("lr", 4), "sp"),
    "mips_walk": (4, ("ra", 8), "sp"),
}
LONGEST = 7     # bytes of an x86 call instruction
BASE = 0x555555554000   # of tests/data/programs/pie


asker = functools.cache(Asker)      # a process for each recording


def query(name, *words):
    return query_trace(DATA / f"usercorn/{name}.ucir", *words)


def query_trace(trace, *words, options=()):
    rows, end = asker(trace, "--index", "none", *options).answer(" ".join(words))
    assert end["complete"], end
    return rows


def positions(name):
    """pc, sp, link register at each position."""
    _, link, sp = PROCESSORS[name]
    regs, out = {}, []
    for line in gzip.open(DATA / f"usercorn/{name}.positions.gz", "rt"):
        words = line.split()
        regs.update(w.split("=") for w in words[2:])
        out.append((int(words[1], 16), int(regs[sp], 16), int(regs.get(link[0], "0"), 16) if link else 0))
    return out


def find_calls(name):
    word, link, _ = PROCESSORS[name]
    at = positions(name)
    calls = []
    for k in range(len(at) - 1):
        (pc, sp, _), (new_pc, new_sp, new_lr) = at[k], at[k + 1]
        target, ret = new_pc, pc + (link[1] if link else 0)
        if link and link[1] == 8:           # its delay slot
            target = at[k + 2][0] if k + 2 < len(at) else ret
        if link and not (new_lr == ret and target != ret):
            continue
        if not link and not (sp - new_sp == word and not pc < new_pc <= pc + LONGEST + 8):
            continue
        calls.append([k, new_sp, ret, target])
    return at, calls


def find_ends(name):
    """position -> (end, kind, depth, pc, target)"""
    _, link, _ = PROCESSORS[name]
    at, calls = find_calls(name)
    rows = {}
    open_calls = []
    begins = {c[0] + 1: c for c in calls}
    for p, (pc, sp, _) in enumerate(at):
        def is_over(c):
            return pc == c[2] and sp >= c[1] if link else sp > c[1]
        first = next((i for i, c in enumerate(open_calls) if is_over(c)), len(open_calls))
        for c in open_calls[first:]:
            returns = pc == c[2] if link else 0 < pc - at[c[0]][0] <= LONGEST
            rows[c[0]][:2] = [p, "return" if returns else "unwound"]
        del open_calls[first:]
        if p in begins:
            open_calls.append(begins[p])
            rows[p - 1] = [None, "open", len(open_calls), at[p - 1][0], begins[p][3]]
    return rows


def calls_are_those_of_a_search(name):
    want = find_ends(name)
    got = {r["position"]: [r["end"], r["kind"], r["depth"], int(r["pc"], 16), int(r["address"], 16)]
           for r in query(name, "calls")}
    assert len(want) > 3, len(want)
    for k in sorted(want.keys() | got.keys()):
        assert want.get(k) == got.get(k), f"{name}: call at {k}: {got.get(k)}, not {want.get(k)}"


def stacks_are_the_open_calls(name):
    want = find_ends(name)
    last = len(positions(name)) - 1
    for p in range(0, last, last // 20):
        is_open = [k for k, x in want.items() if k + 1 <= p and (x[0] is None or x[0] > p)]
        assert [r["position"] for r in query(name, "stack", "at", str(p))] == [p] + sorted(is_open, reverse=True), p


@case
def arguments_are_the_registers_at_the_beginning():
    row = query("x64_walk", "calls", "in", ":2000")[0]
    regs = {}
    for line in gzip.open(DATA / "usercorn/x64_walk.positions.gz", "rt"):
        words = line.split()
        regs.update(w.split("=") for w in words[2:])
        if int(words[0]) == row["begin"]:
            break
    assert row["arguments"] == ["0x" + regs[r] for r in ("rdi", "rsi", "rdx", "rcx", "r8", "r9")], row


def windows_arguments_are_the_registers_at_the_beginning(name):
    """x64dbg's recordings are of Windows: four arguments in registers, whatever the program itself takes."""
    regs, at = {}, []
    for line in gzip.open(DATA / f"x64dbg-samples/{name}.truth.gz", "rt"):
        regs.update(w.split("=") for w in line.split()[1:])
        at.append(dict(regs))
    rows = query_trace(DATA / f"x64dbg-samples/{name}.trace64.gz", "calls")
    assert len({tuple(row["arguments"]) for row in rows}) > 5, rows
    for row in rows:
        begin = at[row["begin"]]
        assert row["arguments"] == ["0x" + begin[r] for r in ("rcx", "rdx", "r8", "r9")], row
        assert row["address"] == "0x" + begin["rip"], row
        if row["kind"] == "return":
            assert row["result"] == "0x" + at[row["end"]]["rax"], row


@case
def arguments_on_the_stack_are_those_of_the_recursion():
    """fib(n) calls fib(n - 1) and fib(n - 2), and returns their sum; i386 passes n on the stack."""
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    rows = query_trace(DATA / "x64dbg-samples/fib32.trace32.gz", "calls")
    by_target = {}
    for row in rows:
        by_target.setdefault(row["address"], []).append(row)
    calls = max(by_target.values(), key=len)
    assert len(calls) == 15 and int(calls[0]["arguments"][0], 16) == 5, calls
    for row in calls:
        n = int(row["arguments"][0], 16)
        assert int(row["result"], 16) == fib(n), row
        inner = [int(r["arguments"][0], 16) for r in calls
                 if r["depth"] == row["depth"] + 1 and row["begin"] <= r["position"] < row["end"]]
        assert inner == ([n - 1, n - 2] if n > 1 else []), (row, inner)


@case
def the_previous_return_is_the_last_end_of_a_call_that_returned():
    ends = [r["end"] for r in query("x64_lib", "calls") if r["kind"] == "return"]
    n = len(positions("x64_lib")) - 1
    assert [r["position"] for r in query("x64_lib", "goto", "previous return")] == [max(e for e in ends if e < n)]


@case
def a_function_of_a_library_is_called_by_the_name_without_plt():
    """The instructions that call an entry of the linkage table, by objdump, where the oracle has them."""
    program = Program("pie", "ucir")
    text = subprocess.run(["objdump", "-d", program.exec], capture_output=True, text=True, check=True).stdout
    pcs = program.pcs()
    said = subprocess.run([TRACESTUB, "query", program.trace, "threads", "--exec", program.exec], capture_output=True, text=True)
    has_libc = "libc.so.6: not the file that was recorded" not in said.stderr
    for name in "malloc", "printf":
        sites = {BASE + int(site, 16) for site in re.findall(rf"^ *(\w+):.*call.*<{name}@plt>$", text, re.M)}
        assert sites, name
        wanted = [k for k, pc in enumerate(pcs) if pc in sites]
        for asked in name, f"{name[:-1]}?", f"{name}@plt":
            rows = query_trace(program.trace, "calls", asked, options=("--exec", program.exec))
            assert [row["position"] for row in rows if row["pc"] in map(hex, sites)] == wanted, (asked, rows)
            # a name alone is the function that runs, by whichever way, under the first of its names, if libc is the recorded one
            assert (f"{name}@plt" in {row["callee"] for row in rows}) == (asked != name or not has_libc), rows
        # in SQL the name alone is not the column's: it is said, and FROM call(NAME) is the verb's answer with columns
        options = ("--exec", program.exec, "--json")
        done = [subprocess.run([TRACESTUB, "sql", program.trace, *options, f"SELECT position, pc, arg0 FROM call{rest}"],
                               capture_output=True, text=True) for rest in (f" WHERE callee = '{name}'", f"('{name}')")]
        named, asked = ([json.loads(line) for line in text.stdout.splitlines()] for text in done)
        assert f"FROM call('{name}')" in named[-1]["note"] and f"{name}@plt" in done[0].stderr, named
        assert not any(hex(row["pc"]) in map(hex, sites) for row in named[:-1]), named
        rows = query_trace(program.trace, "calls", name, options=("--exec", program.exec))
        assert [(row["position"], row["pc"], row["arg0"]) for row in asked[:-1]] == [
            (row["position"], int(row["pc"], 16), int(row["arguments"][0], 16)) for row in rows], asked
        assert "note" not in asked[-1], asked


@case
def a_pattern_that_matches_no_function_is_noted():
    """Of a function that exists and was never called nothing is said but that there are no rows."""
    program = Program("pie", "ucir")
    names = subprocess.run(["nm", program.exec], capture_output=True, text=True, check=True).stdout
    assert "transfer" not in names and " _fini\n" in names
    words = [TRACESTUB, "query", "--index", "none", "--json", "--quiet"]

    def end(trace, *rest):
        got = subprocess.run([*words, trace, *rest], capture_output=True, text=True)
        return json.loads(got.stdout.splitlines()[-1])

    got = end(program.trace, "calls", "*transfer*", "--exec", program.exec)
    assert got == {"complete": True, "rows": 0, "total": 0, "note": "the name of no known function matches '*transfer*'"}, got
    assert end(program.trace, "calls", "_fin?", "in", "0:1", "--exec", program.exec) == {"complete": True, "rows": 0, "total": 0}
    got = end(DATA / "x64dbg-samples/fib32.trace32.gz", "calls", "*fib*")
    assert got["note"] == "no functions are known, so none matches '*fib*'", got


@case
def calls_from_the_end_are_the_same():
    rows = query("x64_lib", "calls")
    for n in 1, 5, 100, len(rows):
        got = subprocess.run([TRACESTUB, "query", "--index", "none", "--json", "--quiet", DATA / "usercorn/x64_lib.ucir",
                              "calls", "last", str(n)], capture_output=True, text=True)
        assert [json.loads(line) for line in got.stdout.splitlines()][:-1] == rows[-n:], n


@case
def calls_are_narrowed_down():
    rows = query("x64_lib", "calls")
    target = rows[5]["address"]
    assert query("x64_lib", "calls", target) == [r for r in rows if r["address"] == target]
    assert query("x64_lib", "calls", "depth", "2") == [r for r in rows if r["depth"] <= 2]
    assert query("x64_lib", "calls", "in", "1000:5000") == [r for r in rows if 1000 <= r["position"] < 5000]
    assert query("x64_lib", "calls", "if", "$rdi == 1") == [r for r in rows if r["arguments"][0] == "0x1"]


for _name in PROCESSORS:
    add_case(f"calls of {_name} are those of a search", calls_are_those_of_a_search, _name)
    add_case(f"stacks of {_name} are the open calls", stacks_are_the_open_calls, _name)
for _name in "fib64", "list64":
    add_case(f"calls of {_name} have the arguments of Windows", windows_arguments_are_the_registers_at_the_beginning, _name)
run_cases()
