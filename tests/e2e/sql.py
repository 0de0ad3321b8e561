#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tracestub sql`: its tables beside the verbs' rows, its WHERE clauses beside SQLite's over a copy of the same rows."""
import csv
import io
import json
import pathlib
import random
import re
import sqlite3
import subprocess

from _forms import LIMIT, json_lines, query
from _tap import DATA, TRACESTUB, add_case, case, run_cases

TRACES = {
    "usercorn": DATA / "usercorn/x64_walk.ucir",
    "usercorn 2": DATA / "usercorn/v2_threads.ucir",
    "x64dbg": DATA / "x64dbg-samples/fib64.trace64.gz",
    "bap": DATA / "bap-samples/tw-x86_64.frames.gz",
    "rvnbintrace": DATA / "rvnbintrace-samples/tiny-fib.bin.gz",
    "tenet": DATA / "tenet-samples/wtf-walk64.log.gz",
    "tfile": DATA / "tfile-samples/work-regs.tf",
}


def run(trace, *args, **kw):
    """@args: further recordings, the statement, and options."""
    return subprocess.run([TRACESTUB, "sql", trace, "--quiet", *args], capture_output=True, text=True, timeout=LIMIT,
                          check=False, **kw)


def rows_of(statement, lines):
    """Those of one result, as lists in the order of the columns; takes its lines from the iterator."""
    rows = []
    for line in lines:
        if line.startswith('{"complete":'):
            end = json.loads(line)
            is_open = " FROM branch " in statement and not rows     # no code is known: comparisons are not known
            assert end == {"complete": True, "rows": len(rows), "total": len(rows)} or (is_open and end["complete"] is False), \
                (statement, line)
            return rows
        rows.append(json.loads(line, object_pairs_hook=lambda pairs: [v for _, v in pairs]))
    raise AssertionError(f"{statement}: the result has no end after {len(rows)} rows")


def select(trace, statement):
    done = run(trace, statement, "--json")
    assert done.returncode in (0, 1), (statement, done)
    lines = iter(done.stdout.splitlines())
    rows = rows_of(statement, lines)
    assert done.returncode == (0 if rows else 1) and not list(lines), (statement, done)
    return rows


def select_all(trace, statements):
    """The rows of each, asked of one process."""
    done = run(trace, "--json", input=";\n".join(statements) + ";")
    assert done.returncode in (0, 1), (statements, done)
    lines = iter(done.stdout.splitlines())
    results = [rows_of(statement, lines) for statement in statements]
    assert not list(lines), done
    return results


def ask(trace, question):
    done = subprocess.run([TRACESTUB, "query", trace, "--quiet", "--json", *question.split()], capture_output=True, text=True,
                          timeout=LIMIT, check=False)
    assert done.returncode in (0, 1), (question, done)
    return [json.loads(line) for line in done.stdout.splitlines()[:-1]]


def as_sql(value):
    """A cell of a verb's row as SQL has it: numbers, signed where they have 64 bits."""
    if isinstance(value, str) and value.startswith("0x") and len(value) <= 18:
        number = int(value, 16)
        return number - (1 << 64) if number >> 63 else number
    if isinstance(value, list):
        return ", ".join(value)
    return value


def bounds(trace):
    n = select(trace, "SELECT value FROM meta WHERE key = 'positions'")[0][0]
    return n, f"in 0:{min(n, 400)}", f"position < {min(n, 400)}"


