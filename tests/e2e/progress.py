#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Long work says how far it is, and ^C says what was kept and how to go on.

TRACESTUB_PROGRESS=0 makes each turn of the work a line. A pipe that nobody reads holds few of them, so that the work is
not over when the test interrupts it.
"""
import fcntl
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import termios
import zlib

from _long import HOT, LOOPS, STEPS, make_part, run_cases_on_long, write
from _record import recorder
from _tap import TRACESTUB, case

LIMIT = 300
SEGMENT = 4096 * 1024                   # instructions that the index keeps at once (src/trace/chunk.h)
TRACE, FRAMES = "whole.ucir", 1080      # twice that, and more than a full pipe of lines besides
N = FRAMES * LOOPS * STEPS
PART = "part.ucir"                      # half a million instructions
AMOUNT = r"(\d+(?:\.\d)?)(?: ([kMG]))? "
SCALE = {None: 1, "k": 1000, "M": 1000000, "G": 1000000000}


def environment(seconds="0"):
    return {**os.environ, "TRACESTUB_PROGRESS": seconds}


def default_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def start(*argv, **options):
    return subprocess.Popen([TRACESTUB, *argv], env=environment(), preexec_fn=default_interrupts, **options)


def run(*argv, seconds="0", status=0):
    done = subprocess.run([TRACESTUB, *argv], capture_output=True, text=True, timeout=LIMIT, env=environment(seconds))
    assert done.returncode == status, done
    return done


def check_lines(lines, name, doing, unit):
    """Lines of progress: (percent, amount) of each."""
    found = [re.fullmatch(rf"{name}: {doing}: (?:(\d+)%, )?{AMOUNT}{unit}(, \S+( [kMG])?/s)?(, [\d a-z]+ left)?", line)
             for line in lines]
    assert found and all(found), (name, lines[:3], lines[-3:])
    percents = [int(m[1]) for m in found if m[1]]
    amounts = [float(m[2]) * SCALE[m[3]] for m in found]
    assert percents == sorted(percents) and amounts == sorted(amounts) and percents[-1] <= 100, (percents, amounts)
    assert any(m[4] and m[6] for m in found), (lines[:3], lines[-3:])
    return percents, amounts


def progress_of(text, doing):
    return [line for line in text.splitlines() if f": {doing}: " in line]


@case
def in_a_log_each_line_stands_for_itself():
    done = run("index", TRACE)
    percents, amounts = check_lines(progress_of(done.stderr, "reading"), TRACE, "reading", "instructions")
    assert percents[0] < 10 and percents[-1] > 90 and 0.9 * N < amounts[-1] <= 1.01 * N, (percents, amounts)
    assert "\r" not in done.stderr and "\033" not in done.stderr, done.stderr
    assert "index: " not in progress_of(run("index", TRACE).stderr, "reading"), "nothing is left to be read"


def on_terminal(size, *argv):
    """The stderr of a run on a terminal of this size (rows, columns)."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", *size, 0, 0))
    with start(*argv, stderr=slave, stdout=subprocess.DEVNULL) as child:
        os.close(slave)
        said = b""
        try:
            while piece := os.read(master, 65536):
                said += piece
        except OSError:     # EIO: the other end is closed
            pass
        assert child.wait(LIMIT) == 0
    os.close(master)
    return said.decode()


@case
def on_a_terminal_one_line_changes_and_is_wiped():
    said = on_terminal((24, 80), "info", "--index", "none", TRACE)
    shown, _, rest = said.rpartition("\r\033[K")
    check_lines([line.removesuffix("\033[K") for line in shown.split("\r")[1:]], TRACE, "reading", "instructions")
    assert "reading" not in rest and shown.count("\n") == 0, said[-300:]


@case
def a_terminal_is_not_overflown():
    """A line that wraps would stay: it is as long as the terminal is wide, at most."""
    said = on_terminal((24, 30), "info", "--index", "none", PART)
    lines = [line.removesuffix("\033[K") for line in said.split("\r") if "reading" in line]
    assert lines and max(map(len, lines)) == 29, lines[-3:]


@case
def quiet_and_short_work_say_nothing():
    assert run("info", "--index", "none", "--quiet", PART).stderr == ""
    assert "reading" not in run("info", "--index", "none", PART, seconds="1000000").stderr


