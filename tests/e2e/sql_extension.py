#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracestub.so, the extension of SQLite: in sqlite3's shell and in Python, beside `tracestub sql`."""
import json
import pathlib
import random
import shutil
import subprocess
import sys

from _tap import DATA, LIMIT, TRACESTUB, case, run_cases, skip

EXTENSION = pathlib.Path(TRACESTUB).resolve().with_name("tracestub")
TRACES = {"usercorn 2": DATA / "usercorn/v2_threads.ucir", "x64dbg": DATA / "x64dbg-samples/fib64.trace64.gz",
          "rvnbintrace": DATA / "rvnbintrace-samples/tiny-fib.bin.gz"}


def shell(*statements, opened=(), load=True):
    """What SQLite's own shell prints, in JSON."""
    try:
        args = ["sqlite3", "-batch", "-json", ":memory:"]
        names = ", ".join(f"'{name}'" for name in opened)
        first = [f".load {EXTENSION}"] * load + [f"SELECT tracestub_open({names}) AS opened;"] * bool(opened)
        return subprocess.run(args, input="\n".join([*first, *statements]) + "\n", capture_output=True, text=True, timeout=LIMIT, check=False)
    except FileNotFoundError:
        skip("sqlite3's shell is not installed")


def results(text):
    """The shell prints an array for each statement that has rows."""
    decoder, values = json.JSONDecoder(), []
    while text.strip():
        value, at = decoder.raw_decode(text.lstrip())
        values.append([list(row.values()) for row in value])
        text = text.lstrip()[at:]
    return values


def in_shell(trace, statements):
    """The rows of each statement."""
    marked = [s for i, statement in enumerate(statements) for s in (f"SELECT 'statement {i}' AS mark;", statement + ";")]
    done = shell(*marked, opened=[trace])
    assert not done.stderr, (trace, statements, done.stderr)
    rows = [[] for _ in statements]
    at = -1
    for result in results(done.stdout)[1:]:
        if result == [[f"statement {at + 1}"]]:
            at += 1
        else:
            rows[at] = result
    return rows


def by_tracestub(trace, statements):
    done = subprocess.run([TRACESTUB, "sql", trace, "--quiet", "--json"], input=";\n".join(statements) + ";", capture_output=True,
                          text=True, timeout=LIMIT, check=False)
    rows = [[]]
    for line in done.stdout.splitlines():
        if line.startswith('{"complete":'):
            rows.append([])
        else:
            rows[-1].append(list(json.loads(line).values()))
    assert len(rows) == len(statements) + 1, done
    return rows[:-1]


def python(code):
    """Run by a Python whose sqlite3 loads extensions."""
    for name in "python3", "/usr/bin/python3":
        try:
            can = subprocess.run([name, "-c", "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)"],
                                 capture_output=True, check=False).returncode == 0
        except FileNotFoundError:
            can = False
        if can:
            head = f"import os, signal, sqlite3\ndef connect():\n    db = sqlite3.connect(':memory:')\n    db.enable_load_extension(True)\n" \
                   f"    db.load_extension({str(EXTENSION)!r})\n    return db\n"
            done = subprocess.run([name, "-c", head + code], capture_output=True, text=True, timeout=LIMIT, check=False)
            assert done.returncode == 0, (code, done)
            return done.stdout.splitlines()
    return skip("no Python here has an sqlite3 that loads extensions")


@case
def tables_have_the_rows_of_tracestub_sql():
    statements = ["SELECT * FROM step WHERE position < 40", "SELECT * FROM call LIMIT 30", "SELECT * FROM event", "SELECT * FROM meta",
                  "SELECT * FROM thread", "SELECT * FROM branch WHERE position < 60", "SELECT * FROM mem_write WHERE position < 90",
                  "SELECT * FROM stack(5)", "SELECT * FROM coverage()", "SELECT * FROM map", "SELECT * FROM module", "SELECT * FROM hot(7)",
                  "SELECT count(*), sum(position) FROM step", "SELECT * FROM reg_write WHERE position = 4",
                  "SELECT c.position, max(s.depth) FROM call c, stack(c.begin) s WHERE c.position < 200 GROUP BY 1",
                  "SELECT reg('pc', position), sym(pc), ult(1, -1) FROM step WHERE position < 9"]
    for name, trace in TRACES.items():
        for statement, got, want in zip(statements, in_shell(trace, statements), by_tracestub(trace, statements)):
            assert got == want, (name, statement, got[:3], want[:3])


def clause(rng):
    return rng.choice([lambda: f"position {rng.choice(['<', '<=', '>', '>=', '=', '<>'])} {rng.randrange(-2, 300)}",
                       lambda: f"position BETWEEN {rng.randrange(300)} AND {rng.randrange(300)}",
                       lambda: f"position IN ({rng.randrange(300)}, {rng.randrange(300)}, NULL)",
                       lambda: f"thread {rng.choice(['=', '<>'])} {rng.choice([1, 2, 7])}",
                       lambda: rng.choice(["length > 3", "position > 1.5", "position = '7'", "pc IS NOT NULL", "position = NULL"])])()