def tables_have_the_rows_of_the_verbs(trace):
    n, words, where = bounds(trace)
    pairs = [
        ("step", f"steps {words}", where, ["position", "thread", "pc", "module", "offset", "function", "length", "bytes",
                                           "instruction"]),
        ("call", "calls first 200", "1 ORDER BY position LIMIT 200", ["position", "begin", "end", "kind", "thread", "depth", "pc",
                                                                      "caller", "address", "callee", "result"]),
        ("event", "events", "1", ["position", "thread", "kind", "name", "result", "error"]),
        ("thread", "threads in 0:end", "1", ["thread", "process", "begin", "end", "steps", "name"]),
        ("branch", f"compares {words}", where, ["position", "pc", "instruction", "taken", "target", "left", "right"]),
        ("module", "modules in 0:end", "1", ["begin", "end", "address", "length", "file"]),
        ("map", "maps in 0:end", "1", ["begin", "end", "address", "length", "kind", "file"]),
        ("mark", "marks", "1", ["position", "mark", "text"]),
        ("coverage()", "coverage", "1", ["address", "length", "steps"]),
        ("executions((SELECT min(pc) FROM step WHERE position < 5))", None, "1", ["position"]),
    ]
    selected = select_all(trace, ["SELECT {} FROM {} WHERE {}".format(", ".join(f'"{c}"' for c in columns), table, condition)
                                  for table, _, condition, columns in pairs])
    for (table, question, condition, columns), rows in zip(pairs, selected):
        if question:
            want = [[as_sql(row[c]) for c in columns] for row in ask(trace, question)]
            assert rows == want, (table, rows[:3], want[:3], len(rows), len(want))
        else:
            assert rows, table
    assert select(trace, "SELECT count(*) FROM step")[0][0] == n


def writes_are_those_of_the_history(trace):
    n, words, where = bounds(trace)
    registers = [row["register"] for row in ask(trace, "registers at 0")][:3]
    for reg in registers:
        rows = select(trace, f"SELECT position, old, new, kind FROM reg_write WHERE reg = '{reg}' AND {where}")
        if reg in ("rip", "eip", "pc"):
            continue
        want = [[row["position"], as_sql(row["old"]), as_sql(row["new"]), row["kind"]]
                for tid in {r["thread"] for r in ask(trace, "threads in 0:end")}
                for row in ask(trace, f"history ${reg} {words} thread {tid}")]
        assert sorted(map(repr, rows)) == sorted(map(repr, want)), (reg, rows[:3], want[:3])
    written = select(trace, f"SELECT position, address, length, new, new_bytes FROM mem_write WHERE {where} LIMIT 8")
    for position, address, length, _, new_bytes in written:
        if address < 0 or length > 8 or trace == TRACES["rvnbintrace"]:
            continue
        shown = ask(trace, f"memory {address},{length} at {position + 1}")
        assert not new_bytes or shown[0]["bytes"] == new_bytes, (position, address, shown, new_bytes)


def clauses(rng, n, addresses):
    term = rng.choice([
        lambda: f"position {rng.choice(['<', '<=', '>', '>=', '=', '<>'])} {rng.randrange(-2, n + 3)}",
        lambda: f"position BETWEEN {rng.randrange(n)} AND {rng.randrange(n + 5)}",
        lambda: f"position IN ({rng.randrange(n)}, {rng.randrange(n)}, NULL)",
        lambda: f"thread {rng.choice(['=', '<>', '>'])} {rng.choice([1, 2, 1000, 4711])}",
        lambda: f"{rng.choice(['pc', 'address'])} {rng.choice(['<', '>=', '=', '>'])} {rng.choice(addresses)}",
        lambda: f"{rng.choice(['pc', 'address'])} BETWEEN {rng.choice(addresses)} AND {rng.choice(addresses)}",
        lambda: rng.choice(["position > 1.5", "position < '7'", "position = NULL", "pc > 1e3", "length > 4", "thread IS NOT NULL",
                            "position = 9223372036854775807", "position > -1", "address < -1", "address > -5"]),
    ])()
    return term


