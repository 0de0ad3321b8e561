#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What README says to type works: the lines of its first sections, one after the other."""
import os
import re
import shlex
import shutil
import signal
import subprocess

from _lldb import environment, lldb_path
from _manual import page
from _record import recorder
from _tap import DATA, LIMIT, SRCDIR, TRACESTUB, add_case, case, run_cases, skip

README = (SRCDIR / "README").read_text()
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
    elif argv[:2] == [TRACESTUB, "dap"]:        # e2e/dap_gdb; gdb may be too old for it
        done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
        assert done.returncode == 0 or "needs gdb 14 or later" in done.stderr, done
    elif argv[:2] == [TRACESTUB, "index"]:
        done = subprocess.run([*argv, "--index", "here"], capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0 and os.path.isfile("here"), done
    elif argv[:2] == [TRACESTUB, "export"]:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0 and os.path.getsize("OUT.tf") > 1 << 20, done
    elif argv[:2] == [TRACESTUB, "plot"]:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0 and os.path.getsize("OUT.html") > 1 << 16, done
    elif argv[:2] == [TRACESTUB, "pack"]:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0 and done.stdout.startswith("OUT: the trace"), done
    elif argv[:2] == [TRACESTUB, "gdb"]:
        check_session(argv)
    elif argv[:2] == [TRACESTUB, "record"]:
        recorder()
        done = subprocess.run([{"PROGRAM": "/bin/echo"}.get(a, a) for a in line_words(line)], capture_output=True, text=True,
                              timeout=LIMIT)
        assert done.returncode == 0 and done.stdout == "ARGS\n" and os.path.getsize("OUT"), done
    elif argv[:2] == [TRACESTUB, "lldb"]:
        lldb_path()
        done = subprocess.run([*argv, "--", "--no-lldbinit", "--batch", "-o", "when"], capture_output=True, text=True,
                              timeout=LIMIT, env=environment(), stdin=subprocess.DEVNULL)
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


def sessions(title):
    """The section's commands with the lines that they print: [(prompt, command, lines)], prompt "$" or "(gdb)"."""
    found = []
    for line in re.findall(r"^    (.*)$", re.search(rf"^{title}\n-+\n(.*?)(?=^[^\n]+\n-+\n)", README, re.M | re.S)[1], re.M):
        if command := re.match(r"(\$|\(gdb\)) (.*)", line):
            found.append((command[1], command[2], []))
        else:
            found[-1][2].append(line)
    return found


def check_output(command, lines, text):
    """Each line of README is printed, in order; numbers differ from system to system, and "..." leaves out the rest."""
    at, shown = 0, [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]
    for line in lines:
        words = re.sub(r"\s+", " ", line).strip().removesuffix(" ...")
        pattern = re.sub(r"(0x)?\\?[0-9a-f]*[0-9][0-9a-f]*", lambda m: r"(0x)?[0-9a-f]+", re.escape(words))
        pattern += ".*" if line.endswith(" ...") else ""
        while at < len(shown) and not re.fullmatch(pattern, shown[at]):
            at += 1
        assert at < len(shown), (command, line, text)


@case
def a_crash_is_recorded_and_explained_as_it_is_told():
    shutil.which("gdb") or skip("no gdb")
    recorder()
    told = sessions("Your own crash")
    (_, compile_line, _), (_, record_line, said), (_, debug_line, _) = [t for t in told if t[0] == "$"]
    questions = [t for t in told if t[0] == "(gdb)"]
    assert len(questions) == 6 and all(lines for _, _, lines in questions), told
    os.symlink(SRCDIR / "tests", "tests")
    subprocess.run(shlex.split(compile_line), check=True, timeout=LIMIT)
    done = subprocess.run(words(record_line), capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == -signal.SIGSEGV, done
    check_output(record_line, said, done.stderr)
    commands = [a for n, (_, c, _) in enumerate(questions) for a in ("-ex", f"echo <{n}>\\n", "-ex", c)]
    done = subprocess.run([*words(debug_line), "--", "-nx", "-q", "-batch", *commands], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
    said = re.split(r"<\d+>\n", done.stdout)[1:]
    assert len(said) == len(questions), done.stdout
    for (_, command, lines), text in zip(questions, said):
        check_output(command, lines, text)
    # The line that is to blame, by the program's text.
    source = (DATA / "record/friends.c").read_text().splitlines()
    assert questions[-1][2][0].split("\t", 1)[1].strip() in source[30], questions[-1]


@case
def the_two_commands_at_its_beginning():
    shutil.which("gdb") or skip("no gdb")
    recorder()
    record, debug = re.search(r"^Two commands:\n\n    (.*)\n    (.*)\n", README, re.M).groups()
    shutil.copy("/bin/true", "prog")
    subprocess.run(words(record), check=True, capture_output=True, timeout=LIMIT)
    done = subprocess.run([*words(debug), "--", "-nx", "-batch", "-ex", "goto end", "-ex", "when"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
    assert "(100.00%)" in done.stdout, done


@case
def the_files_that_it_names_are_there():
    text = README + (SRCDIR / "src/README").read_text() + (SRCDIR / "tests/README").read_text()
    names = set(re.findall(r"(?<![\w./])(?:src|tests|loaders|protocol|\.ci)/[\w./*-]*\w(?![\w<])", text))
    assert len(names) > 30, names
    for name in sorted(names - {"tests/out/e2e/plot", "tests/out"}):
        at = name if name.startswith("tests/out") else name.removesuffix("/*.png")
        there = [at, f"{at}.py", f"{at}.c"]
        assert at.startswith("tests/out") or any(list(SRCDIR.glob(t)) for t in there), name


@case
def each_format_is_in_the_table():
    table = re.search(r"^Formats\n-+\n(.*?)(?=^[^\n]+\n-+\n)", README, re.M | re.S)[1]
    named = set(re.findall(r"^    (\w+) ", table, re.M))
    rows = dict(re.findall(r"^(\w+) +(made by .*?)(?=\n\n|\Z)", page("tracestub-formats.7"), re.M | re.S))
    formats = {p.name for p in (SRCDIR / "loaders").iterdir() if (p / f"{p.name}.c").is_file()} - {"text"}
    assert set(rows) == named == formats, (set(rows), named, formats)
    for name, text in rows.items():
        assert [w for w in ("made by", "record", "knows", "lacks") if not re.search(rf"(^|^ {{13}}){w}  +\S", text, re.M)] == [], name


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
    header, *rows = re.search(r"^( +gdb +gdb/MI .*?)\n[A-Zg][^\n]* (?:read files)", page("tracestub-frontends.7"), re.M | re.S)[1].splitlines()
    assert len(rows) == 9 and len(re.split(" {2,}", header.strip())) == 7, (header, rows)
    for row in rows:
        for cell in row.split()[-7:]:
            assert cell in ("gdb", "-") or (SRCDIR / f"tests/e2e/{cell}.py").is_file(), (cell, row)


@case
def readme_begins_with_the_lines_for_a_clone():
    assert START[0] == "./bootstrap && make demo" and START[-1] == "(gdb) reverse-stepi", START
    assert any(line.startswith("(gdb) ") for line in USE), USE


run_cases()
