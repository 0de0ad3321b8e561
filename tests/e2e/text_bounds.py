#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lines of text traces that are no lines: what they cost in memory, and what is said of them.

The sizes are a part of what was tried by hand: a line of a gigabyte.
"""
import gzip
import os
import pathlib
import subprocess
import tempfile

from _tap import DATA, TRACESTUB, case, run_cases

SAMPLES = DATA / "text-samples"
FOLDER = pathlib.Path(tempfile.mkdtemp())
LONG = int(os.environ.get("TEST_LONG_LINE", 192 << 20))
IMAGE = 4 * 64 << 10 # the same for 64 MiB of a module
MOST = 48 << 10 # KiB beside what the same log takes without the line


def run(*args):
    """Exit status, what it says, and its peak of memory in KiB."""
    with tempfile.TemporaryFile() as out:
        argv = [TRACESTUB, *map(str, args), "--index", "none"]
        process = subprocess.Popen(argv, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return process.returncode, " ".join(out.read().decode(errors="replace").split()), usage.ru_maxrss


def lines(name="made-aarch64.log"):
    return gzip.decompress((SAMPLES / f"{name}.gz").read_bytes())


def write(name, *pieces):
    path = FOLDER / name
    with path.open("wb") as file:
        for piece in pieces:
            if isinstance(piece, bytes):
                file.write(piece)
            else:
                for _ in range(piece >> 20):
                    file.write(b"a" * (1 << 20))
    return path


def alone():
    return run("info", write("alone.log", lines()))


@case
def a_long_line_among_others_is_passed_over_and_counted():
    whole = lines()
    half = whole.index(b"\n", len(whole) // 2) + 1
    status, said, peak = run("info", write("long.log", whole[:half], LONG, b"\n", whole[half:]))
    assert status == 0 and "348 instructions" in said, said
    assert f"first at offset {half:#x}: the line has more than 1 MiB: it is ignored" in said, said
    assert peak < alone()[2] + MOST, peak


@case
def a_file_of_one_line_is_refused():
    for name, line in ("one.log", []), ("step.log", [lines()[:200].split(b"\n")[0]]):
        status, said, peak = run("info", write(name, *line, LONG))
        assert status == 1 and ("no known trace format" in said or "no line is" in said or "no instruction line" in said), said
        assert peak < alone()[2] + MOST, peak


@case
def a_compressed_line_is_no_way_around_that():
    path = FOLDER / "packed.log.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(lines())
        for _ in range(LONG >> 20):
            file.write(b"a" * (1 << 20))
    status, said, peak = run("info", path)
    assert status == 0 and "348 instructions" in said, said
    assert peak < alone()[2] + MOST, peak


@case
def the_bytes_of_images_are_bounded_by_max_memory():
    """No line may take the process above --max-memory, not even one that is long by right."""
    trace = lines("insn-walk64.trace")
    images = [b"Loaded image: 0x%x:0x%x -> /lib/%d Bytes: " % (at, at + (24 << 20) - 1, at) for at in (0x7F0000000000, 0x7E0000000000)]
    path = write("images.trace", images[0], 48 << 20, b"\n", images[1], 48 << 20, b"\n", trace)
    status, said, peak = run("info", path, "--max-memory", "64M")
    assert status == 0 and "397 instructions" in said, said
    assert "first at offset 0x0: the module has more than 64 MiB, or more than --max-memory leaves for it" in said, said
    assert peak < 64 << 10, peak


@case
def the_bytes_of_an_image_are_read_in_pieces():
    """So much of a module is kept, however long its line is, and however far the first instruction is."""
    trace = lines("insn-walk64.trace")
    n = LONG // 2
    image = b"Loaded image: 0x%x:0x%x -> /lib/large Bytes: "
    first, second = image % (0x7E0000000000, 0x7E0000000000 + n // 2 - 1), image % (0x7F0000000000, 0x7F0000000000 + n - 1)
    status, said, peak = run("info", write("image.trace", first, LONG // 2, b"\n", second, LONG, b"\n", trace))
    assert status == 0 and "/lib/large" in said and "the module has more than 64 MiB" in said, said
    assert peak < alone()[2] + 2 * IMAGE, peak


@case
def stores_of_unknown_sizes_cost_no_memory_each():
    """execlog of x86 has no sizes of stores, and of long instructions not the code that tells them."""
    log, peaks = lines("real-one-x86_64.log").split(b"\n"), []
    log = b"".join(line + b"\n" for line in log if line.startswith(b"0, "))
    for n in 2000, 6000:
        path = write("repeated.log", *[log] * n)
        status, said, peak = run("info", path)
        assert status == 0 and f"{399 * n} instructions" in said, said
        path.unlink()
        peaks.append(peak)
    assert peaks[1] < peaks[0] + (20 << 10), peaks


@case
def junk_between_lines_is_counted():
    for name, each in ("made-aarch64.log", 1), ("qbdi-walk.log", 9):
        n = len(whole := lines(name).split(b"\n")[:-1]) // each
        mixed = b"".join(line + b"\n" + (i % each == each - 1) * b"[    1.23] usb 1-1: new device\n" for i, line in enumerate(whole))
        status, said, _ = run("info", write("mixed.log", mixed))
        assert status == 0 and "348 instructions" in said, said
        assert f"the line does not belong to this format: it is ignored ({n} times)" in said, (n, said)


run_cases()