def skipping(rng, limit):
    """OFFSET where each position has a row; SQLite itself skips rows of each part of a UNION ALL."""
    def part():
        low = rng.choice([f"position >= {rng.randrange(limit)}", f"position > {rng.randrange(limit)}.5", f"{rng.randrange(limit)} <= position",
                          "position IN (3, 5, 7)", "length > 2", "position BETWEEN 4 AND 90"])
        return f"SELECT position FROM step WHERE position < {limit} AND {low}"

    tail = f"LIMIT {rng.choice([-1, 3, 50])} OFFSET {rng.choice([-1, 0, 1, 2, 40, limit // 2, limit, limit + 1])}"
    order = rng.choice(["", "ORDER BY position", "ORDER BY position DESC"])
    return rng.choice([f"{part()} {order} {tail}", f"{part()} {order} {tail}", f"{part()} UNION ALL {part()} {tail}",
                       f"SELECT * FROM ({part()} UNION ALL {part()}) {tail}"])


def clauses_mean_what_sqlite_says(trace):
    """The same statements over a copied table: SQLite itself is the oracle."""
    rng = random.Random(31)
    n, _, _ = bounds(trace)
    limit = min(n, 600)
    for table, columns in ("step", "position, thread, pc, length"), ("mem_write", "position, thread, pc, address, length, new"):
        if table == "mem_write" and trace == TRACES["rvnbintrace"]:
            continue  # a machine's memory is asked for by page
        rows = select(trace, f"SELECT {columns} FROM {table} WHERE position < {limit}")
        copy = sqlite3.connect(":memory:")
        copy.execute(f"CREATE TABLE {table}({columns})")
        copy.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(columns.split(',')))})", rows)
        addresses = [v for row in rows[:: max(1, len(rows) // 30)] for v in row[2:4] if v is not None] or [0]
        statements = []
        for _ in range(12):
            terms = [clauses(rng, limit, addresses) for _ in range(rng.randrange(1, 4))]
            if table == "step":
                terms = [t.replace("address", "pc") for t in terms]
            where = rng.choice([" AND ", " OR "]).join(terms)
            order = rng.choice(["ORDER BY position, 3, 4, 5", "ORDER BY position DESC, 3, 4, 5", "ORDER BY 3, 1, 4, 5"])
            if table == "step":
                order = order.replace(", 5", "")
            tail = rng.choice(["", f" LIMIT {rng.randrange(9)}", f" LIMIT 5 OFFSET {rng.randrange(9)}"])
            statements.append(f"SELECT {columns} FROM {table} WHERE position < {limit} AND ({where}) {order}{tail}")
        if table == "step":
            statements += [skipping(rng, limit) for _ in range(16)]
        for statement, got in zip(statements, select_all(trace, statements)):
            want = [list(row) for row in copy.execute(statement)]
            assert got == want, (statement, [row for row in got if row not in want][:4], [row for row in want if row not in got][:4])


for format_name, path in TRACES.items():
    add_case(f"tables have the rows of the verbs: {format_name}", tables_have_the_rows_of_the_verbs, path)
    add_case(f"writes are those of the history: {format_name}", writes_are_those_of_the_history, path)
    add_case(f"clauses mean what SQLite says: {format_name}", clauses_mean_what_sqlite_says, path)


def copied(rows, table, columns):
    copy = sqlite3.connect(":memory:")
    copy.execute(f"CREATE TABLE {table}({columns})")
    copy.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(columns.split(',')))})", rows)
    return copy


def name_clause(rng, names, table):
    name = rng.choice(names)
    return rng.choice([lambda: f"{table[1]} = '{name}'", lambda: f"{table[1]} IN ('{name}', '{rng.choice(names)}')",
                       lambda: f"{table[1]} GLOB '{name[:2]}*'", lambda: f"{table[1]} GLOB '[{name[0]}a-c]*'",
                       lambda: f"{table[1]} = '{name}' AND thread = 1", lambda: f"{table[1]} <> '{name}'",
                       lambda: f"depth {rng.choice(['<', '<=', '=', '>'])} {rng.choice([0, 1, 2, 3, -1, 2.5, 'NULL'])}"
                       if table[0] == "call" else f"position >= {rng.randrange(300)} AND {table[1]} = '{name}'",
                       lambda: f"{table[1]} IS NULL", lambda: f"{table[1]} = 'syscall'", lambda: f"{table[1]} = 'nope'"])()


