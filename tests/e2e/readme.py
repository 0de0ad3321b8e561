#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What README says to type works: the lines of its first sections, one after the other."""
import os
import re
import shlex
import shutil
import signal
import subprocess

from _tap import DATA, SRCDIR, TRACESTUB, add_case, case, run_cases, skip

README = (SRCDIR / "README").read_text()
LIMIT = 60
NAMES = {"./tracestub": TRACESTUB, "tracestub": TRACESTUB,
         "TRACE": shutil.copy(DATA / "usercorn/x64_walk.ucir", "trace.ucir"),      # marks are kept beside it
         "PROGRAM": str(DATA / "usercorn/x64_walk.elf"), ":1234": ":0"}


def block(title):
    """The indented lines of a section, without what is said behind them."""
    section = re.search(rf"^{title}\n-+\n(.*?)(?=^[^\n]+\n-+\n|\Z)", README, re.M | re.S)
    assert section, f"README has no section {title!r}"
    return [re.sub(r"\s{2,}.*", "", line) for line in re.findall(r"^    (\S.*)$", section[1], re.M)]


def words(line):
    line = line.replace("[", "").replace("]", "")
    return [NAMES.get(word, word) for word in shlex.split(line)]


def line_words(line):
    """PROGRAM is not the one that the recording is of."""
    return [TRACESTUB if word == "tracestub" else word for word in shlex.split(line)]


START, USE, ASK = block("From a clone to reverse-stepi"), block("Using it"), block("Questions")
STORY = [line for line in block("A story") if line.startswith("(gdb) ")]


def check_line(line):
    """A shell line: of those that build, that they mean something; the others are run."""
    argv = words(line)
    if line == "./bootstrap && make demo":
        assert os.access(SRCDIR / "bootstrap", os.X_OK) and os.access(SRCDIR / "tests/demo/run", os.X_OK)
    elif argv == ["make"]:
        assert (SRCDIR / "Makefile.am").is_file()
    elif argv[:2] == [TRACESTUB, "info"]:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0 and "usercorn" in done.stdout, done
    elif argv[:2] == [TRACESTUB, "index"]:
        done = subprocess.run([*argv, "--index", "here"], capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0 and os.path.isfile("here"), done
    elif argv[:2] == [TRACESTUB, "export"]:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0 and os.path.getsize("OUT.tf") > 1 << 20, done
    elif argv[:2] == [TRACESTUB, "plot"]:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0 and os.path.getsize("OUT.html") > 1 << 16, done
    elif argv[:2] == [TRACESTUB, "gdb"]:
        check_session(argv)
    elif argv[:2] == [TRACESTUB, "record"]:
        shutil.which("qemu-x86_64") or skip("no qemu-x86_64: Debian's package is qemu-user")
        done = subprocess.run([{"PROGRAM": "/bin/echo"}.get(a, a) for a in line_words(line)], capture_output=True, text=True,
                              timeout=LIMIT)
        assert done.returncode == 0 and done.stdout == "ARGS\n" and os.path.getsize("OUT"), done
    elif argv[:2] == [TRACESTUB, "lldb"]:
        shutil.which("lldb") or skip("no lldb")
        env = {k: v for k, v in os.environ.items() if k not in ("PYTHONHOME", "PYTHONPATH")}
        done = subprocess.run([*argv, "--", "--no-lldbinit", "--batch", "-o", "when"], capture_output=True, text=True,
                              timeout=LIMIT, env=env, stdin=subprocess.DEVNULL)
        assert "position 0 of 7480" in done.stdout, done
    elif argv[:2] == [TRACESTUB, "serve"]:
        server = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True)
        said = server.stderr.readline()
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=LIMIT)
        assert said.startswith("Listening on ") and server.returncode == 0, (said, server.returncode)
    else:
        raise AssertionError(f"this test does not know what to make of {line!r}")