@case
def questions_comparisons_exports_packing_and_unpacking_say_it_too():
    run("index", TRACE)
    for words in ("in", "200000:400000"), ("in", "200000:400000", "last", "100000"):
        said = run("query", PART, "history", "$pc", *words, "--index", "none").stderr
        percents, amounts = check_lines(progress_of(said, "searching"), PART, "searching", "positions")
        assert percents[-1] > (90 if "last" not in words else 40) and amounts[-1] <= 200000, (percents, amounts)
    with open(PART, "rb") as f, open("other.ucir", "wb") as to:     # what is the same is not looked through
        to.write(f.read().replace(write(HOT, 1), write(HOT, 2)))
    said = run("diff", PART, "other.ucir", "--index", "none", status=1).stderr
    percents, _ = check_lines(progress_of(said, "comparing"), PART, "comparing", "positions")
    os.remove("other.ucir")
    assert percents[-1] > 90
    said = run("export", PART, "-o", "part.tf", "--positions", "0:40000", "--collect", "regs").stderr
    percents, amounts = check_lines(progress_of(said, "exporting"), "part.tf", "exporting", "frames")
    assert percents[-1] == 100 and amounts[-1] == 40000, (percents, amounts)
    os.remove("part.tf")
    said = run("pack", PART, "-o", "part.tspack").stderr
    percents, amounts = check_lines(progress_of(said, "packing"), PART, "packing", "bytes")
    assert percents[-1] == 100 and amounts[-1] >= 0.95 * os.path.getsize(PART), (percents, amounts)
    assert "packing" not in run("pack", PART, "-o", "part.tspack", "--quiet").stderr
    os.remove("part.tspack")
    said = run("plot", PART, "-o", "part.html").stderr
    percents, _ = check_lines(progress_of(said, "drawing"), "part.html", "drawing", "positions")
    assert percents[-1] > 80 and "drawing" not in run("plot", PART, "-o", "part.html", "--quiet").stderr, percents
    os.remove("part.html")
    packer = zlib.compressobj(0, wbits=31)
    with open(PART, "rb") as f, open("part.gz", "wb") as to:
        to.write(packer.compress(f.read()) + packer.flush())
    said = run("info", "part.gz", "--index", "none").stderr
    check_lines(progress_of(said, "unpacking"), "part.gz", "unpacking", "bytes")


def interrupt(child, is_enough, number=signal.SIGINT):
    """Send a signal, or close what reads the output, when a line of progress is enough; the rest of what was said."""
    while not is_enough(line := child.stderr.readline()):
        assert line, "the work was over before"
    if number == signal.SIGPIPE:
        child.stdout.close()
    else:
        child.send_signal(number)
    said = child.stderr.read()
    child.wait(LIMIT)
    return said


def amount(line):
    m = re.search(AMOUNT + "instructions", line)
    return float(m[1]) * SCALE[m[2]] if m else 0


def small_pipe():
    """Its reading end as a text file, its writing end."""
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    return os.fdopen(reader), writer


@case
def an_interrupted_index_keeps_what_it_has_and_goes_on():
    for name in f"{TRACE}.tsindex", f"{TRACE}.tsindex.part":
        if os.path.exists(name):
            os.remove(name)
    reader, writer = small_pipe()
    child = start("index", TRACE, stderr=writer)
    os.close(writer)
    child.stderr = reader
    said = interrupt(child, lambda line: amount(line) > SEGMENT + 200000)
    kept = int(re.search(rf"{TRACE}: interrupted; {TRACE}.tsindex.part keeps the first (\d+) instructions", said)[1])
    assert kept == SEGMENT and child.returncode == -signal.SIGINT, (kept, child.returncode)
    assert os.path.exists(f"{TRACE}.tsindex.part") and not os.path.exists(f"{TRACE}.tsindex")
    _, amounts = check_lines(progress_of(run("index", TRACE).stderr, "reading"), TRACE, "reading", "instructions")
    assert amounts[0] >= SEGMENT and os.path.exists(f"{TRACE}.tsindex"), amounts[0]