@case
def clauses_about_names_mean_what_sqlite_says():
    """callee, function, kind and depth narrow the question; SQLite over a copy is the oracle."""
    rng = random.Random(9)
    trace, program = DATA / "programs/static/story.ucir.gz", DATA / "programs/static/prog"
    tables = {("call", "callee"): "position, kind, depth, callee, thread, address",
              ("step", "function"): "position, thread, pc, function, length", ("event", "kind"): "position, thread, kind, name"}
    for table, columns in tables.items():
        part = "position < 3000" if table[0] == "step" else "1"
        done = run(trace, f"SELECT {columns} FROM {table[0]} WHERE {part}", "--json", "--exec", program)
        rows = rows_of(table, iter(done.stdout.splitlines()))
        copy = copied(rows, table[0], columns)
        names = sorted({row[columns.split(", ").index(table[1])] or "none" for row in rows}) + ["nope", "*", "a b", "[x", '" OR 1 --']
        assert len(names) > (5 if table[0] == "event" else 6), (table, names)
        statements = []
        for _ in range(25):
            where = rng.choice([" AND ", " OR "]).join(name_clause(rng, names, table) for _ in range(rng.randrange(1, 3)))
            order = rng.choice(["position, 2, 3, 4", "position DESC, 2, 3, 4"])
            statements += [f"SELECT {columns} FROM {table[0]} WHERE {part} AND ({where}) ORDER BY {order}",
                           f"SELECT count(*) FROM {table[0]} WHERE {part} AND ({where})"]
        statements += [f"SELECT count(*) FROM {table[0]} WHERE position < 77",
                       f"SELECT count(*) FROM (SELECT 1 FROM {table[0]} LIMIT 5 OFFSET 3)"]
        done = run(trace, "--json", "--exec", program, input=";\n".join(statements) + ";")
        lines = iter(done.stdout.splitlines())
        for statement in statements:
            got, want = rows_of(statement, lines), [list(row) for row in copy.execute(statement)]
            assert got == want, (statement, len(got), len(want), [row for row in got if row not in want][:4],
                                 [row for row in want if row not in got][:4], done.stderr)


@case
def rows_that_are_only_counted_are_not_looked_at():
    """The steps of several recordings, with numbers of rows that differ."""
    assert select(TRACES["usercorn"], "SELECT count(DISTINCT rowid) FROM step")[0] == select(TRACES["usercorn"], "SELECT count(*) FROM step")[0]
    counts = [select(t, "SELECT count(*), sum(position >= 0) FROM step")[0] for t in TRACES.values()]
    assert all(a == b for a, b in counts) and of_several("SELECT count(*) FROM step") == [[sum(a for a, _ in counts)]], counts


@case
def statuses_and_sentences():
    trace = TRACES["usercorn"]
    for statement, status, said in (
            ("SELECT 1", 0, ""), ("SELECT 1 WHERE 0", 1, ""), ("SELEC 1", 2, 'near "SELEC": syntax error'),
            ("SELECT * FROM nope", 2, "no such table: nope"), ("SELECT nope FROM step", 2, "no such column: nope"),
            ("ATTACH 'x.db' AS x", 2, "can only be read"), ("CREATE TABLE x(y)", 2, "can only be read"),
            ("PRAGMA journal_mode = DELETE", 2, "can only be read"), ("DELETE FROM step", 2, ""),
            ("SELECT load_extension('x')", 2, "not authorized"), ("VACUUM INTO 'x.db'", 2, "can only be read"),
            ("SELECT * FROM history('nope')", 2, "'nope' is neither an address nor a known symbol"),
            ("SELECT * FROM history", 2, "register, an address or a symbol"), ("SELECT reg('nope', 1)", 2, "is not a register"),
            (".nope", 2, "'.nope' is not a command")):
        done = run(trace, statement)
        assert done.returncode == status and said in done.stderr, (statement, done)
        assert status != 2 or (not done.stdout and len(done.stderr.splitlines()) == 1), (statement, done)
    assert run("nowhere.ucir", "SELECT 1").returncode == 3
    assert not pathlib.Path("x.db").exists()
    assert run(trace, "SELECT 1", "-f", "x").returncode == 2
    assert run(trace, "-f", "nowhere.sql").returncode == 3


