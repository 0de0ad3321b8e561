#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Costs that are products of two numbers of a file, or of a client: the processor's time and the memory of a command grow
with the length of the file, and not with the product."""
import atexit
import os
import pathlib
import subprocess
import sys
import tempfile

import _hostile
import _pairs
import _ucir2
from _count import Counter, can_count
from _rsp import Rsp
from _server import Server
from _tap import DATA, LIMIT, TRACESTUB, add_case, case, run_cases
from _weigh import weigh

FOLDER = pathlib.Path(tempfile.mkdtemp())


def run_and_weigh(path, *argv):
    """The status, the processor's time and the most memory (KiB) of a command about @path, and what it said."""
    out = FOLDER / "said"
    with open(out, "wb") as f:
        weighed = weigh(TRACESTUB, argv[0], path, "--index", "none", *argv[1:], stdout=f, stderr=f)
    return *weighed, out.read_text(errors="replace")


def cost(path, *argv):
    """The same of a command that succeeds, without its status."""
    status, *rest = run_and_weigh(path, *argv)
    assert status == 0, (argv, rest[-1][-500:])
    return rest


def long_reads(path, n, length):
    """One step with @n reads of @length bytes each."""
    path.write_bytes(_ucir2.ucir2(
        "x86_64", _ucir2.keyframe(1, 1, _ucir2.map_(0x1000, 0x1000, 5), _ucir2.write(0x1000, b"\x90" * 64)),
        _ucir2.frame(1, 1, _ucir2.jmp(0x1000), *[_ucir2.step(1)] * 10,
                     *[_ucir2.read((i << 32) & (1 << 64) - 1, length) for i in range(n)], _ucir2.step(1), _ucir2.step(1))))
    return path


@case
def reads_times_their_length():
    """2,000 reads of 4 GiB looked at two milliards of pages: 40 s."""
    _, memory, said = cost(long_reads(FOLDER / "r.ucir", 2000, 0xffffffff), "info")
    assert memory < 400 << 10 and "do not count as read" in said, (memory, said[-300:])
    count = {n: instructions(long_reads(FOLDER / "r.ucir", n, 0xffffffff)) for n in (1, 100)}
    assert count[100] <= 1.5 * count[1], count


@case
def exported_frames_times_the_length_of_reads():
    """98 s, and more: what is left out is not walked."""
    seconds = {}
    for length in 0x10000, 0xffffffff:
        out = "export", "-o", FOLDER / "r.tf"
        seconds[length], memory, said = cost(long_reads(FOLDER / "r.ucir", 50, length), *out)
    assert memory < 400 << 10 and "more memory than is exported" in said, (memory, said[-300:])
    assert seconds[0xffffffff] < 4 * seconds[0x10000] + 2, seconds


@case
def headers_of_a_core_file_times_its_notes():
    """1,600 headers about the same 400 KB of notes took 1.6 GB and 17 s."""
    files = [0x3000 + 0x4000 * i for i in range(15000)]
    for n in 1, 1600:
        path = FOLDER / "core"
        path.write_bytes(b"".join(_hostile.gdb_core([0x1000], files, [(0x1000, 0x1001)], n)))
        _, memory, said = cost(path, "info")
        assert memory < 100 << 10, (n, memory)
        assert (f"{n - 1} segments of notes" in said) == (n > 1), said


def generate(path, module, *argv):
    """By another process: a child's peak of memory is at least that of the process that starts it."""
    with open(path, "wb") as f:
        subprocess.run([sys.executable, pathlib.Path(__file__).with_name(module), *map(str, argv)], stdout=f, check=True)


def grows_with_both(what, at, slack, factor=1.5):
    """at(4, 4) is that of a sum of two costs, not that of their product, which would be twice as much."""
    first, second, both = at[4, 1] - at[1, 1], at[1, 4] - at[1, 1], at[4, 4] - at[1, 1]
    assert both <= factor * (max(first, 0) + max(second, 0)) + slack, (what, at)


counter = None


