#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutation testing: break one operator or constant, and see whether a test notices.

    make mutate TARGET=loaders/tfile N=50 [SEED=1] [SECONDS=600]

The tree is copied to .variants/mutate, with its objects. Each mutant is one change on one line of TARGET; the unit
tests and fuzz corpora of the folder are built and run until one fails. A mutant that none notices is printed. The
choice depends on SEED and on the source only; results are kept in .variants/mutate, a file a target, so that the same
call goes on where it was interrupted or ran out of time, and a larger N adds mutants.
"""
import argparse
import contextlib
import filecmp
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
COPY = TOP / ".variants/mutate"
RUN_LIMIT, BUILD_LIMIT, MEMORY_LIMIT = 60, 300, 4 << 30

# A token, and what takes its place.
OPERATORS = {
    "==": "!=", "!=": "==", "<=": "<", ">=": ">", "<": "<=", ">": ">=", "&&": "||", "||": "&&", "<<": ">>", ">>": "<<",
    "+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "&": "|", "|": "&", "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=",
    "++": "--", "--": "++", "true": "false", "false": "true", "break": "continue",
}
BINARY = re.compile(r"(?<=\s)(==|!=|<=|>=|<<|>>|&&|\|\||\+=|-=|\|=|&=|[-+*/%&|<>])(?=\s)")
OTHER = re.compile(r"\+\+|--|\b(?:true|false|break)\b|(?<![\w.\"'])(?:0x[0-9a-fA-F]+|\d+)(?=u?\b)")


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def code_of(text):
    """The text with comments, strings and directives blanked, the same length."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: m[0] if re.match(r"\s*#\s*define\s+\w+\s+\S", m[0]) else blank(m),
                  text, flags=re.M)
    # not mutated: assertions of our own invariants, hints for the compiler
    return re.sub(r"\b(?:_Static_assert|assert|__builtin_prefetch|__attribute__)\s*\([^;]*", blank, text)


def changes_of(line):
    """All mutants of a line of code: column, old, new."""
    found = [(m.start(), m[0], OPERATORS[m[0]]) for m in BINARY.finditer(line)]
    for m in OTHER.finditer(line):
        found.append((m.start(), m[0], OPERATORS.get(m[0]) or str(int(m[0], 0) + 1)))
    return found


def mutants(target, seed):
    """One mutant of each line that has any, in the order in which they are tried."""
    files = sorted(p for p in target.rglob("*.c")) if target.is_dir() else [target]
    found = []
    for path in files:
        for n, line in enumerate(code_of(path.read_text()).split("\n")):
            rng = random.Random(f"{seed} {path.relative_to(TOP)} {n} {line}")
            changes = changes_of(line)
            if changes:
                found.append((rng.random(), str(path.relative_to(TOP)), n, *rng.choice(changes)))
    return [m[1:] for m in sorted(found)]


# tests of a folder that have other names
ALSO = {
    "src/search": "test_ask_sources test_ask_why test_ask_why_twin test_ask_why_loops test_ask_flows test_ask_access test_ask_access_long test_ask_steps",
    "src/symbols": "test_ask_walk test_symbol_tables",
    "src/calls": "test_ask_walk",
    "src/timeline": "test_ask_access test_ask_access_long test_ask_world",
}


def tests_of(target):
    """The programs that test a folder or a file: by their names, and by the table of other names."""
    names = {target.name.split(".")[0], target.stem}
    if target.is_dir():
        names |= {p.stem for p in target.glob("*.c")} - {"reader", "frames", "machine", "regs", "header", "state"}
    if target.parent.name not in ("loaders", "src", "protocol"):
        names.add(target.parent.name)
    programs = [p.with_suffix("") for name in sorted(names)
                for p in [*TOP.glob(f"tests/unit/test_{name}.c"), *TOP.glob(f"tests/unit/test_{name}_*.c"),
                          *TOP.glob(f"tests/fuzz/fuzz_{name}.c")]]
    also = ALSO.get(str((target if target.is_dir() else target.parent).relative_to(TOP)), "")
    programs += [TOP / "tests/unit" / name for name in also.split()]
    if "loaders" in target.parts:
        programs.append(TOP / "tests/unit/test_faults")
    return list(dict.fromkeys(str(p.relative_to(TOP)) for p in programs))


def sources():
    """The files of the tree that are not built, by their names; none where git does not know them."""
    done = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=TOP,
                          capture_output=True, text=True, check=False)
    return [name for name in done.stdout.split("\0") if name and (TOP / name).is_file()]


def copy_tree():
    """The tree with its objects; later only what has changed, so that little is built again."""
    def ignore(folder, names):
        linked = [n for n in names if re.match(r"(test|fuzz|bench)_", n) and "." not in n]
        unused = (".git", ".variants", "out", "__pycache__", "build")
        return linked + [n for n in names if n in unused or (n == "coverage" and pathlib.Path(folder) == TOP)]
    names = sources()
    if COPY.exists() and names:
        refresh(names)
        return
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(TOP, COPY, ignore=ignore, symlinks=True)