@case
def the_forms_say_the_same():
    trace = TRACES["usercorn"]
    statement = "SELECT position, instruction, NULL AS empty, 'a,\"b' || char(10) AS text FROM step LIMIT 3"
    rows = select(trace, statement)
    table = list(csv.reader(io.StringIO(run(trace, statement, "--csv").stdout, newline="")))
    assert table[0] == ["position", "instruction", "empty", "text"], table
    assert [[str(v) if v is not None else "" for v in row] for row in rows] == table[1:], table
    tsv = run(trace, statement, "--tsv").stdout.splitlines()
    assert tsv[1].split("\t") == ["0", rows[0][1], "", 'a,"b\\n'], tsv
    box = run(trace, statement, "--box").stdout.splitlines()
    assert box[0].split() == ["position", "instruction", "empty", "text"] and len(box) == 4, box
    assert run(trace, input="SELECT 7;SELECT 8;").stdout == "7\n7\n8\n8\n"


@case
def numbers_have_every_digit_in_each_form():
    """A number of 64 bits is SQLite's signed one, of which the least has no positive twin."""
    numbers = ["-9223372036854775808", "-1", "0", "10", "9223372036854775807"]
    statement = "SELECT -9223372036854775807 - 1 AS a, -1 AS b, 0 AS c, 10 AS d, 9223372036854775807 AS e"
    for form, between in ("--tsv", "\t"), ("--csv", ","), ("--box", None):
        said = run(TRACES["usercorn"], statement, form).stdout.splitlines()
        assert said[1].split(between) == numbers, (form, said)
    (row,) = [json.loads(line) for line in run(TRACES["usercorn"], statement, "--json").stdout.splitlines()][:-1]
    assert list(row.values()) == [int(n) for n in numbers], row


@case
def a_result_is_saved_as_a_database():
    trace = TRACES["usercorn"]
    done = run(trace, "SELECT position, pc, instruction AS 'a \" b' FROM step LIMIT 9", "--save", "out.db")
    assert done.returncode == 0 and not done.stdout, done
    saved = sqlite3.connect("out.db").execute("SELECT * FROM result").fetchall()
    assert [list(row) for row in saved] == select(trace, "SELECT position, pc, instruction FROM step LIMIT 9"), saved
    pathlib.Path("out.db").unlink()


@case
def hostile_names_are_only_text():
    """A module whose name is SQL, quotes and control characters."""
    name = "'); DROP TABLE step; --\x1b[31m\" OR 1=1"
    with open("hostile.text", "w") as f:
        f.write("tracestub text 1 x86_64\nreg rip 401000\nstep 401000 90\nstep 401001 90\nend 0\n")
    assert select("hostile.text", "SELECT count(*) FROM step") == [[2]]
    assert select("hostile.text", f"SELECT count(*) FROM module WHERE file = '{name.replace(chr(39), chr(39) * 2)}'") == [[0]]
    for statement in (f"SELECT * FROM calls('{name.replace(chr(39), chr(39) * 2)}')", "SELECT * FROM steps('0x401000 last 1')",
                      "SELECT * FROM events('syscall in 0:1')"):
        done = run("hostile.text", statement)
        assert done.returncode in (1, 2) and "\x1b" not in done.stderr + done.stdout, (statement, done)
    for odd in "a,8", "a');DROP--\"{}[*]?%s", "a:b+1,2":
        pathlib.Path("odd.names").write_text(f"0x401000 {odd}\n")
        quoted = odd.replace("'", "''")
        done = run("hostile.text", f"SELECT addr('{quoted}'), sym(addr('{quoted}'))", "--names", "odd.names", "--json")
        assert list(json.loads(done.stdout.splitlines()[0]).values()) == [0x401000, odd], (odd, done)
    for odd in "a, 8 in 0:9", "a'); DROP TABLE step; --\"{}[*]?%s", "a:b+1 first 2", "'quoted' *":
        pathlib.Path("odd.names").write_text(f"0x401000 T {odd}\n")
        quoted = odd.replace("'", "''")
        for question in "executions", "steps", "coverage":     # an argument is a value: all of it is the name
            done = run("hostile.text", f"SELECT count(*) FROM {question}('{quoted}')", "--names", "odd.names", "--json")
            assert list(json.loads(done.stdout.splitlines()[0]).values()) == [2 - (question == "executions")], (question, odd, done)
    done = run("hostile.text", "SELECT addr('b''); DROP')", "--names", "odd.names")
    assert done.returncode == 2 and "''" not in done.stderr, done      # the sentence quotes what is not known


