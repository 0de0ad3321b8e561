#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many recordings on several machines: a key that they share, one question to all, and the page tracestub-fleets(7)."""
import json
import os
import pathlib
import re
import shutil
import subprocess

from _record import build, record
from _slurm import slurm, wait_for_jobs
from _tap import DATA, SRCDIR, TRACESTUB, case, run_cases

LIMIT = 300
PAGE = (SRCDIR / "src/program/tracestub-fleets.7").read_text()
TRACE = DATA / "usercorn/x64_walk.ucir"
OTHER = DATA / "usercorn/x64_crash.ucir"
KEY = pathlib.Path("fleet.key").resolve()


def machine(name, **more):
    """The environment of a machine of its own: another home, another cache."""
    kept = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
    home = pathlib.Path(name).resolve()
    home.mkdir(exist_ok=True)
    return {**kept, "HOME": str(home), **more}


def homeless():
    return {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}


def tracestub(*argv, env=None, **more):
    return subprocess.run([TRACESTUB, *map(str, argv)], capture_output=True, text=True, timeout=LIMIT, env=env, **more)


def make_key(path=KEY, length=32, mode=0o600):
    path.write_bytes(os.urandom(length))
    path.chmod(mode)
    return path


def copy(name, trace=TRACE):
    path = pathlib.Path(name).resolve()
    path.parent.mkdir(exist_ok=True)
    shutil.copyfile(trace, path)
    return path


def is_built(done):
    """Was an index built?  Progress is not shown to a test; what the log says of the old one is."""
    assert done.returncode == 0, done.stderr
    return "rebuilding the index" in done.stderr