def refresh(names):
    """Sources that have changed since they were copied, or that an interrupted call left changed."""
    for name in names:
        to = COPY / name
        if not to.exists() or not filecmp.cmp(TOP / name, to, shallow=False):
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, to)


def make(programs):
    """Build; warnings are not errors, because mutants have them."""
    done = subprocess.run(["make", "-s", "WARN_CFLAGS=-w", *programs], cwd=COPY, capture_output=True, text=True,
                          timeout=BUILD_LIMIT)
    return done.returncode == 0, done.stdout + done.stderr


def limit():
    """A mutant may allocate without end."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))


def session_of(leader):
    """The processes of a session: each test of libcheck is one, with a process group of its own."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[3]) == leader:
                yield int(stat.parent.name)


def run_test(command, folder, env):
    """Does it fail?  The processes that it leaves are ended with it."""
    test = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            preexec_fn=limit, start_new_session=True)
    try:
        return test.wait(RUN_LIMIT)
    except subprocess.TimeoutExpired:
        return True
    finally:
        for pid in session_of(test.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        test.wait()


def first_failure(programs):
    """The first program that fails, None if all pass."""
    env = dict(os.environ, CK_DEFAULT_TIMEOUT="20", CK_VERBOSITY="silent")
    for program in programs:
        corpus = []
        if "/fuzz_" in program:
            corpus = sorted(map(str, (TOP / "tests/data" / program.split("fuzz_")[1]).glob("*")))
        with tempfile.TemporaryDirectory() as folder:
            if run_test([str(COPY / program), *corpus], folder, env):
                return program
    return None


def judge(mutant, programs):
    """What becomes of one mutant: a test's name, "survived" or "invalid"."""
    name, n, column, old, new = mutant
    path = COPY / name
    text = path.read_text()
    lines = text.split("\n")
    assert lines[n][column:column + len(old)] == old, (mutant, lines[n])
    lines[n] = lines[n][:column] + new + lines[n][column + len(old):]
    path.write_text("\n".join(lines))
    try:
        built, _ = make(programs)
        return (first_failure(programs) or "survived") if built else "invalid"
    finally:
        path.write_text(text)


def load_results(store, programs):
    """What earlier calls found.  Mutants that survived other tests than today's are tried again."""
    results = json.loads(store.read_text()) if store.exists() else {}
    tests = hashlib.sha256(b"".join((TOP / f"{p}.c").read_bytes() for p in programs)).hexdigest()
    if results.get("tests") != tests:
        results = {key: what for key, what in results.items() if what != "survived"}
    results["tests"] = tests
    return results


def key_of(mutant):
    name, n, column, old, new = mutant
    line = (TOP / name).read_text().split("\n")[n].strip()
    return f"{name}:{n + 1}:{column + 1}: {old} -> {new}: {line}"


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    args.add_argument("target", help="a folder or a file: loaders/tfile")
    args.add_argument("-n", type=int, default=50, help="number of mutants")
    args.add_argument("--seed", default="1")
    args.add_argument("--seconds", type=float, default=600, help="stop after this time")
    args.add_argument("--tests", help="programs to run, instead of those named after the target")
    args = args.parse_args()
    end = time.monotonic() + args.seconds
    target = (TOP / args.target).resolve()
    programs = args.tests.split() if args.tests else tests_of(target)
    copy_tree()
    built, text = make(programs)
    if not built:
        sys.exit(f"mutate: the tests do not build:\n{text[-2000:]}")
    failing = first_failure(programs)
    if failing:
        sys.exit(f"mutate: {failing} fails without any mutant")
    store = COPY / f"results-{args.target.strip('/').replace('/', '-')}.json"
    results = load_results(store, programs)
    chosen = mutants(target, args.seed)[:args.n]
    print(f"mutate: {len(chosen)} mutants of {args.target}, tests: {' '.join(programs)}", flush=True)
    for mutant in chosen:
        key = key_of(mutant)
        if key not in results:
            if time.monotonic() > end:
                print("mutate: out of time; the same call goes on", flush=True)
                break
            results[key] = judge(mutant, programs)
            store.write_text(json.dumps(results, indent=1))
        if results[key] == "survived":
            print(f"survived {key}", flush=True)
    mine = [results[k] for k in map(key_of, chosen) if k in results]
    killed = sum(r not in ("survived", "invalid") for r in mine)
    survived = mine.count("survived")
    print(f"mutate: {killed} killed, {survived} survived, {mine.count('invalid')} did not build: "
          f"{100 * killed // max(killed + survived, 1)} %")


if __name__ == "__main__":
    main()