@case
def state_is_read_by_functions():
    trace = TRACES["usercorn"]
    for position in 3, 100, 7000:
        want = {row["register"]: as_sql(row["value"]) for row in ask(trace, f"registers rsp rax at {position}")}
        assert select(trace, f"SELECT reg('rsp', {position}), reg('$rax', {position})") == [[want["rsp"], want["rax"]]]
        bytes_16 = ask(trace, f"memory {want['rsp']},8 at {position}")[0]["bytes"]
        known = "??" not in bytes_16
        number = int.from_bytes(bytes.fromhex(bytes_16.replace(" ", "")), "little") if known else None
        assert select(trace, f"SELECT u64(reg('rsp', {position}), {position}), lower(hex(mem(reg('rsp', {position}), 8, {position})))"
                      ) == [[number, bytes_16.replace(" ", "") if known else ""]], (position, bytes_16)
    assert select(trace, "SELECT reg('rax', 99999999), u8(1, 0), cstr(NULL, 1), ult(1, -1), ult(-1, 1)") == [[None, None, None, 1, 0]]


@case
def joins_are_driven_by_their_tables():
    trace = TRACES["usercorn"]
    rows = select(trace, "SELECT c.position, count(*) FROM call c JOIN step s ON s.position BETWEEN c.begin AND c.begin + 2 "
                         "WHERE c.position < 400 GROUP BY c.position ORDER BY c.position")
    assert rows and all(n == 3 for _, n in rows), rows
    stacks = select(trace, "SELECT c.position, max(s.depth) FROM call c, stack(c.begin) s WHERE c.position < 100 GROUP BY 1")
    depths = {row["position"]: row["depth"] for row in ask(trace, "calls") if row["position"] < 100}
    assert dict(stacks) == depths, (stacks, depths)


def of_several(statement):
    """Asked of all recordings at once."""
    done = run(*TRACES.values(), statement, "--json")
    assert done.returncode in (0, 1), (statement, done)
    return rows_of(statement, iter(done.stdout.splitlines()))


def sort_key(row):
    return [repr(value) for value in row]


@case
def tables_of_several_recordings_have_the_rows_of_each():
    """Asked with a first column `recording`; each recording alone has the same rows, and has none of the column."""
    statements = ["SELECT * FROM call WHERE position < 300", "SELECT * FROM step WHERE position BETWEEN 3 AND 5", "SELECT * FROM meta",
                  "SELECT * FROM thread WHERE thread = 1", "SELECT * FROM mem_write WHERE position < 50 AND address > 0",
                  "SELECT * FROM stack(5)", "SELECT * FROM reg_write WHERE position = 4", "SELECT * FROM event"]
    for statement in statements:
        want = [[str(trace), *row] for trace in TRACES.values() for row in select(trace, statement)]
        assert sorted(of_several(statement), key=sort_key) == sorted(want, key=sort_key), statement
    some = TRACES["tfile"], TRACES["x64dbg"]
    for trace in some:
        rows = of_several(f"SELECT position, pc FROM step WHERE recording = '{trace}' AND position < 9 ORDER BY position DESC")
        assert rows == select(trace, "SELECT position, pc FROM step WHERE position < 9 ORDER BY position DESC"), trace
    assert of_several("SELECT count(*) FROM step WHERE recording = 'another'") == [[0]]
    names = ", ".join(f"'{trace}'" for trace in some)
    counts = of_several(f"SELECT recording, count(*) FROM step WHERE recording IN ({names}) GROUP BY 1")
    assert dict(counts) == {str(t): select(t, "SELECT count(*) FROM step")[0][0] for t in some}, counts


