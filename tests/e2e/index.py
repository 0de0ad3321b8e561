#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The index file: where it is, when it is used, and what happens to one that cannot be."""
import errno
import os
import pathlib
import shutil
import signal
import subprocess
import time

from _naive_ucir2 import unframe
from _rsp import Rsp
from _server import Server
from _tap import DATA, LIMIT, SRCDIR, TRACESTUB, case, run_cases, skip
from _ucir2 import HEAD, chunk

TRACE = DATA / "usercorn/x64_walk.ucir"
FAULTS = pathlib.Path(os.environ.get("TEST_BUILDDIR", SRCDIR)).resolve() / "tests/tools/faults.so"
UCIR_HEAD = 74  # then the stream's identifier, HEAD


def run(*args, status=0, **options):
    done = subprocess.run([TRACESTUB, *map(str, args)], capture_output=True, text=True, timeout=LIMIT, **options)
    assert done.returncode == status, done
    return done


def unwatched():
    """The environment for a process that is killed: at its very end LeakSanitizer would report the signal."""
    return {**os.environ, "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0"}


def copy_trace(name):
    """A folder of its own with a copy of the trace."""
    os.makedirs(name)
    return shutil.copy(TRACE, f"{name}/trace")


def facts(*args):
    """What `info` says, but for the trace's name."""
    return run("info", *args).stdout.replace(str(args[-1]), "TRACE").splitlines()


@case
def index_says_where_it_is_and_the_next_run_reads_nothing():
    trace = copy_trace("said")
    first = run("index", trace)
    assert first.stdout.startswith(f"{trace}.tsindex: 7480 instructions, "), first
    assert os.listdir("said") and sorted(os.listdir("said")) == ["trace", "trace.tsindex"], os.listdir("said")
    before = os.stat(f"{trace}.tsindex")
    assert run("index", trace).stdout == first.stdout
    assert os.stat(f"{trace}.tsindex").st_ino == before.st_ino
    assert facts(trace) == facts("--index", "none", trace)


def copy_in_chunks(name, length):
    """A folder with a long trace in chunks of so many bytes, each stored; and where they begin."""
    os.makedirs(name)
    long_trace = (DATA / "usercorn/x64_lib.ucir").read_bytes()
    stream, data, starts = unframe(long_trace[UCIR_HEAD:]), bytearray(long_trace[:UCIR_HEAD] + HEAD), []
    for at in range(0, len(stream), length):
        starts.append(len(data))
        data += chunk(stream[at:at + length])
    pathlib.Path(f"{name}/trace").write_bytes(data)
    return f"{name}/trace", starts