@case
def clauses_mean_the_same_in_both():
    rng = random.Random(7)
    statements = []
    for _ in range(60):
        where = rng.choice([" AND ", " OR "]).join(clause(rng) for _ in range(rng.randrange(1, 4)))
        order = rng.choice(["position", "position DESC", "pc, position"])
        tail = rng.choice(["", f" LIMIT {rng.randrange(9)}", f" LIMIT 5 OFFSET {rng.randrange(9)}"])
        statements.append(f"SELECT position, pc, length FROM step WHERE position < 300 AND ({where}) ORDER BY {order}{tail}")
    trace = TRACES["usercorn 2"]
    for statement, got, want in zip(statements, in_shell(trace, statements), by_tracestub(trace, statements)):
        assert got == want, (statement, got[:3], want[:3])


@case
def terms_are_passed_on():
    """The process reads what the terms leave: the plan says so, and a table's order is not made anew."""
    done = shell("EXPLAIN QUERY PLAN SELECT position FROM step WHERE position < 7 AND thread = 1 ORDER BY position DESC;",
                 "EXPLAIN QUERY PLAN SELECT callee FROM call WHERE position = 3;", opened=[TRACES["usercorn 2"]])
    assert "steps: position< thread=" in done.stdout and "calls: position=" in done.stdout, done
    assert "TEMP B-TREE" not in done.stdout, done


@case
def failures_are_errors_of_sql():
    done = shell("SELECT tracestub_open('nowhere.ucir');", "SELECT tracestub_open();", "SELECT tracestub_open(NULL);",
                 f"SELECT tracestub_open('{TRACES['x64dbg']}', '--nope');", f"SELECT tracestub_open('{TRACES['x64dbg']}', '--save', 'x.db');",
                 "SELECT * FROM step;",
                 f"SELECT tracestub_open('{TRACES['x64dbg']}');", "SELECT * FROM history('nope');", "SELECT reg('nope', 1);",
                 "SELECT reg(1);", "SELECT 7 AS last;")
    said = done.stderr.splitlines()
    for line, words in zip(said, ("nowhere.ucir: cannot open it: No such file", "are names of recordings", "are names of recordings",
                                  "--nope", "usage: tracestub sql", "no such table: step", "'nope' is neither an address nor a known symbol",
                                  "'nope' is not a register", "wrong number of arguments to function reg()")):
        assert words in line, (words, line)
    assert results(done.stdout)[-1] == [[7]], done


@case
def what_is_opened_last_is_asked():
    """Also by statements that were prepared before, which Python keeps."""
    a, b = TRACES["x64dbg"], TRACES["usercorn 2"]
    lines = python(f"""
db, other = connect(), connect()
ask = "SELECT count(*) FROM step"
for path in {str(a)!r}, {str(b)!r}, {str(a)!r}:
    db.execute("SELECT tracestub_open(?)", (path,))
    print(db.execute(ask).fetchone()[0], db.execute("SELECT reg('pc', 3)").fetchone()[0])
db.load_extension({str(EXTENSION)!r})
other.execute("SELECT tracestub_open(?)", ({str(b)!r},))
rows = db.execute("SELECT position FROM step")
print(next(rows), other.execute(ask).fetchone()[0], db.execute(ask).fetchone()[0])
db.execute("SELECT tracestub_open(?)", ({str(b)!r},))
print(next(rows), db.execute(ask).fetchone()[0])
db.execute("SELECT tracestub_open(?, ?)", ({str(a)!r}, {str(b)!r}))
print(db.execute("SELECT count(DISTINCT recording) FROM step WHERE position < 3").fetchone()[0])
print(db.execute("SELECT reg(?, 'pc', 3)", ({str(a)!r},)).fetchone()[0])
try:
    db.execute("SELECT reg('pc', 3)")
except sqlite3.OperationalError as error:
    print(error)
del rows, db
print(other.execute(ask).fetchone()[0])
""")
    n = {t: by_tracestub(t, ["SELECT count(*) FROM step", "SELECT reg('pc', 3)"]) for t in (a, b)}
    steps, pc = ({t: values[i][0][0] for t, values in n.items()} for i in (0, 1))
    assert lines[:3] == [f"{steps[t]} {pc[t]}" for t in (a, b, a)], (lines, n)
    assert lines[3:5] == [f"(0,) {steps[b]} {steps[a]}", f"(1,) {steps[b]}"], (lines, n)
    assert lines[5:7] == ["2", str(pc[a])] and "names a recording" in lines[7] and lines[8] == str(steps[b]), (lines, n)