def instructions(path):
    """How many the command executes.  0 without valgrind."""
    global counter
    if not can_count():
        return 0
    options = "--no-sandbox", "--quiet", "--index", "none", "--jobs", "1"
    if not counter:
        counter = Counter("info", path, *options)
        atexit.register(counter.close)
    return counter.count("info", path, *options)


# Of the sizes of _pairs: instructions are exact, so that small traces tell a sum from a product; a page is not.
COUNTED, WEIGHED = 10, 3


def generate_pair(path, name, a, b):
    """By a child, whose memory no command has at its start."""
    child = os.fork()
    if child == 0:
        try:
            _pairs.write(name, a, b, path)
        finally:
            os._exit(not sys.exc_info()[0] is None)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def family(name):
    path, (a, b) = FOLDER / "pair", _pairs.FAMILIES[name]
    count, memory = {}, {}
    for times in (1, 1), (4, 1), (1, 4), (4, 4):
        generate_pair(path, name, a // COUNTED * times[0], b // COUNTED * times[1])
        count[times] = instructions(path)
        generate_pair(path, name, a // WEIGHED * times[0], b // WEIGHED * times[1])
        memory[times] = cost(path, "info", "--jobs", "1")[1]
    grows_with_both((name, "instructions"), count, 1000000, 1.1)
    grows_with_both((name, "KiB"), memory, (20 << 10) // WEIGHED)


for _name in _pairs.FAMILIES:
    add_case(f"a sum and no product: {_name}", family, _name)


@case
def twice_as_many_tracepoints():
    """3,000 of them took three times what 1,500 took."""
    path, count = FOLDER / "pair", []
    for n in 500, 1000, 2000:
        generate_pair(path, "tracepoints_frames", n, 1)
        count.append(instructions(path))
    assert count[2] - count[1] <= 2.2 * (count[1] - count[0]), count


@case
def the_index_of_threads_in_turn():
    """Bytes of the index for an instruction more, where another one of 100 threads runs at each: 3.4 were 2.9 of notes who runs."""
    size = {}
    for n in 100000, 200000:
        path, index = FOLDER / "turns.ucir", FOLDER / "turns.idx"
        _pairs.write("threads_turns", 100, n, path)
        subprocess.run([TRACESTUB, "index", path, "--index", index, "--quiet"], check=True, timeout=LIMIT, stdout=subprocess.DEVNULL)
        size[n] = index.stat().st_size
        index.unlink()
    assert size[200000] - size[100000] < 1.7 * 100000, size


def max_memory_ends_reading(name, n):
    """
    What does not fit is not read, whatever part of the index it is for: regions, events, texts, positions of code, calls.
    One job, because several jobs decode ahead of the part that is counted, and how far depends on the load.
    """
    path, memory = FOLDER / "hostile", {}
    for times in 1, 2:
        generate(path, "_hostile.py", name, n * times)
        _, memory[times], said = cost(path, "info", "--jobs", "1", "--max-memory", "2M")
        assert "more memory than the limit (2097152 bytes)" in said, said[-500:]
    assert memory[2] - memory[1] < 3 << 10, memory


for _name, _n in ("ucir_maps", 40000), ("rvn_interrupts", 50000), ("tenet_gaps", 40000), ("text_steps", 120000), ("ucir_calls", 90000):
    add_case(f"--max-memory ends reading: {_name}", max_memory_ends_reading, _name, _n)


# What a few instructions make grow, or one, or none yet: threads, effects, the bytes of a frame, mapped files.  Without a
# bound they take 50 to 112 MiB, and the last one 34.
FEW = {"x64_threads": (6000, "the index needs more memory than the limit"),
       "rvn_regions": (60000, "an instruction needs more memory than the limit"),
       "ucir_syscalls": (1000000, "an instruction needs more memory than the limit"),
       "ucir_processes": (4000, "more than 256 processes: --max-memory allows no more"),
       "tf_nested": (160000, "--max-memory allows no more"),
       "gdb_files": (30000, "mapped files are ignored: --max-memory allows no more")}


def max_memory_bounds_few_instructions(name, n, why):
    path = FOLDER / "hostile"
    generate(path, "_hostile.py", name, n)
    status, _, memory, said = run_and_weigh(path, "info", "--jobs", "1", "--max-memory", "8M")
    assert status in (0, 1) and why in said, (status, said[-500:])
    assert memory < 32 << 10, (name, memory)


for _name, _few in FEW.items():
    add_case(f"--max-memory bounds few instructions: {_name}", max_memory_bounds_few_instructions, _name, *_few)


@case
def the_memory_of_a_trace_frame_is_bounded():
    """A frame of many blocks took 7 bytes for each of its own, whatever --max-memory was: 163 MiB here."""
    path = FOLDER / "hostile"
    generate(path, "_hostile.py", "tf_ranges", 60000)
    _, _, memory, said = run_and_weigh(path, "info", "--jobs", "1", "--max-memory", "8M")
    assert "--max-memory allows no more" in said or "needs more memory than the limit" in said, said[-500:]
    assert memory < 64 << 10, memory


@case
def sessions_times_threads():
    """Each client has its place and its stop; what a recording has once is not there for each client."""
    memory = {}
    for times in (1, 1), (4, 1), (1, 4), (4, 4):
        path = FOLDER / "threads.ucir"
        _pairs.write("threads_turns", 1000 * times[0], 10000, path)
        with Server(path, "--index", "none") as server:
            clients = [Rsp(server.address) for _ in range(8 * times[1])]
            for r in clients:
                r.ask("qXfer:threads:read::0,ffff")
                r.ask("qfThreadInfo")
                r.ask("QTinit")
            status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
            memory[times] = int(status.split("VmHWM:")[1].split()[0])
            for r in clients:
                r.close()
    grows_with_both("KiB", memory, 20 << 10)


@case
def marks_are_removed_from_both_places():
    """A mark that was kept in the cache directory, because the trace's folder could not be written then."""
    trace, cache = FOLDER / "t.ucir", FOLDER / "cache"
    trace.write_bytes((DATA / "usercorn/x64_walk.ucir").read_bytes())
    (cache / "tracestub").mkdir(parents=True)
    number = 0xcbf29ce484222325
    for byte in os.path.realpath(trace).encode():
        number = (number ^ byte) * 0x100000001b3 & (1 << 64) - 1
    kept = cache / "tracestub" / f"t.ucir-{number:016x}.tsmarks"

    def ask(*question):
        return subprocess.run([TRACESTUB, "query", "--quiet", "--index", "none", trace, *question], capture_output=True, text=True,
                              timeout=LIMIT, env={**os.environ, "XDG_CACHE_HOME": str(cache)})

    kept.write_text("# tracestub marks\n100 here some text\n150 there\n")
    assert "100\there" in ask("marks").stdout
    assert ask("unmark", "here").returncode == 0
    left = ask("marks").stdout
    assert "here\t" not in left.replace("there", "") and "150\tthere" in left, left
    beside = FOLDER / "t.ucir.tsmarks"
    for bad in b"#\n" * 3000000, b"5 a\0\n6 b\n":
        beside.write_bytes(bad)
        for question in ("marks",), ("mark", "x", "at", "3"):
            done = ask(*question)
            assert done.returncode == 3 and "marks" in done.stderr, done
        assert beside.read_bytes() == bad


@case
def bytes_that_are_no_utf_8_are_refused():
    trace = DATA / "usercorn/x64_walk.ucir"
    for text in b"\xe0\x80\xb1", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xc0\xb1":
        done = subprocess.run([TRACESTUB, "query", "--quiet", "--index", "none", trace, b'find u16"' + text + b'"'], capture_output=True,
                              timeout=LIMIT)
        assert done.returncode == 2, (text, done)
    done = subprocess.run([TRACESTUB, "query", "--quiet", "--index", "none", trace, 'find u16"\u00e4\U0001f600"'], capture_output=True,
                          timeout=LIMIT)
    assert done.returncode in (0, 1), done


run_cases()