def check_session(argv):
    """Both sections' gdb commands; none may be refused."""
    if not shutil.which("gdb"):
        skip("no gdb")
    commands = [line.removeprefix("(gdb) ") for line in START + USE if line.startswith("(gdb) ")]
    assert len(commands) > 5, commands
    numbered = [a for n, c in enumerate(commands) for a in ("-ex", f"echo <{n}>\\n", "-ex", c)]
    done = subprocess.run([*argv, "--", "-nx", "-q", "-batch", *numbered], stdout=subprocess.PIPE, timeout=LIMIT,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
    said = re.split(r"<\d+>\n", done.stdout)[1:]
    assert len(said) == len(commands), done.stdout
    for command, text in zip(commands, said):
        assert text.strip(), (command, done.stdout)
        for complaint in "Undefined", "not supported", "Cannot", "No symbol", "wants", "Protocol error":
            assert complaint not in text, (command, text)
    assert "position 7443 of 7480" in done.stdout, done.stdout    # as README shows it


def check_question(line):
    """A question of README has an answer; that of diff is that the recording does not differ from itself."""
    argv = words(line)
    done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0 and "example:" not in done.stderr, done
    assert argv[1] == "diff" or len(done.stdout.splitlines()) > 1, done


@case
def the_story_is_told_as_it_happens():
    """In gdb, what stands to the right of a command is part of what it prints."""
    shutil.which("gdb") or skip("no gdb")
    section = re.search(r"^A story\n-+\n(.*?)(?=^[^\n]+\n-+\n)", README, re.M | re.S)[1]
    told = [(m[1], m[2] or "") for m in re.finditer(r"^    \(gdb\) (.*?)(?: {2,}(.*))?$", section, re.M)]
    assert len(told) > 4, told
    commands = [a for n, (c, _) in enumerate(told) for a in ("-ex", f"echo <{n}>\\n", "-ex", c)]
    done = subprocess.run([TRACESTUB, "gdb", NAMES["TRACE"], NAMES["PROGRAM"], "--", "-nx", "-q", "-batch", *commands],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT,
                          stdin=subprocess.DEVNULL)
    said = re.split(r"<\d+>\n", done.stdout)[1:]
    for (command, expected), text in zip(told, said):
        for part in expected.split(", ") if "value" in expected else [expected]:
            assert part in text, (command, part, text)
    assert "walk.c:40" in done.stdout and len(said) == len(told), done.stdout


@case
def a_crash_is_recorded_and_explained_in_four_commands():
    """Two for a shell, two for gdb; what stands to the right is part of what the latter print."""
    shutil.which("gdb") or skip("no gdb")
    shutil.which("qemu-x86_64") or skip("no qemu-x86_64: Debian's package is qemu-user")
    section = re.search(r"^Your own crash\n-+\n(.*?)(?=^[^\n]+\n-+\n)", README, re.M | re.S)[1]
    record, debug = [words(line) for line in re.findall(r"^    \$ (.*)$", section, re.M)]
    told = re.findall(r"^    \(gdb\) (.*?) {2,}(.*)$", section, re.M)
    assert len(told) == 2, told
    subprocess.run(["gcc", "-g", "-o", "friends", str(DATA / "record/friends.c")], check=True, timeout=LIMIT)
    done = subprocess.run(record, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == -signal.SIGSEGV and "unexplained 0" in done.stderr, done
    commands = [a for n, (c, _) in enumerate(told) for a in ("-ex", f"echo <{n}>\\n", "-ex", c)]
    done = subprocess.run([*debug, "--", "-nx", "-q", "-batch", *commands], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
    said = re.split(r"<\d+>\n", done.stdout)[1:]
    assert len(said) == 2 and all(part in text for (_, part), text in zip(told, said)), done.stdout


@case
def the_storys_questions_name_the_line():
    section = re.search(r"^A story\n-+\n(.*?)(?=^[^\n]+\n-+\n)", README, re.M | re.S)[1]
    lines = re.findall(r"^    \$ (tracestub .*)$", section, re.M)
    assert len(lines) == 2, lines
    for line in lines:
        done = subprocess.run(words(line), capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0 and "\t7443\t" in "\t" + done.stdout.replace("\n", "\n\t"), done


for line in ASK:
    add_case(f"README: {line}".replace("#", ""), check_question, line)
for line in START + USE:
    if not line.startswith("(gdb) "):
        add_case(f"README: {line}".replace("#", ""), check_line, line)


@case
def the_table_of_front_ends_names_tests_that_are_there():
    header, *rows = re.search(r"^Front ends\n-+\n.*?^( +gdb +gdb/MI .*?)\n\n", README, re.M | re.S)[1].splitlines()
    assert len(rows) == 9 and len(header.split()) == 5, (header, rows)
    for row in rows:
        for cell in row.split()[-5:]:
            assert cell in ("gdb", "-") or (SRCDIR / f"tests/e2e/{cell}.py").is_file(), (cell, row)


@case
def readme_begins_with_the_lines_for_a_clone():
    assert START[0] == "./bootstrap && make demo" and START[-1] == "(gdb) reverse-stepi", START
    assert any(line.startswith("(gdb) ") for line in USE), USE


run_cases()