@case
def a_process_that_ends_is_an_error():
    """The reading process is killed, and the process with the extension is copied."""
    lines = python(f"""
db = connect()
db.execute("SELECT tracestub_open(?)", ({str(TRACES['x64dbg'])!r},))
rows = db.execute("SELECT position FROM step")
next(rows)
if not os.fork():
    try:
        db.execute("SELECT count(*) FROM step").fetchone()
    except sqlite3.OperationalError as error:
        os.write(1, (str(error) + "\\n").encode())
    os._exit(0)
os.wait()
children = open(f"/proc/{{os.getpid()}}/task/{{os.getpid()}}/children").read().split()
os.kill(int(children[0]), signal.SIGKILL)
for statement in "SELECT count(*) FROM step", "SELECT sym(1)":
    try:
        db.execute(statement).fetchone()
        print("no error")
    except sqlite3.OperationalError as error:
        print(error)
db.execute("SELECT tracestub_open(?)", ({str(TRACES['x64dbg'])!r},))
print(db.execute("SELECT min(position) FROM step").fetchone()[0])
""")
    assert "copy of the one that opened the recording" in lines[0] and lines[3:] == ["0"], lines
    assert all("the process that reads the recording has ended" in line for line in lines[1:3]), lines


@case
def warnings_and_cuts_are_said():
    whole = DATA.joinpath("usercorn/x64_walk.ucir").read_bytes()
    pathlib.Path("short.ucir").write_bytes(whole[: len(whole) * 2 // 3])
    done = shell("SELECT count(*) > 0 FROM step;", opened=["short.ucir"])
    assert results(done.stdout)[1:] == [[[1]]] and "short.ucir" in done.stderr, done
    done = shell("SELECT count(*) FROM loops();", opened=[DATA / "bap-samples/tw-x86_64.frames.gz"])
    assert "the result is not complete: loops by" in done.stderr, done


# Passes messages on to the real program; the first filter is answered when a SIGINT has come, as one that has no rows for long.
SLOW = """#!{python}
import os, signal, struct, subprocess, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
real = subprocess.Popen([{program!r}, *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def message(f):
    head = f.read(4)
    return head + f.read(struct.unpack("<I", head)[0]) if head else b""
asked = open(0, "rb", closefd=False)
os.write(1, message(real.stdout))
is_first = True
while (request := message(asked)):
    if request[4:5] == b"F" and is_first:
        is_first = False
        open({marker!r}, "w").close()
        signal.sigwait([signal.SIGINT])
        os.write(1, struct.pack("<III", 19, 9, 11) + b"interrupted")
    else:
        real.stdin.write(request)
        real.stdin.flush()
        os.write(1, message(real.stdout))
"""


@case
def an_interrupt_ends_a_statement_without_rows():
    """No row comes between which SQLite could look whether the statement is to end; what is asked afterwards is answered."""
    folder = pathlib.Path("slow").resolve()
    folder.mkdir()
    shutil.copy(EXTENSION.with_suffix(".so"), folder)
    folder.joinpath("tracestub").write_text(SLOW.format(python=sys.executable, program=str(pathlib.Path(TRACESTUB).resolve()),
                                                         marker=str(folder / 'asked')))
    folder.joinpath("tracestub").chmod(0o755)
    lines = python(f"""
import threading, time
db = sqlite3.connect(':memory:', check_same_thread=False)
db.enable_load_extension(True)
db.load_extension({str(folder / 'tracestub')!r})
db.execute("SELECT tracestub_open(?)", ({str(TRACES['x64dbg'])!r},))
def interrupt():
    while not os.path.exists({str(folder / 'asked')!r}):
        time.sleep(0.01)
    db.interrupt()
thread = threading.Thread(target=interrupt)
thread.start()
try:
    print(db.execute("SELECT count(*) FROM step").fetchone())
except sqlite3.OperationalError as error:
    print(error)
thread.join()
print(db.execute("SELECT max(position) FROM step WHERE position < 100").fetchone()[0])
""")
    assert lines == ["interrupted", "99"], lines


@case
def an_interrupt_ends_the_opening_of_a_recording():
    """The first process reads for ever; the connection can be used afterwards."""
    folder = pathlib.Path("opening").resolve()
    folder.mkdir()
    shutil.copy(EXTENSION.with_suffix(".so"), folder)
    folder.joinpath("tracestub").write_text(f"""#!/bin/sh
[ -e {folder}/asked ] && exec {pathlib.Path(TRACESTUB).resolve()} "$@"
: > {folder}/asked
trap '' INT
exec sleep {2 * LIMIT}
""")
    folder.joinpath("tracestub").chmod(0o755)
    lines = python(f"""
import threading, time
db = sqlite3.connect(':memory:', check_same_thread=False)
db.enable_load_extension(True)
db.load_extension({str(folder / 'tracestub')!r})
def interrupt():
    while not os.path.exists({str(folder / 'asked')!r}):
        time.sleep(0.01)
    db.interrupt()
thread = threading.Thread(target=interrupt)
thread.start()
try:
    print(db.execute("SELECT tracestub_open(?)", ({str(TRACES['x64dbg'])!r},)).fetchone())
except sqlite3.OperationalError as error:
    print(error)
thread.join()
db.execute("SELECT tracestub_open(?)", ({str(TRACES['x64dbg'])!r},))
print(db.execute("SELECT max(position) FROM step WHERE position < 100").fetchone()[0])
""")
    assert lines == ["interrupted", "99"], lines


run_cases()