@case
def what_one_recording_executed_and_another_did_not():
    a, b = TRACES["usercorn"], TRACES["tenet"]
    covered = [{int(row["address"], 16) for row in ask(trace, "coverage")} for trace in (a, b)]
    done = run(a, b, f"SELECT address FROM coverage() WHERE recording = '{a}' EXCEPT "
                     f"SELECT address FROM coverage() WHERE recording = '{b}'", "--csv")
    assert covered[0] & covered[1] and {int(line) for line in done.stdout.split()[1:]} == covered[0] - covered[1], done


@case
def functions_take_the_recording_where_there_are_several():
    a, b = TRACES["usercorn"], TRACES["x64dbg"]
    done = run(a, b, "SELECT recording, reg(recording, 'rsp', 3) FROM meta WHERE key = 'arch'", "--json")
    assert [list(json.loads(line).values()) for line in done.stdout.splitlines()[:-1]] == \
        [[str(t), select(t, "SELECT reg('rsp', 3)")[0][0]] for t in (a, b)], done
    for statement in "SELECT reg('x', 'rsp', 3)", "SELECT sym('x', 1)", "SELECT * FROM history('$nosuch')":
        done = run(a, b, statement)
        assert done.returncode == 2 and ("is not a recording" in done.stderr or str(a) in done.stderr), done
    assert run(a, a, b, "SELECT count(DISTINCT recording) FROM meta").returncode == 0


@case
def a_recording_that_cannot_be_read_is_named():
    pathlib.Path("bad.ucir").write_bytes(b"nothing" * 99)
    done = run(TRACES["usercorn"], "bad.ucir", "SELECT 1")
    assert done.returncode == 3 and "bad.ucir" in done.stderr and not done.stdout, done


@case
def functions_have_all_rows_or_say_so():
    """`hot` shows 20 rows, hot() has them all; loops through code that is not known are left out, and that is said."""
    for function, question in ("hot()", "hot 100k"), ("blocks()", "hot 100k blocks"), ("loops()", "hot 100k loops"):
        rows, end = json_lines(query(TRACES["usercorn"], question, "--json").stdout)
        assert len(select(TRACES["usercorn"], f"SELECT * FROM {function}")) == len(rows) and end["complete"] is True, function
    assert len(select(TRACES["usercorn"], "SELECT * FROM hot()")) > 20
    done = run(TRACES["bap"], "SELECT * FROM loops()", "--json")
    assert json.loads(done.stdout.splitlines()[-1])["complete"] is False, done.stdout[-200:]
    assert re.search(r"the result is not complete: loops by \d+ jumps are left out", done.stderr), done.stderr


@case
def a_mistyped_name_of_a_file_is_no_statement():
    trace = TRACES["usercorn"]
    for name in "x64_walk.ucr", "./.x", "folder/my run.ucir":
        done = run(trace, name, stdin=subprocess.DEVNULL)
        assert done.returncode == 3 and done.stderr.startswith(f"{name}: cannot open it: No such file"), (name, done)
    for statement in "VALUES(1)", ".tables", "select*from(step)limit 1", ";select 1", "SELECT 1/2", "(select 1", "SELEC 1":
        assert run(trace, statement, stdin=subprocess.DEVNULL).returncode in (0, 2), statement


run_cases()