@case
def an_interrupted_reading_says_that_nothing_is_kept():
    """^C, SIGTERM (timeout sends it), and a pipe that nobody reads any more end it at once."""
    words = {signal.SIGINT: "interrupted", signal.SIGTERM: "ended by a signal (SIGTERM)", signal.SIGPIPE: "the reader of the answer has closed it"}
    for number, command in ((signal.SIGINT, ("query", TRACE, "hot")), (signal.SIGTERM, ("sql", TRACE, "SELECT count(*) FROM step")),
                            (signal.SIGPIPE, ("sql", TRACE, "SELECT count(*) FROM step")), (signal.SIGPIPE, ("query", TRACE, "hot"))):
        reader, writer = small_pipe()
        child = start(*command, "--index", "none", stderr=writer, stdout=subprocess.PIPE)
        os.close(writer)
        child.stderr = reader
        said = interrupt(child, amount, number)
        assert words[number] + "; nothing is kept: the index is in memory" in said and child.returncode == -number, (number, command, said)


@case
def an_interrupted_export_leaves_the_file_as_it_was():
    with open("kept.tf", "w", encoding="ascii") as f:
        f.write("before")
    run("index", TRACE)
    reader, writer = small_pipe()
    child = start("export", TRACE, "-o", "kept.tf", "--collect", "regs", stderr=writer, stdout=subprocess.DEVNULL)
    os.close(writer)
    child.stderr = reader
    said = interrupt(child, lambda line: ": exporting: " in line)
    assert "kept.tf: interrupted; it was not written, and --positions A:B exports a part" in said, said
    assert child.returncode == -signal.SIGINT
    assert [name for name in os.listdir(".") if name.startswith("kept.tf")] == ["kept.tf"]
    with open("kept.tf", encoding="ascii") as f:
        assert f.read() == "before"


@case
def an_interrupted_picture_leaves_the_file_as_it_was():
    with open("kept.svg", "w", encoding="ascii") as f:
        f.write("before")
    run("index", TRACE)
    reader, writer = small_pipe()
    child = start("plot", TRACE, "-o", "kept.svg", stderr=writer, stdout=subprocess.DEVNULL)
    os.close(writer)
    child.stderr = reader
    said = interrupt(child, lambda line: ": drawing: " in line)
    assert "kept.svg: interrupted; it was not written, and --in A:B draws a part" in said, said
    assert child.returncode == -signal.SIGINT
    assert [name for name in os.listdir(".") if name.startswith("kept.svg")] == ["kept.svg"]
    with open("kept.svg", encoding="ascii") as f:
        assert f.read() == "before"


@case
def an_interrupted_program_leaves_its_recording():
    """^C on the terminal that it runs in."""
    recorder()
    pathlib.Path("wait.sh").write_text("echo begun\nread -r line\n")
    master, slave = pty.openpty()

    def own_terminal():
        default_interrupts()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    with subprocess.Popen([TRACESTUB, "record", "-o", "sh.ucir", "sh", "wait.sh"], stdin=slave, stdout=slave, stderr=slave,
                          start_new_session=True, preexec_fn=own_terminal) as child:
        os.close(slave)     # else nobody reads the end where the program does not begin
        said = b""
        while b"begun" not in said:
            said += os.read(master, 65536)
        os.write(master, b"\x03")
        try:
            while piece := os.read(master, 65536):
                said += piece
        except OSError:
            pass
        assert child.wait(LIMIT) == -signal.SIGINT, said
    os.close(master)
    n = int(re.search(rb"sh.ucir: (\d+) instructions", said)[1])
    assert b"what it did until then is recorded: tracestub gdb sh.ucir" in said and n > 10000, said
    assert f"positions     0..{n}: " in run("info", "sh.ucir").stdout


@case
def an_interrupted_answer_says_where_it_ends():
    with start("query", TRACE, "history", "$pc", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        child.stdout.readline()
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=LIMIT)[1]
    assert child.returncode == 0 and re.search(r"stopped by \^C at position [\d,]+: [\d,]+ rows so far\n", said), said[-300:]
    assert 'the answer ends where it was; "in A:B" asks about fewer positions' in said, said[-300:]


run_cases_on_long(lambda: (make_part(TRACE, FRAMES), make_part(PART, 62)))
