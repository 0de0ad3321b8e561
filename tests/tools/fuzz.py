#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fuzzing: run one target with a fuzzer for some time; "make fuzz" builds it and calls this.

    make fuzz TARGET=bap TIME=60 [ADD=20] [FUZZER=afl]

The corpus grows in the cache folder (tracestub/fuzz/TARGET of XDG_CACHE_HOME), apart from the fixtures in
tests/data/NAME, which are read as seeds: those of all formats for a target without its own. Well-formed seeds are
what the unit tests encode: a test program that is built beside is run once with TEST_SEEDS. Words come from
tests/fuzz/TARGET.dict. ADD=N copies at most N inputs that reach new code to tests/data/NAME, the smallest first;
`make check` replays them. An input that ends the target is left in the cache folder, and the status is 1.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
FORMATS = [p.stem.removeprefix("fuzz_") for p in sorted((TOP / "tests/fuzz").glob("fuzz_*.c"))
           if "fuzz_reader(" in p.read_text() and p.stem != "fuzz_reader"]
LIMITS = ["-timeout=10", "-rss_limit_mb=2048", "-malloc_limit_mb=1024"]
MAX_LEN = 4096
# Of the memory that an input has freed the most is kept from being used again, for itself; where it came from, in
# a few frames: the replay of a find tells all.
ASAN = "quarantine_size_mb=16:malloc_context_size=6"
# Which inputs are mutated is chosen by how often each of their branches is reached: in these targets, which reach
# thousands with each input, that would take as long as the input itself.
MANY_BRANCHES = ("index", "whole")
MEMORY = "/dev/shm"
MAX_SEEDS = 500


def folders_of(name, cache):
    """Where seeds are: fixtures, and what unit tests encode."""
    formats = FORMATS if name == "whole" else [name]
    for each in formats:
        seeds = cache.parent / f"seeds/{each}"
        tests = [p for p in (TOP / "tests/unit").glob(f"test_{each}*") if os.access(p, os.X_OK) and p.is_file()]
        if tests and not seeds.exists():
            seeds.mkdir(parents=True)
            for test in tests:
                with tempfile.TemporaryDirectory() as folder:
                    subprocess.run([test], cwd=folder, env=dict(os.environ, TEST_SEEDS=str(seeds), CK_VERBOSITY="silent"),
                                   stdout=subprocess.DEVNULL, check=False)
            small = [p for p in sorted(seeds.iterdir()) if p.stat().st_size <= MAX_LEN]  # named by hashes: any order
            for path in {*seeds.iterdir()} - {*small[:MAX_SEEDS]}:
                path.unlink()
        yield from (p for p in (TOP / "tests/data" / each, seeds) if p.is_dir())
    if name == "whole" and (TOP / "tests/data/whole").is_dir():
        yield TOP / "tests/data/whole"


def run_libfuzzer(program, seconds, folders, dictionary, cache):
    """Returns the figures that it prints at the end, and its status."""
    words = [f"-dict={dictionary}"] if dictionary.exists() else []
    words += ["-entropic=0"] if program.name.removeprefix("fuzz_") in MANY_BRANCHES else []
    env = {"ASAN_OPTIONS": ASAN, **os.environ}
    with tempfile.TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else None) as folder:  # for what the target itself writes
        done = subprocess.run([program, f"-max_total_time={seconds}", "-print_final_stats=1", f"-max_len={MAX_LEN}", *LIMITS, *words,
                               "-print_funcs=0", f"-artifact_prefix={cache}/find-", "-verbosity=1", cache / "corpus", *folders],
                              cwd=folder, env=env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, check=False)
    said = done.stderr.decode(errors="replace")
    (cache / "log").write_text(said)
    stats = dict(re.findall(r"stat::(\w+): +(\d+)", said))
    covered = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", said)
    print(f"{program.name}: {stats.get('number_of_executed_units', '?')} executions, "
          f"{stats.get('average_exec_per_sec', '?')} a second, {stats.get('new_units_added', '?')} new inputs, "
          f"{covered[-1][0] if covered else '?'} branches reached, {stats.get('peak_rss_mb', '?')} MB")
    if done.returncode:
        tail = said.splitlines()
        print("\n".join(tail[-60:]))
    return done.returncode


def run_afl(program, seconds, folders, dictionary, cache):
    """Persistent mode, by the driver that its compiler links in place of libFuzzer."""
    seeds = cache / "afl-seeds"
    seeds.mkdir(exist_ok=True)
    for folder in [*folders, cache / "corpus"]:
        for path in folder.iterdir():
            if 0 < path.stat().st_size <= MAX_LEN:
                (seeds / path.name).write_bytes(path.read_bytes())
    env = dict(os.environ, AFL_SKIP_CPUFREQ="1", AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES="1", AFL_NO_UI="1", AFL_NO_AFFINITY="1",
               AFL_AUTORESUME="1")
    words = ["-x", dictionary] if dictionary.exists() else []
    subprocess.run(["afl-fuzz", "-V", str(seconds), "-i", seeds, "-o", cache / "afl", "-m", "none", "-t", "10000", *words,
                    "--", program], env=env, stdout=subprocess.DEVNULL, check=True)
    stats = dict(re.findall(r"(\w+) *: *(\S+)", (cache / "afl/default/fuzzer_stats").read_text()))
    print(f"{program.name}: {stats['execs_done']} executions, {stats['execs_per_sec']} a second, {stats['corpus_found']} new "
          f"inputs, {stats['bitmap_cvg']} of branches reached, {stats['saved_crashes']} crashes, {stats['saved_hangs']} hangs")
    return int(stats["saved_crashes"]) + int(stats["saved_hangs"]) > 0


def add_fixtures(program, name, n, cache):
    """Of the inputs that reach code that no fixture reaches, the @n smallest: to the fixtures."""
    fixtures = TOP / "tests/data" / name
    fixtures.mkdir(exist_ok=True)
    before = {p.name for p in fixtures.iterdir()}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "-set_cover_merge=1", f"-max_len={MAX_LEN}", *LIMITS, fixtures, cache / "corpus",
                        *folders_of(name, cache)],
                       cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    added = sorted((p for p in fixtures.iterdir() if p.name not in before), key=lambda p: (p.stat().st_size, p.name))
    for path in added[n:]:
        path.unlink()
    for path in added[:n]:
        path.rename(fixtures / f"found-{path.name[:8]}")
    print(f"{program.name}: {len(added[:n])} of {len(added)} new inputs added to tests/data/{name}")


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    args.add_argument("program", type=pathlib.Path)
    args.add_argument("--seconds", type=int, default=60)
    args.add_argument("--add", type=int, default=0)
    args.add_argument("--fuzzer", choices=("libfuzzer", "afl"), default="libfuzzer")
    args = args.parse_args()
    program = args.program.resolve()
    name = program.name.removeprefix("fuzz_")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tracestub/fuzz" / program.name
    (cache / "corpus").mkdir(parents=True, exist_ok=True)
    run = run_afl if args.fuzzer == "afl" else run_libfuzzer
    failed = run(program, args.seconds, list(folders_of(name, cache)), TOP / f"tests/fuzz/{program.name}.dict", cache)
    if args.add and not failed:
        add_fixtures(program, name, args.add, cache)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