@case
def machines_that_share_a_key_use_each_others_indexes():
    trace, key = copy("shared.ucir"), make_key()
    index = pathlib.Path(f"{trace}.tsindex")
    assert tracestub("index", trace, "--index-key", key, env=machine("a")).returncode == 0
    first, before = index.read_bytes(), index.stat()
    assert not is_built(tracestub("index", trace, "--index-key", key, env=machine("b")))
    assert (index.stat().st_ino, index.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    for name in "a", "b":
        assert not (pathlib.Path(name) / ".cache/tracestub/key").exists(), name
    assert is_built(tracestub("index", trace, env=machine("b")))        # by the key of its user
    assert is_built(tracestub("index", trace, "--index-key", key, env=machine("c")))
    assert index.read_bytes() == first
    other = make_key(pathlib.Path("other.key").resolve())
    assert is_built(tracestub("index", trace, "--index-key", other, env=machine("a")))


@case
def a_key_that_others_can_read_is_refused():
    trace = copy("refused.ucir")
    readable, short = make_key(pathlib.Path("readable.key"), mode=0o644), make_key(pathlib.Path("short.key"), 31)
    group = make_key(pathlib.Path("group.key"), mode=0o640)
    for key, why in ((readable, "mode 0600"), (group, "mode 0600"), (short, "it has 31 bytes, but a key has 32 random ones"),
                     (pathlib.Path("none.key"), "cannot open it"), (pathlib.Path("."), "not a regular file")):
        done = tracestub("index", trace, "--index-key", key)
        assert done.returncode == 1 and why in done.stderr and f"--index-key {key}" in done.stderr, (key, done)
        assert tracestub("query", trace, "when", "--index-key", key).returncode == 3, key
    assert not pathlib.Path(f"{trace}.tsindex").exists()
    pathlib.Path("link.key").symlink_to(make_key())
    assert tracestub("index", trace, "--index-key", "link.key").returncode == 0


@case
def no_home_is_needed():
    trace, key = copy("homeless.ucir"), make_key()
    for env in (homeless(), {**homeless(), "HOME": "/dev/null/home"}):
        for more in ((), ("--no-sandbox", "--log", "error")):
            done = tracestub("index", trace, "--index-key", key, *more, env=env)
            assert done.returncode == 0 and not done.stderr, done
            assert tracestub("query", trace, "when", "--index-key", key, *more, env=env).returncode == 0
    done = tracestub("index", trace, env=homeless())
    assert done.returncode == 1 and "neither XDG_CACHE_HOME nor HOME" in done.stderr, done


X64DBG = DATA / "x64dbg-samples/threads-flagless.trace64.gz"


@case
def machines_that_decode_parts_make_the_index_that_one_makes():
    trace, key = copy("parts.trace64.gz", X64DBG), make_key()
    index = pathlib.Path(f"{trace}.tsindex")
    assert tracestub("index", trace, "--index-key", key, env=machine("a")).returncode == 0
    want = index.read_bytes()
    index.unlink()
    for n in 3, 2, 1:
        done = tracestub("index", trace, "--index-key", key, "--segment", f"{n}/3", env=machine("abc"[n - 1]))
        assert done.returncode == 0 and done.stdout.startswith(f"{index}.segment-{n}: segment {n}/3, "), done
    last = pathlib.Path(f"{index}.segment-3")
    parts = []
    for byte in "17", "99":    # what memory held before is in no file
        last.unlink()
        tracestub("index", trace, "--index-key", key, "--segment", "3/3", env=machine("c", MALLOC_PERTURB_=byte))
        parts.append(last.read_bytes())
    assert parts[0] == parts[1]
    pathlib.Path(f"{index}.segment-2").rename("kept")
    done = tracestub("index", trace, "--index-key", key, "--merge")
    assert done.returncode == 1 and f"{index}.segment-2: there is no such file" in done.stderr, done
    pathlib.Path("kept").rename(f"{index}.segment-2")
    other = make_key(pathlib.Path("other.key").resolve())
    done = tracestub("index", trace, "--index-key", other, "--merge")
    assert done.returncode == 1 and "segment-1" in done.stderr and not index.exists(), done
    assert tracestub("index", trace, "--index-key", key, "--merge", env=machine("d")).returncode == 0
    assert index.read_bytes() == want
    assert not list(trace.parent.glob("parts*segment*")), os.listdir(trace.parent)
    assert tracestub("index", trace, "--index-key", key, "--merge").returncode == 0  # it is there


@case
def what_cannot_be_entered_in_the_middle_is_not_divided():
    done = tracestub("index", copy("whole.ucir"), "--segment", "1/2")
    assert done.returncode == 1 and "cannot be read from the middle" in done.stderr, done
    for words in ("0/2",), ("3/2",), ("1",), ("1/x",), ("1/2x",), ("1/10001",), ("1/2", "--merge"):
        assert tracestub("index", X64DBG, "--segment", *words).returncode == 2, words
    assert tracestub("info", X64DBG, "--merge").returncode == 2


QUESTIONS = "history $pc first 3", "events", "when", 'find "zzqqzz"', "last-write $sp", "hot 2", "strings first 2"


@case
def rows_begin_with_the_name_of_their_recording():
    names = [str(copy(f"many/{name}", trace)) for name, trace in (("one.ucir", TRACE), ("a\tb\\\n.ucir", OTHER))]
    escaped = [name.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n") for name in names]
    for question in QUESTIONS:
        words = question.split()
        alone = [tracestub("query", name, *words, "--quiet") for name in names]
        lines = tracestub("query", *names, "--quiet", "--", *words).stdout.splitlines()
        want = [f"recording\t{alone[0].stdout.splitlines()[0]}"]
        for name, done in zip(escaped, alone):
            want += [f"{name}\t{line}" for line in done.stdout.splitlines()[1:]]
        assert lines == want, (question, lines, want)
        both = tracestub("query", *names, "--quiet", "--json", "--", *words)
        rows = [json.loads(line) for line in both.stdout.splitlines()]
        want = [{"recording": name, **json.loads(line)} for name in names
                for line in tracestub("query", name, *words, "--quiet", "--json").stdout.splitlines()]
        assert rows == want and all(list(row)[0] == "recording" for row in rows), question
        assert both.returncode == min(done.returncode for done in alone), question


@case
def one_that_cannot_be_read_is_named_and_the_others_are_asked():
    good, bad = copy("good.ucir"), pathlib.Path("bad.ucir")
    bad.write_bytes(b"no recording of any kind")
    done = tracestub("query", bad, good, "missing.ucir", "--quiet", "--", "when", "at", "5")
    assert done.returncode == 3, done
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["recording", str(good)], done.stdout
    assert "bad.ucir" in done.stderr and "missing.ucir" in done.stderr, done.stderr
    done = tracestub("query", good, copy("second.ucir"), "--quiet", "--", "executions", "no_such_symbol")
    assert done.returncode == 2 and "good.ucir" in done.stderr and "second.ucir" in done.stderr, done
    assert tracestub("query", good, "--", "find", '"zzqqzz"', "--quiet").returncode == 1
    for argv in ((good, "--"), ("--", "when"), (good, good, "--index", "one.idx", "--", "when"), (good, "-", "--", "when")):
        assert tracestub("query", *argv, stdin=subprocess.DEVNULL).returncode == 2, argv


# ------------------------------------------------------------------------------------------------ the page

N = 20


def scripts():
    """The scripts that the page shows, by name."""
    text = PAGE.replace("\\-", "-").replace("\\\\", "\\")
    return dict(re.findall(r"^\.RI \( (\S+\.sh) \):\n.*?\.RS\n(.*?)^\.RE", text, re.M | re.S))


def shown_groups():
    return [line.split() for line in re.search(r"program with three bugs.*?\.RS\n(.*?)^\.RE", PAGE, re.M | re.S)[1].splitlines()]


def record_crashes(folder):
    program, names = build("crashes.c", "crashes", "-O1 -g -static -w"), []
    for n in range(1, N + 1):
        names.append(f"crash{n}.ucir")
        done = record(str(folder / names[-1]), program, str(n))
        assert done.returncode < 0, (n, done)   # its signal
    (folder / "recordings.txt").write_text("\n".join(names) + "\n")


def submit(environment, folder, script, *options):
    done = subprocess.run(["sbatch", "--parsable", f"--array=1-{N}", "-o", "/dev/null", *options, script], cwd=folder,
                          env=environment, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done
    return done.stdout.strip()


@case
def slurm_indexes_recordings_and_groups_their_crashes():
    folder = pathlib.Path("fleet").resolve()
    (folder / "answers").mkdir(parents=True)
    make_key(folder / "fleet.key")
    for name, text in scripts().items():
        (folder / name).write_text(text)
    path = f"{pathlib.Path(TRACESTUB).resolve().parent}:{os.environ['PATH']}"
    with slurm({**homeless(), "PATH": path, "LC_ALL": "C"}) as environment:
        record_crashes(folder)
        first = submit(environment, folder, "index.sh")
        submit(environment, folder, "crash.sh", f"--dependency=aftercorr:{first}")
        wait_for_jobs(environment)
        before = (folder / "crash1.ucir.tsindex").stat()
        subprocess.run(["sh", "index.sh"], cwd=folder, env={**environment, "SLURM_ARRAY_TASK_ID": "1"}, check=True, timeout=LIMIT)
        assert (folder / "crash1.ucir.tsindex").stat() == before
        shown = subprocess.run(["sh", "group.sh"], cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT)
    assert len(list(folder.glob("*.tsindex"))) == N, sorted(os.listdir(folder))
    groups = [line.split() for line in shown.stdout.splitlines()]
    assert groups == shown_groups(), shown
    # which program does what is decided by its argument
    kinds = {"divide": 1, "cut": 2, "lookup": 0}
    assert {row[1]: int(row[0]) for row in groups} == {
        name: sum(n % 3 == rest for n in range(1, N + 1)) for name, rest in kinds.items()}, groups


run_cases()
