#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`ts calls FUNCTION if COND` and `executions` with conditions on variables, which gdb compiles, in programs with and
without optimisation, of which the calls are known by what they print; in gdb with its Python and without it.
"""
import contextlib
import pathlib
import re
import subprocess

from _gdb import Gdb
from _record import LIMIT, build, record, recorder
from _sentences import NO_BREAKPOINTS
from _tap import SRCDIR, TRACESTUB, add_case, run_cases

INIT = SRCDIR / "gdbinit"


class Selected:
    """The recording of selected.c, as a recording of _recording.py."""
    @staticmethod
    def gdb():
        return "gdb"

    def __init__(self, options):
        self.name = "selected" + options.replace(" ", "")
        self.exec = build("selected.c", self.name, f"-g -w -fno-ipa-icf {options}")
        self.trace = f"{self.name}.ucir"
        recorder()
        done = record(self.trace, self.exec)
        assert done.returncode == 0, done
        self.log = [(name, int(a), int(b)) for name, a, b in (line.split() for line in done.stdout.splitlines())]
        assert len(self.log) > 60

    def copy_sources(self, folder):
        pass


def quotient(a, b):
    """C's."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def is_selected(condition):
    """For each condition the same in Python, about the numbers that the program has printed."""
    return {"n > 3": lambda a, b, i: a > 3,
            "n < 3 && n != 0": lambda a, b, i: a in (1, 2),
            "(n & 1) == 0 || n == 5": lambda a, b, i: a % 2 == 0 or a == 5,
            "p->next == 0": lambda a, b, i: b == 1,                 # the call without a node: memory at 8 is not known
            "p && p->value / 10 == 2": lambda a, b, i: a == 20,
            "value / by > 2": lambda a, b, i: b != 0 and quotient(a, b) > 2,     # by zero nothing holds
            "counter >= 10": lambda a, b, i: i >= 10,               # before this call it was counted up i times
            "value == 20": lambda a, b, i: a == 20}[condition]


QUESTIONS = [("is_even", "n > 3"), ("is_odd", "n < 3 && n != 0"), ("fib", "n > 3"), ("fib", "(n & 1) == 0 || n == 5"),
             ("length", "p->next == 0"), ("length", "p && p->value / 10 == 2"), ("ratio", "value / by > 2"),
             ("ratio", "counter >= 10"), ("ratio", "value == 20")]


def rows(g, question):
    """The first two numbers of each row, which are all."""
    g(question)
    found = [tuple(map(int, row)) for row in re.findall(r"^ *\d+ +(\d+) +(\d+) ", g.text, re.M)]
    g.expect(rf"^{len(found) or 'no'} rows?$")
    return found


@contextlib.contextmanager
def session(program, has_python=True, log=False):
    init = INIT
    with Gdb(program, "--exec", program.exec, log=log) as g:
        if not has_python:
            init = pathlib.Path(g.folder, "without_python.gdb")
            init.write_text(INIT.read_text().replace("if !$_isvoid($_streq)", "if 0"))
        g(f"source {init}")
        yield g


def check_question(g, program, function, condition):
    activations = [(a, b) for name, a, b in program.log if name == function]
    holds = is_selected(condition)
    every = rows(g, f"ts executions {function}")
    assert len(every) == len(activations), (function, every, activations)
    want = [row for i, (row, (a, b)) in enumerate(zip(every, activations)) if holds(a, b, i)]
    assert 0 < len(want) < len(every), (function, condition)
    got = rows(g, f"ts executions {function} if {condition}")
    assert got == want, (function, condition, got, want, str(g))
    begins = {position for position, _ in want}
    want = [row for row in rows(g, f"ts calls {function}") if row[1] in begins]
    got = rows(g, f"ts calls {function} if {condition}")
    assert got == want, (function, condition, got, want, str(g))


def what_is_not_judged_is_not_shown(g, has_python):
    for question, why in (("ts calls fib if nosuch > 3", 'No symbol "nosuch" in current context'),
                          ("ts calls fib if n > 1.5", "types in less than" if has_python else "gdb sent no expression"),
                          ("ts calls if n > 3", "'if n > 3': it compares"), ("ts calls f* if n > 3", "'if n > 3': it compares"),
                          ("ts executions fib,8 if n > 3", "'if n > 3': it compares")):
        g(question)
        g.expect(re.escape(why))
        g.expect_not(r"rows?$")
    begin = rows(g, "ts calls fib")[0]
    g("break fib if n == 1")
    g("disable")
    assert rows(g, "ts calls fib if n == 6") == [begin]
    g("condition $bpnum" if has_python else "tbreak fib")       # a breakpoint without condition at the same place
    if has_python:
        assert rows(g, "ts calls fib if n == 6") == [begin]
    else:
        g("ts calls fib if n == 6")
        g.expect("gdb sent no expression")
        g.expect_not(r"rows?$")
    g("delete")
    g("info breakpoints")
    g.expect(NO_BREAKPOINTS)


def words_may_stand_anywhere(g, program):
    """With Python; and an address is as good as the function."""
    n_3 = rows(g, "ts calls fib if n == 3 in 0:end")
    assert len(n_3) == sum(entry[:2] == ("fib", 3) for entry in program.log) == 3
    g("ts calls fib last 1 if n == 3 || n == 3 || n == 3 || n == 3")       # more words than a define has
    g.expect(rf"^1 +{n_3[-1][0]} ")
    assert rows(g, f"ts calls {g.address('&*fib'):#x} if n == 3") == n_3
    g("break fib")
    here = int(g.expect(r"Breakpoint \d+ at (0x[0-9a-f]+)")[1], 16)
    g("delete")
    stops = rows(g, f"ts executions {here:#x} if n == 3")       # as a breakpoint there
    assert len(stops) == 3 and all(begin < at for (_, begin), (at, _) in zip(n_3, stops)), (stops, n_3)
    g(f"break *{here:#x} if n == 3")
    g("goto begin")
    for position, _ in stops:
        g("continue")
        g("monitor when")
        assert int(g.expect(r"position (\d+)")[1]) == position, (stops, str(g))
    g("delete")


def every_door_takes_what_gdb_has_compiled(g, program):
    rows(g, "ts calls fib if n > 3")
    sent = [bytes.fromhex(p[6:]).decode() for p in g.packets("qRcmd,")]
    question = next(q for q in sent if q.startswith("calls ") and " agent " in q)
    want = rows(g, f"monitor {question}")
    assert want
    done = subprocess.run([TRACESTUB, "query", "--quiet", program.trace, *question.split(), "--exec", program.exec], text=True,
                          capture_output=True, timeout=LIMIT)
    assert [tuple(map(int, line.split("\t")[:2])) for line in done.stdout.splitlines()[1:]] == want, done


def run(options, is_whole):
    program = Selected(options)
    with session(program) as g:
        for function, condition in QUESTIONS if is_whole else QUESTIONS[::3]:
            check_question(g, program, function, condition)
        if is_whole:
            what_is_not_judged_is_not_shown(g, True)
            words_may_stand_anywhere(g, program)
    if options == "-O0 -static":    # gdb's log of packets has no libraries
        with session(program, log=True) as g:
            every_door_takes_what_gdb_has_compiled(g, program)
    with session(program, has_python=False) as g:
        for function, condition in QUESTIONS[4:6]:
            check_question(g, program, function, condition)
        if is_whole:
            what_is_not_judged_is_not_shown(g, False)


for _options in "-O0 -pie", "-O0 -static", "-O2 -pie", "-O2 -static":
    add_case(f"conditions on variables select the calls of a program with {_options}", run, _options, _options == "-O0 -pie")
run_cases()