@case
def the_chunks_of_a_compressed_trace_are_looked_for_once():
    trace, starts = copy_in_chunks("chunks", 1024)
    last = "query", trace, "history", "$rsp", "last", "5"
    unkept = run("--index", "none", *last).stdout
    run("index", trace)
    assert sorted(os.listdir("chunks")) == ["trace", "trace.tsindex", "trace.tsindex.layout"], os.listdir("chunks")
    layout = pathlib.Path(f"{trace}.tsindex.layout")
    kept, right = layout.read_bytes(), facts(trace)
    assert run(*last).stdout == unkept

    # a header that changed is seen, though no question needs it and the time of modification is set back
    times = os.stat(trace)
    with open(trace, "r+b") as f:
        f.seek(starts[700])
        f.write(b"\2")
    os.utime(trace, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert "reserved type 0x02" in run("info", trace).stdout
    with open(trace, "r+b") as f:
        f.seek(starts[700])
        f.write(b"\1")
    os.utime(trace, ns=(times.st_atime_ns, times.st_mtime_ns))
    run("index", trace)
    assert facts(trace) == right and layout.read_bytes() != kept
    kept = layout.read_bytes()

    # one that is damaged, or somebody else's, is made anew
    for bad in kept[:len(kept) // 2], kept[:9000] + b"x" + kept[9001:], b"":
        layout.write_bytes(bad)
        assert run(*last).stdout == unkept and layout.read_bytes() == kept


@case
def a_small_trace_leaves_no_file():
    trace = copy_trace("small")
    run("info", trace)
    run("info", "--index", "none", trace)
    assert os.listdir("small") == ["trace"], os.listdir("small")


@case
def index_goes_where_the_user_wants_it():
    trace = copy_trace("wanted")
    done = run("index", trace, "--index", "wanted/here")
    assert done.stdout.startswith("wanted/here: "), done
    assert sorted(os.listdir("wanted")) == ["here", "trace"], os.listdir("wanted")


@case
def a_name_that_no_index_can_have_is_said():
    """It was "an index file is there and cannot be read"."""
    for length in 250, 240:
        trace = copy_trace("long" + str(length))
        name = os.path.join(os.path.dirname(trace), "a" * length)
        os.rename(trace, name)
        done = run("index", name, status=1)
        assert "the name of its index would be too long" in done.stderr and "cannot be read" not in done.stderr, done
        assert run("index", name, "--index", f"short{length}").stdout.startswith(f"short{length}: "), length


@case
def what_cannot_be_beside_the_trace_is_in_the_cache_folder():
    trace = copy_trace("cached")
    os.mkdir(f"{trace}.tsindex.part")  # also root cannot write that
    env = dict(os.environ, XDG_CACHE_HOME=os.path.abspath("cached/a/b"))
    done = run("index", trace, env=env)
    path = done.stdout.split(": ")[0]
    assert path.startswith(os.path.abspath("cached/a/b/tracestub/trace-")), done
    assert run("index", trace, env=env).stdout == done.stdout
    assert os.path.exists(path)


def check_same(trace):
    """With an index, and with the same read back, `info` says what it says without: also what is odd, and where it breaks off."""
    if subprocess.run([TRACESTUB, "info", "--index", "none", trace], capture_output=True, timeout=LIMIT).returncode:
        return
    done = [run("info", "--index", path, trace) for path in ("none", f"{trace.name}.index", f"{trace.name}.index")]
    assert (done[0].stdout, done[0].stderr) == (done[1].stdout, done[1].stderr), done[:2]
    assert (done[0].stdout, done[0].stderr) == (done[2].stdout, done[2].stderr), done[::2]


@case
def every_format_comes_back_as_it_was():
    for folder in "usercorn", "bap", "rvnbintrace", "tenet", "tfile", "x64dbg":
        for trace in [path for path in sorted((DATA / folder).glob("*")) if path.is_file()][::3]:
            check_same(trace)


def check_rebuilt(trace, text, index=None):
    """One line says why the file is not used; the answers are right, and the next run uses the new one."""
    index = index or f"{trace}.tsindex"
    wanted = facts("--index", "none", trace)
    inode = os.stat(index).st_ino
    done = run("index", trace, "--index", index)
    lines = [line for line in done.stderr.splitlines() if index in line]
    assert len(lines) == 1 and text in lines[0] and "ignored; rebuilding the index" in lines[0], done
    assert os.stat(index).st_ino != inode
    assert facts("--index", index, trace) == wanted
    again = run("index", trace, "--index", index)
    assert index not in again.stderr, again


@case
def a_trace_that_has_changed_is_indexed_again():
    trace = copy_trace("stale")
    run("index", trace)
    os.utime(trace, (1, 1))
    check_rebuilt(trace, "not the one that it was made from")


def outside_samples(length, at):
    """The first place from @at that is in none of the samples (src/index/keys/index_key.c)."""
    samples = [(0, 65536), (length - 65536, length)] + [(length // 17 * i, length // 17 * i + 4096) for i in range(1, 17)]
    return next(k for k in range(at, length) if not any(a <= k < b for a, b in samples))


@case
def a_byte_that_has_changed_anywhere_is_seen_though_the_time_of_modification_is_set_back():
    os.makedirs("middle")
    trace = shutil.copy(DATA / "usercorn/x64_lib.ucir", "middle/trace")
    run("index", trace)
    old, at = os.stat(trace), outside_samples(os.path.getsize(trace), 210000)
    with open(trace, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))
    os.utime(trace, ns=(old.st_atime_ns, old.st_mtime_ns))
    asked = run("query", trace, "events", "last", "3")
    assert "trace.tsindex: the trace has changed since it was made; ignored; rebuilding the index" in asked.stderr, asked
    assert asked.stdout == run("--index", "none", "query", trace, "events", "last", "3").stdout


@case
def a_copy_of_a_trace_and_its_index_is_compared_once_and_used():
    os.makedirs("copied")
    trace = shutil.copy(DATA / "usercorn/x64_lib.ucir", "copied/first")
    run("index", trace)
    for file in "second", "second.tsindex":                      # as cp -p does
        shutil.copy2(f"copied/{file.replace('second', 'first')}", f"copied/{file}")
    kept = os.stat("copied/second.tsindex")
    asked = run("query", "copied/second", "events", "last", "3")
    assert "ignored" not in asked.stderr, asked
    noted = pathlib.Path("copied/second.tsindex").read_bytes()
    again = run("query", "copied/second", "events", "last", "3")
    assert (again.stdout, again.stderr) == (asked.stdout, asked.stderr)
    assert os.stat("copied/second.tsindex").st_ino == kept.st_ino, "it was rebuilt"
    assert noted == pathlib.Path("copied/second.tsindex").read_bytes(), "it was compared again"
    assert noted != pathlib.Path("copied/first.tsindex").read_bytes(), "it was not compared"
    os.chmod("copied/second", 0o600)                             # another ctime, no other byte
    assert run("query", "copied/second", "events", "last", "3").stderr == asked.stderr


@case
def another_way_to_read_it_is_another_index():
    trace = copy_trace("options")
    run("index", trace)
    before = os.stat(f"{trace}.tsindex")
    done = run("index", trace, "--index-reads=no", "--log", "info")
    assert "made with other options" in done.stderr and "--index-reads" in done.stderr, done
    other = done.stdout.split(": ")[0]
    assert other.startswith(f"{trace}.tsindex-"), done
    assert os.stat(f"{trace}.tsindex").st_ino == before.st_ino
    inode = os.stat(other).st_ino
    assert "memory reads  not recorded" in run("info", "--index-reads=no", trace).stdout
    assert run("index", trace, "--index-reads=no").stdout == done.stdout
    assert os.stat(other).st_ino == inode and os.stat(f"{trace}.tsindex").st_ino == before.st_ino
    assert run("index", trace).stdout.startswith(f"{trace}.tsindex: ")


@case
def one_index_serves_with_and_without_the_program_and_files_beneath():
    trace = copy_trace("layers")
    run("index", trace)
    inode = os.stat(f"{trace}.tsindex").st_ino
    program = DATA / "usercorn/x64_walk.elf"
    for options in ["--exec", program], ["--image", program], ["--sysroot", "layers"], ["--exec", program, "--sysroot", "/"]:
        done = run("index", trace, *options)
        assert not done.stderr and done.stdout.startswith(f"{trace}.tsindex: "), done
        assert os.listdir("layers") in (["trace", "trace.tsindex"], ["trace.tsindex", "trace"]), os.listdir("layers")
        assert facts(*options, trace) == facts("--index", "none", *options, trace)
    assert os.stat(f"{trace}.tsindex").st_ino == inode


@case
def a_program_that_moves_regions_has_an_index_of_its_own():
    """The loader places a region's contents by the file: another file, another index; the good one is kept."""
    os.makedirs("places")
    trace = shutil.copy(DATA / "usercorn/x64_fpu.ucir", "places/trace")
    run("index", trace)
    inode = os.stat(f"{trace}.tsindex").st_ino
    other = DATA / "usercorn/x64_fpu.elf"
    assert facts("--index", "none", trace) != facts("--index", "none", "--exec", other, trace)
    for _ in range(2):
        done = run("index", trace, "--exec", other)
        assert done.stdout.startswith(f"{trace}.tsindex-"), done
        assert facts("--exec", other, trace) == facts("--index", "none", "--exec", other, trace)
        assert facts(trace) == facts("--index", "none", trace)
        assert len(os.listdir("places")) == 3 and os.stat(f"{trace}.tsindex").st_ino == inode, os.listdir("places")


@case
def an_index_of_another_user_is_ignored():
    """It was shipped beside the trace: whatever it says, somebody else signed it."""
    trace = copy_trace("shipped")
    run("index", trace, env={**os.environ, "XDG_CACHE_HOME": os.path.abspath("shipped/other")})
    shutil.rmtree("shipped/other")
    check_rebuilt(trace, "made by another user or machine")


@case
def without_a_folder_for_the_key_the_index_stays_in_memory():
    trace = copy_trace("nokey")
    run("index", trace)
    before = os.stat(f"{trace}.tsindex")
    with open("nokey/file", "w"):
        pass
    env = {**os.environ, "XDG_CACHE_HOME": os.path.abspath("nokey/file")}
    done = subprocess.run([TRACESTUB, "index", trace], capture_output=True, text=True, timeout=LIMIT, env=env)
    assert done.returncode == 1 and "nokey/file/tracestub: " in done.stderr and "kept in memory" in done.stderr, done
    done = run("info", trace, "--log", "info", env=env)
    assert "nokey/file/tracestub: " in done.stderr and "kept in memory" in done.stderr, done
    assert os.stat(f"{trace}.tsindex").st_ino == before.st_ino


@case
def where_the_disk_is_full_beside_the_trace_the_index_goes_to_the_cache_folder():
    """Whichever call finds it full, the last ones too: nothing is left there, and the next run finds the index."""
    if not FAULTS.exists():
        skip("tests/tools/faults.so was not built")
    trace, full = copy_trace("full"), set()
    env = {**os.environ, "XDG_CACHE_HOME": os.path.abspath("full/cache"),
           "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"}
    for call in [f"write:{n}" for n in range(1, 9)] + ["sync:1", "rename:1"]:
        for old in "full/cache/tracestub", f"{trace}.tsindex":
            subprocess.run(["rm", "-rf", old], check=True)
        run("index", copy_trace("key"), env=env)     # makes the key
        more = ["--no-sandbox"] if "rename" in call else []     # else its broker's first rename fails too
        done = subprocess.run([TRACESTUB, "index", trace, *more], capture_output=True, text=True, timeout=LIMIT,
                              env={**env, "LD_PRELOAD": str(FAULTS), "FAULT": f"{call}:{errno.ENOSPC}"})
        if done.returncode == 0 and not os.path.exists(f"{trace}.tsindex"):
            full.add(call)
            assert sorted(os.listdir("full")) == ["cache", "trace"], (done, os.listdir("full"))
            assert run("index", trace, env=env).stdout == done.stdout
            assert len(os.listdir("full/cache/tracestub")) == 2 and len(os.listdir("full")) == 2
        shutil.rmtree("key")
    assert {"sync:1", "rename:1"} < full, full


@case
def a_damaged_index_is_built_again():
    trace = copy_trace("damaged")
    run("index", trace)
    with open(f"{trace}.tsindex", "r+b") as f:
        f.seek(9000)
        byte = f.read(1)[0]
        f.seek(9000)
        f.write(bytes([byte ^ 1]))
    check_rebuilt(trace, "damaged or truncated")
    with open(f"{trace}.tsindex", "r+b") as f:
        f.truncate(5000)
    check_rebuilt(trace, "damaged or truncated")


@case
def so_is_one_of_another_name_whose_head_is_damaged_or_cut():
    trace = copy_trace("other")
    path = "other/any"
    run("index", trace, "--index", path)
    for off, text in (0, "it is not an index"), (20, "its header is damaged"):
        with open(path, "r+b") as f:
            f.seek(off)
            byte = f.read(1)[0]
            f.seek(off)
            f.write(bytes([byte ^ 4]))
        check_rebuilt(trace, text, path)
    os.truncate(path, 10)
    check_rebuilt(trace, "it ends within its header", path)


@case
def what_is_no_index_is_not_taken_for_one():
    trace = copy_trace("foreign")
    with open(f"{trace}.tsindex", "wb") as f:
        f.write(b"hello" * 2000)
    check_rebuilt(trace, "it is not an index")


@case
def what_is_no_file_is_not_replaced():
    """A folder, a device, a link: each stays as it was, and nothing is left beside it."""
    trace = copy_trace("nofile")
    os.mkdir("nofile/folder")
    os.mkfifo("nofile/fifo")
    os.symlink("target", "nofile/link")
    before = sorted(os.listdir("nofile"))
    for name in "folder", "fifo", "link":
        mode = os.lstat(f"nofile/{name}").st_mode
        done = subprocess.run([TRACESTUB, "index", trace, "--index", f"nofile/{name}"], capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 1 and done.stderr.count(f"nofile/{name}") == 1, done
        assert f"nofile/{name} exists and is not a regular file; the index is kept in memory" in done.stderr, done
        done = subprocess.run([TRACESTUB, "export", trace, "-o", f"nofile/{name}"], capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 1 and "is not a regular file" in done.stderr, done
        assert os.lstat(f"nofile/{name}").st_mode == mode and sorted(os.listdir("nofile")) == before, os.listdir("nofile")


@case
def what_is_read_is_not_written_over():
    trace = copy_trace("input")
    shutil.copy(trace, "input/program")
    shutil.copy(trace, "input/b.part")
    os.link(trace, "input/same")
    content = TRACE.read_bytes()
    for args in (["index", trace, "--index", trace], ["info", trace, "--index", "input/same"], ["export", trace, "-o", trace],
                 ["index", trace, "--exec", "input/program", "--index", "input/program"], ["index", "input/b.part", "--index", "input/b"],
                 ["index", trace, "--image", "input/program@0", "--index", "input/program"], ["index", trace, "--index", ""]):
        done = subprocess.run([TRACESTUB, *args], capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 2 and not done.stdout and "tracestub: " in done.stderr, done
        for name in "trace", "program", "b.part":
            with open(f"input/{name}", "rb") as f:
                assert f.read() == content, (args, name)
    assert sorted(os.listdir("input")) == ["b.part", "program", "same", "trace"], os.listdir("input")


@case
def two_at_once_share_it_or_do_without():
    trace = copy_trace("two")
    wanted = facts("--index", "none", trace)
    runs = [subprocess.Popen([TRACESTUB, "info", "--index", f"{trace}.tsindex", trace], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True) for _ in range(6)]
    for r in runs:
        out, err = r.communicate(timeout=LIMIT)
        assert r.returncode == 0, (out, err)
        assert out.replace(trace, "TRACE").splitlines() == wanted, (out, err)
    assert sorted(os.listdir("two")) == ["trace", "trace.tsindex"], os.listdir("two")


@case
def any_number_of_jobs_makes_the_same_file():
    """The file is the same; tests/unit/test_jobs.c compares those of each format."""
    trace = copy_trace("jobs")
    files = {}
    for n in "1", "2", "3", "7":
        run("index", trace, "--jobs", n)
        with open(f"{trace}.tsindex", "rb") as f:
            files[n] = f.read()
        os.unlink(f"{trace}.tsindex")
    assert files["1"] and all(content == files["1"] for content in files.values()), {n: len(files[n]) for n in files}


@case
def one_that_is_killed_leaves_what_the_next_can_use():
    trace = copy_trace("killed")
    wanted = facts("--index", "none", trace)
    for i in range(20):
        r = subprocess.Popen([TRACESTUB, "index", trace, "--jobs", str(i % 4 + 1)], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, env=unwatched())
        time.sleep(0.002 * i)
        r.send_signal(signal.SIGKILL)
        r.wait()
        done = run("info", "--index", f"{trace}.tsindex", trace)
        assert ".tsindex" not in done.stderr, done
        assert done.stdout.replace(trace, "TRACE").splitlines() == wanted, done


@case
def one_that_is_cut_while_it_is_used_ends_the_server_with_a_sentence():
    trace = copy_trace("cut")
    run("index", trace)
    server = Server(trace)
    with Rsp(server.address) as r:
        os.truncate(f"{trace}.tsindex", 4096)
        r.send("bc", "g")
        assert server.wait() == 1, server.said()
    assert f"tracestub: {trace}.tsindex: truncated or unreadable while in use" in server.said(), server.said()
    check_rebuilt(trace, "damaged or truncated")


SAMPLES = ["bap-samples/tw-arm.frames.gz", "gdbrecord-samples/walk64.core.gz", "rvnbintrace-samples/edges.bin.gz",
           "tenet-samples/wtf-walk64.log.gz", "text/example", "usercorn/v2_threads.ucir", "usercorn/x64_walk.ucir",
           "x64dbg-samples/list64.trace64.gz"]


@case
def building_twice_gives_the_same_bytes():
    """Whatever was in memory before: malloc() fills what it gives with one byte, and then with another."""
    for name in SAMPLES:
        built = []
        for fill in "0", "85", "170":
            asan = f"{os.environ.get('ASAN_OPTIONS', '')}:max_malloc_fill_size=100000000:malloc_fill_byte={fill}"
            run("index", DATA / name, "--index", "twice", env={**os.environ, "MALLOC_PERTURB_": fill, "ASAN_OPTIONS": asan})
            with open("twice", "rb") as file:
                built.append(file.read())
            os.remove("twice")
        assert len(built[0]) > 4096 and built[0] == built[1] == built[2], name


def write_over(path):
    """Other bytes, as many, with a time of their own."""
    with open(path, "r+b") as file:
        data = file.read()
        middle = len(data) // 2
        file.seek(middle)
        file.write(bytes(b ^ 0x55 for b in data[middle:middle + 4096]))
    os.utime(path, (5, 5))


@case
def a_trace_that_is_written_over_while_it_is_served_is_not_read_any_more():
    trace = copy_trace("over")
    run("index", trace)
    with Server(trace) as server, Rsp(server.address) as r:
        r.ask("g")
        write_over(trace)
        r.send("qRcmd," + b"goto 3700".hex())
        console, reply = r.receive(), r.receive()
        assert "it was changed after it was opened" in bytes.fromhex(console[1:]).decode(), console
        assert reply.startswith("E"), reply
    assert "the trace is not the one that it was made from" in run("index", trace).stderr


run_cases()
