#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SQL over recordings of 1 and 10 million steps (BENCH_SIZES="1 10 100"): look-ups, rows beside those of the verbs, scans, and five
questions as OmniTable (OSDI '22) asked them, of a small program with such bugs, beside a gdb script that steps.

Look-ups are asked by a Python with SQLite's extension: the time is that of both processors, of the Python and of the process that
reads the recording. Other times are the processor's, too, in user mode, without that of opening the recording.
"""
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TRACESTUB = Path(os.environ.get("TRACESTUB", Path(__file__).resolve().parents[2] / "tracestub")).resolve()
SIZES = [int(n) for n in os.environ.get("BENCH_SIZES", "1 10").split()]
N_LOOKUPS, N_STEPPED = 2000, 3000

# Five bugs: an object is released twice; a global changes between two calls that should not change it; a key of no length is stored;
# memory is not freed; an invariant of two globals is broken for a moment.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int held, limit = 7, stored, left_side = 100, right_side = 100;
char last_key[32];
__attribute__((noinline)) int release(int *count) { if (--*count < 0) return -1; return *count; }
__attribute__((noinline)) int store(const char *key, int n) { memcpy(last_key, key, n); last_key[n] = 0; stored++; return n; }
__attribute__((noinline)) int lookup(int i) { if (i == 717) limit = 8; return i * limit; }
__attribute__((noinline)) void *get(int n) { return malloc(n); }
__attribute__((noinline)) void put(void *p) { free(p); }
__attribute__((noinline)) void move(int n) { left_side -= n; right_side += n; }
__attribute__((noinline)) int balance(void) { return left_side + right_side; }
int main(int argc, char **argv)
{
	int rounds = atoi(argv[1]), count = 1, sum = 0;
	for (int i = 0; i < rounds; i++) {
		char key[16];
		void *p = get(16 + i % 48);
		held = i % 3 == 0;
		count = 1 + (i % 500 != 499);
		release(&count);
		sum += release(&count);
		snprintf(key, sizeof(key), "k%d", i);
		store(key, i % 500 == 498 ? 0 : (int)strlen(key));
		sum += lookup(i);
		if (i % 700 != 699)
			put(p);
		move(1);
		if (i == 600)
			left_side += 5;
		sum += balance();
	}
	printf("%d\n", sum);
	return 0;
}
"""

QUESTIONS = {
    "returned -1 while a global was 0":
        "SELECT c.position FROM call c WHERE c.callee = 'release' AND c.result = 0xffffffff AND u32(addr('held'), c.\"end\") = 0",
    "globals that changed within a call that should not":
        "SELECT s.name, w.position, w.old, w.new FROM call c, symbol s, mem_write w WHERE c.callee = 'lookup' AND s.kind = 'data' AND "
        "s.name IN ('limit', 'held', 'stored') AND w.address = s.address AND w.position BETWEEN 0 AND 9000000000000 AND "
        "w.position >= c.begin AND w.position < c.\"end\" AND c.position = (SELECT max(position) FROM call WHERE callee = 'lookup' AND "
        "position < (SELECT max(position) FROM mem_write WHERE address = addr('limit')))",
    "calls with an argument that is none": "SELECT position, text0 FROM call WHERE callee = 'store' AND arg1 = 0",
    "allocated and never freed":
        "SELECT p, max(position) FROM (SELECT result AS p, position, 1 AS n FROM call WHERE callee = 'get' UNION ALL "
        "SELECT arg0, position, -1 FROM call WHERE callee = 'put') GROUP BY p HAVING sum(n) > 0",
    "an invariant that a call left broken":
        "SELECT position, result FROM call WHERE callee = 'balance' AND result <> 200 ORDER BY position LIMIT 1",
}

STEPPED = f"""
import gdb, time
gdb.execute("set pagination off")
gdb.execute("break main", to_string=True)
gdb.execute("run", to_string=True)
begin = time.process_time(), time.monotonic()
found = 0
for _ in range({N_STEPPED}):
    gdb.execute("stepi", to_string=True)
    frame = gdb.selected_frame()
    if frame.name() == "release" and int(frame.read_register("rax")) & 0xffffffff == 0xffffffff:
        found += int(gdb.parse_and_eval("held")) == 0
print("TIMED", time.monotonic() - begin[1])
"""

LOOKED_UP = f"""
import os, random, sqlite3, sys, time
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
db.execute("SELECT tracestub_open(?, ?)", (sys.argv[2], "--exec=" + sys.argv[3]))
n = db.execute("SELECT value FROM meta WHERE key = 'positions'").fetchone()[0]
rng = random.Random(1)
children = open("/proc/self/task/%d/children" % os.getpid()).read().split()
def processor():
    return time.process_time() + sum(int(open("/proc/%s/schedstat" % child).read().split()[0]) for child in children) / 1e9
for name, statement in (("step WHERE position = ?", "SELECT pc, instruction FROM step WHERE position = ?1"),
                        ("reg()", "SELECT reg('rax', ?1)"),
                        ("u64()", "SELECT u64(reg('rsp', ?1), ?1)"),
                        ("last write to an address", "SELECT position FROM mem_write WHERE address = addr('stored') AND position < ?1 "
                                                     "ORDER BY position DESC LIMIT 1"),
                        ("last write of a register", "SELECT position FROM reg_write WHERE reg = 'rbx' AND position < ?1 "
                                                     "ORDER BY position DESC LIMIT 1")):
    times = []
    for _ in range({N_LOOKUPS}):
        position = rng.randrange(n)
        begin = processor()
        db.execute(statement, (position,)).fetchall()
        times.append(processor() - begin)
    times.sort()
    print("LOOKED", name, times[len(times) // 2], times[len(times) * 99 // 100], times[0], sep="\\t")
"""


def figure(table, column, name, value, asked="", note=""):
    print("figure", table, column, name, value, asked, note, sep="\t", flush=True)


def seconds(*argv):
    """Of the processor, in user mode; the best of three, and how many lines were printed."""
    best = None
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        assert done.returncode in (0, 1), (argv, done.stderr)
        best = spent if best is None else min(best, spent)
    return best, len(done.stdout.splitlines()) - 1, done.stdout


def python_with_extensions():
    for name in sys.executable, "/usr/bin/python3":
        if not subprocess.run([name, "-c", "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)"],
                              capture_output=True, check=False).returncode:
            return name
    return None


def look_up(column, trace, program):
    name = python_with_extensions()
    if not name:
        print("no Python here has an sqlite3 that loads extensions: no look-ups")
        return
    done = subprocess.run([name, "-c", LOOKED_UP, TRACESTUB.with_name("tracestub"), trace, program], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        _, what, p50, p99, _ = line.split("\t")
        figure("sql: look-ups, ms", column, f"{what}, p50", float(p50) * 1e3)
        figure("sql: look-ups, ms", column, f"{what}, p99", float(p99) * 1e3, "<=1")


def rows(column, trace, program, opening):
    def sql(statement):
        return seconds(TRACESTUB, "sql", trace, "--quiet", "--exec", program, statement)

    def million(name, asked, statement):
        spent, _, out = sql(statement)
        n = int(out.splitlines()[1].split("\t")[-1])
        figure("sql: million rows a second", column, name, n / max(spent - opening, 1e-4) / 1e6, asked)

    million("scan of step: position", ">=5", "SELECT sum(position) * 0 + count(*) FROM step")
    million("scan of step: position, pc", ">=5", "SELECT (sum(position) + sum(pc)) * 0 + count(*) FROM step")
    million("count(*) of step", "", "SELECT count(*) FROM step")
    million("calls by callee", ">=1", "SELECT sum(n) FROM (SELECT callee, count(*) AS n FROM call GROUP BY callee)")
    for name, statement, question in (
            ("calls", "SELECT position, begin, \"end\", kind, thread, depth, pc, caller, address, callee, result FROM call LIMIT 50000", "calls first 50000"),
            ("writes of a register", "SELECT * FROM reg_write WHERE reg = 'rax' LIMIT 100000", "history $rax first 100000"),
            ("steps", "SELECT * FROM step LIMIT 100000", "steps first 100000")):
        ours, n, _ = sql(statement)
        verb, m, _ = seconds(TRACESTUB, "query", trace, "--quiet", "--exec", program, *question.split())
        figure("sql: rows", column, f"{name}: us a row", (ours - opening) / max(n, 1) * 1e6)
        figure("sql: rows", column, f"{name}: times what the verb costs", (ours - opening) / n / max((verb - opening) / m, 1e-9), "<=1.5")


def questions(column, trace, program, n_steps, opening):
    a_step = None
    if shutil.which("gdb"):
        Path("stepped.py").write_text(STEPPED)
        done = subprocess.run(["gdb", "-nx", "-q", "-batch", "-x", "stepped.py", "--args", program, "99999999"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=600, check=False)
        timed = re.search(r"^TIMED (.*)$", done.stdout, re.M)
        a_step = float(timed[1]) / N_STEPPED if timed else None
    ratios = []
    for name, statement in QUESTIONS.items():
        spent, n, _ = seconds(TRACESTUB, "sql", trace, "--quiet", "--exec", program, statement)
        assert n > 0, f"{name}: no rows: the program's bug is not found"
        figure("sql: five questions, ms with opening", column, f"{name} ({n} rows)", spent * 1e3)
        if a_step:
            ratios.append(a_step * n_steps / spent)
    if ratios:
        figure("sql: five questions, ms with opening", column, f"a gdb script that steps, by {N_STEPPED} steps", a_step * n_steps * 1e3)
        figure("sql: five questions, ms with opening", column, "times faster than it, the least", min(ratios), ">=1000")
        figure("sql: five questions, ms with opening", column, "times faster than it, the median", statistics.median(ratios))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("bugs.c").write_text(PROGRAM)
        subprocess.run(["gcc", "-g", "-O1", "-o", "bugs", "bugs.c"], check=True)
        for size in SIZES:
            done = subprocess.run([TRACESTUB, "record", "-o", "bugs.ucir", "--", "./bugs", str(size * 1000)], capture_output=True, text=True, check=False)
            n_steps = int(re.search(r"(\d+) instructions", done.stderr)[1])
            subprocess.run([TRACESTUB, "index", "bugs.ucir", "--quiet"], capture_output=True, check=False)
            opening, _, _ = seconds(TRACESTUB, "sql", "bugs.ucir", "--quiet", "--exec", "bugs", "SELECT 1")
            column = f"{n_steps / 1e6:.1f} M"
            look_up(column, "bugs.ucir", "bugs")
            rows(column, "bugs.ucir", "bugs", opening)
            questions(column, "bugs.ucir", "./bugs", n_steps, opening)


main()
