#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command line: what it takes, what it says, and with which status it ends."""
import gzip
import json
import os
import pathlib
import re
import signal
import socket
import stat
import subprocess
import tempfile

from _tap import DATA, LIMIT, SRCDIR, TRACESTUB, add_case, case, run_cases

TRACE = DATA / "usercorn/x64_walk.ucir"


def run(*args, **options):
    return subprocess.run([TRACESTUB, *map(str, args)], capture_output=True, text=True, timeout=LIMIT, **options)


def info(*args):
    """`info --json`, parsed."""
    done = run("info", "--json", *args)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def check_refused(args, status, *texts):
    """One command line: nothing on stdout, the status, and on stderr what is wrong."""
    done = run(*args)
    assert done.returncode == status, done
    assert done.stdout == "", done
    for text in texts:
        assert text in done.stderr, (text, done)
    return done


# ------------------------------------------------------------------------------------------------ usage

USAGE = {
    "no command": ([], "usage: tracestub"),
    "an unknown command": (["walk", TRACE], "'walk' is not a command"),
    "a slip in a command": (["ifno", TRACE], "did you mean 'info'?"),
    "a program named twice": (["gdb", TRACE, "a", "--exec", "b"], "the program is named twice"),
    "three operands of gdb": (["gdb", TRACE, "a", "b"], "too many arguments"),
    "one of several traces at stdin": (["info", TRACE, "-"], "the standard input cannot be one of several"),
    "an unknown option": (["info", "--colour", TRACE], "unrecognized option '--colour'"),
    "an option without its argument": (["info", TRACE, "--exec"], "option '--exec' requires an argument"),
    "an option of another command": (["info", "--once", TRACE], "'tracestub info' has no option --once"),
    "the option of export elsewhere": (["info", "-o", "out", TRACE], "'tracestub info' has no option -o"),
    "no trace": (["info"], "usage: tracestub info TRACE"),
    "two traces": (["index", TRACE, TRACE], "too many arguments"),
    "serve without COMM": (["serve", TRACE], "usage: tracestub serve COMM TRACE"),
    "a log level that is none": (["info", "--log", "loud", TRACE], "error, warn, info, debug or trace"),
    "an unknown format": (["info", "--format", "vhs", TRACE], "usercorn"),
    "an index that is to be nowhere": (["index", TRACE, "--index", "none"], "--index none is not allowed"),
    "reads neither indexed nor not": (["info", TRACE, "--index-reads", "some"], "yes or no"),
    "a size that is none": (["info", TRACE, "--max-memory", "1T"], "K, M or G"),
    "no jobs": (["index", TRACE, "--jobs", "0"], "--jobs 0: a number from 1 to 256"),
    "too many jobs": (["index", TRACE, "--jobs", "257"], "a number from 1 to 256"),
    "an image beyond all addresses": (["info", TRACE, "--image", "raw@0x10000000000000000"], "no address is that large"),
    "export to no file": (["export", TRACE], "'tracestub export' needs -o OUT.tf"),
    "export of no positions": (["export", TRACE, "-o", "out.tf", "--positions", "9:8"], "FIRST:LAST"),
    "export of no address": (["export", TRACE, "-o", "out.tf", "--at", "12x"], "as in 0x401000"),
    "export at no symbol": (["export", TRACE, "-o", "out.tf", "--at", "nosuch"], "no such symbol"),
    "export of nothing": (["export", TRACE, "-o", "out.tf", "--collect", "regs,heap"], "'heap' cannot be collected"),
    "an unknown processor": (["info", "--arch", "pdp11", TRACE], "x86_64"),
    "a port that is none": (["serve", ":http-alt", TRACE], "http-alt"),
    "a COMM that is none": (["serve", "nowhere", TRACE], "nowhere"),
}
for name, (args, text) in USAGE.items():
    add_case(f"{name} is a usage error", check_refused, args, 2, text)


FOLDERS = {"not there": ("nowhere", ": No such file"), "no folder": (TRACE, "")}
for name, (path, text) in FOLDERS.items():
    add_case(f"a folder to save in that is {name} is refused at once", check_refused,
             ["serve", ":0", TRACE, "--export-dir", path], 1, f"{path}: is not a directory to save files in{text}")
    add_case(f"a folder with a system's files that is {name} is refused at once", check_refused,
             ["info", TRACE, "--sysroot", path], 1, f"{path}: is not a directory to look for files in{text}")
add_case("an index of a trace file is refused in words", check_refused,
         ["index", DATA / "tfile-samples/work-mem.tf"], 1, "trace files of gdb have no index")


@case
def help_and_version_go_to_stdout():
    for args in ["--help"], ["-h"], ["help"], ["--help", "info"]:
        done = run(*args)
        assert (done.returncode, done.stderr) == (0, ""), done
        assert "usage:" in done.stdout and "examples:" in done.stdout, done
    done = run("--version")
    assert (done.returncode, done.stderr) == (0, ""), done
    assert re.fullmatch(r"tracestub \d+\.\d+\.\d+\n", done.stdout), done


@case
def help_of_a_command_has_its_usage_and_its_options_only():
    has = {"info": ["--json", "--exec", "--quiet"], "record": ["--cpu", "--follow", "--from", "--last", "--limit", "--max-memory", "--module", "--qemu", "--sysroot", "--until", "--with"],
           "serve": ["--once", "--export-dir", "--image"], "diff": ["--rebase"], "export": ["--collect", "--at"]}
    lacks = {"info": ["--cpu", "--once", "--collect", "--rebase"], "record": ["--exec", "--json", "--index"],
             "serve": ["--json", "--limit"], "diff": ["--once"], "export": ["--json", "--in"]}
    for command in has:
        for args in ["help", command], [command, "--help"], [command, "-h"]:
            done = run(*args)
            assert (done.returncode, done.stderr) == (0, ""), done
            named = {*re.findall(r"^  tracestub (\w+)", done.stdout, re.M)}
            options = re.findall(r"^  (--[a-z-]+)", done.stdout, re.M)
            assert named == {command} and {*has[command]} <= {*options} and not {*lacks[command]} & {*options}, done
    done = run("help", "sevre")
    assert done.returncode == 2 and "did you mean 'serve'?" in done.stderr, done


@case
def help_of_a_verb_has_its_words_and_its_columns():
    listed = run("query", TRACE)
    assert listed.returncode == 2 and not listed.stdout, listed
    verbs = set(re.findall(r"^  ([a-z-]+)", listed.stderr, re.M)) - {"tracestub"}
    manual = (SRCDIR / "src/ask/verbs/verbs.c").read_text()
    pathlib.Path("copy.ucir").write_bytes(TRACE.read_bytes())      # marks are kept beside it
    assert verbs == {v.removesuffix("_value").replace("_", "-") for v in re.findall(r"&ts_verb_(\w+)", manual)}, verbs
    assert all(len(line) <= 80 for line in listed.stderr.splitlines()), listed.stderr
    for verb in verbs:
        done = run("help", verb)
        assert (done.returncode, done.stderr) == (0, "") and f"tracestub query TRACE {verb}" in done.stdout, done
        assert all(len(line) <= 80 for line in done.stdout.splitlines()), done.stdout
        synopsis, _, page = done.stdout.partition(f"TRACE {verb}")[2].partition("\n")
        for word in re.findall(r"(?<![\w-])[a-z]+(?!\w)", synopsis):
            assert re.search(rf"\b{word}\b", page), f"help {verb}: what is '{word}'?"
        example = re.search(r"tracestub query TRACE '(.*)'", done.stdout)[1]
        asked = run("query", "--quiet", "copy.ucir", example)
        assert asked.returncode in (0, 1, 2) and ("words:" in done.stdout or verb in ("back", "forward", "marks", "unmark", "goto")), (verb, asked)
        if asked.returncode == 0:
            columns = done.stdout.partition("columns:")[2].partition("\n\n")[0].split()
            assert asked.stdout.splitlines()[0].split("\t") == columns, (asked.stdout, columns)
    done = run("help", "whyy")
    assert done.returncode == 2 and not done.stdout, done


@case
def options_stand_anywhere():
    expected = run("info", "--json", "--quiet", TRACE)
    assert expected.returncode == 0, expected
    for args in ["--json", "--quiet", "info", TRACE], ["info", TRACE, "--json", "--quiet"], \
                ["--quiet", "info", "--format=usercorn", TRACE, "--json"]:
        done = run(*args)
        assert (done.returncode, done.stdout) == (0, expected.stdout), done


@case
def behind_two_dashes_nothing_is_an_option(name="--json"):
    with open(name, "wb") as copy:
        copy.write(TRACE.read_bytes())
    assert run("info", "--", name).stdout.startswith("trace         --json\n")


# ------------------------------------------------------------------------------------------------ bad files

def check_bad_file(name, data, *texts):
    if data is not None:
        with open(name, "wb") as f:
            f.write(data)
    for command in ["info", name], ["serve", ":0", name], ["gdb", name, "--", "-batch"]:
        done = check_refused(command, 1, *texts)
        assert done.stderr.startswith(name + ":"), done
        assert done.stderr.count("\n") == 1, done


BAD_FILES = {
    "a file that is not there": ("absent", None, "No such file or directory"),
    "an empty file": ("empty", b"", "empty:0x0: the file is empty"),
    "a file that is still packed": ("packed.bz2", b"BZh91AY&SY", "packed.bz2:0x0: the file is compressed with bzip2: unpack it first"),
    "a folder": (".", None, "a folder, not a recording: name the file of the recording in it"),
    "a device": ("/dev/zero", None, "neither a regular file nor a pipe"),
    "a file of no format": ("text", b"Once upon a time", "text:0x0: ", "usercorn"),
    "a Usercorn header and no more": ("head", TRACE.read_bytes()[:74], "head:0x4a: usercorn: "),
}
for name, args in BAD_FILES.items():
    add_case(f"{name} is refused in one line", check_bad_file, *args)


@case
def a_file_of_the_user_that_is_bad_is_named():
    check_refused(["info", TRACE, "--exec", "absent"], 1, "absent: cannot open it: No such file")
    check_refused(["info", TRACE, "--image", "absent"], 1, "absent: cannot open it: No such file")
    with open("raw", "w") as f:
        f.write("raw bytes")
    check_refused(["info", TRACE, "--image", "raw"], 1, "raw: ", "FILE@BASE")


@case
def a_folder_for_the_output_that_is_not_there_is_said_to_be_missing():
    open("a_file", "w").close()
    for command in "export", "pack", "plot":
        check_refused([command, TRACE, "-o", "absent/out.svg"], 1, "absent/out.svg: No such file or directory")
        check_refused([command, TRACE, "-o", "a_file/out.svg"], 1, "a_file/out.svg: Not a directory")


@case
def an_image_fills_memory_that_the_trace_leaves_unknown():
    with open("raw", "w") as f:
        f.write("raw bytes")
    with Serving(":0") as server, server.connect() as client:
        assert ask(client, b"m7000,3").startswith(b"E")
    with Serving(":0", "--image", "raw@0x7000") as server, server.connect() as client:
        assert ask(client, b"m7000,9") == b"raw bytes".hex().encode()
        assert ask(client, b"m7009,1").startswith(b"E")
        assert ask(client, b"m400000,4") == b"7f454c46", "what the trace knows stays"


@case
def a_program_for_another_processor_is_refused_in_one_line():
    other = DATA / "usercorn/arm_walk.elf"
    reason = f"{TRACE}: --exec {other} is a program for arm, but the recording is of x86_64\n"
    for command, status in (["info"], 1), (["query", "when"], 3), (["export", "-o", "never.tf"], 1):
        done = run(command[0], TRACE, *command[1:], "--exec", other)
        assert (done.returncode, done.stdout, done.stderr) == (status, "", reason), done
    assert not pathlib.Path("never.tf").exists()
    for name in "x86_walk", "x64_walk":         # a processor of the same family may run it
        assert run("info", TRACE, "--exec", DATA / f"usercorn/{name}.elf").returncode == 0


@case
def frames_are_exported_between_places():
    trace = pathlib.Path("places.ucir")
    trace.write_bytes(TRACE.read_bytes())
    assert run("query", trace, "mark", "here", "at", "100").returncode == 0
    n = len(oracle("x64_walk")) - 1
    for places, count in ("here:149", 50), ("0x60:here", 5), ("50%:", n - n // 2 + 1), (":here", 101), ("end:end", 1):
        done = run("export", trace, "-o", "places.tf", "--positions", places)
        assert done.stdout == f"places.tf: {count} frames\n", (places, done)
    for places, reason in (("here:99", "position 100 comes after 99"), ("nowhere:200", "'nowhere'"), ("1:99999k", "99999k")):
        done = run("export", trace, "-o", "never.tf", "--positions", places)
        assert done.returncode == 2 and f"--positions {places}" in done.stderr and reason in done.stderr, done
    assert not pathlib.Path("never.tf").exists()


@case
def info_of_several_is_a_list():
    other = DATA / "usercorn/arm_walk.ucir"
    done = run("info", "--json", TRACE, "nothing-there", other)
    assert done.returncode == 1 and done.stderr.startswith("nothing-there: "), done
    assert [facts["arch"] for facts in json.loads(done.stdout)] == ["x86_64", "arm"]
    assert json.loads(run("info", "--json", "nothing-there", "nor-this").stdout) == []
    assert run("info", TRACE, other).stdout == run("info", TRACE).stdout + "\n" + run("info", other).stdout


# ------------------------------------------------------------------------------------------------ info

def oracle(name):
    with gzip.open(DATA / f"usercorn/{name}.positions.gz", "rt") as lines:
        return lines.read().splitlines()


def check_info(name, arch):
    lines = oracle(name)
    facts = info(DATA / f"usercorn/{name}.ucir")
    assert facts["format"] == "usercorn" and facts["arch"] == arch and facts["os"] == "linux", facts
    assert facts["positions"] == len(lines) - 1, facts
    assert facts["threads"] == len(facts["thread_list"]) == 1, facts
    assert facts["thread_list"][0]["steps"] == facts["positions"], facts
    said = run("query", DATA / f"usercorn/{name}.ucir", "threads").stdout.splitlines()[1].split("\t")
    assert [str(facts["thread_list"][0][x]) for x in ("tid", "pid")] == said[:2], (facts, said)
    assert f"\n  thread {said[1]}.{said[0]}: " in run("info", DATA / f"usercorn/{name}.ucir").stdout
    assert int(facts["pc_first"], 16) == int(lines[0].split()[1], 16), facts
    assert int(facts["pc_last"], 16) == int(lines[-1].split()[1], 16), facts
    assert (facts["truncated"], facts["end"]) == (False, "exit"), facts
    return facts


for name, arch in {"x64_walk": "x86_64", "x64_lib": "x86_64", "x86_walk": "i386", "arm_walk": "arm",
                   "arm64_walk": "aarch64", "mips_walk": "mipsel"}.items():
    add_case(f"info of {name} agrees with its oracle", check_info, name, arch)


@case
def info_names_registers_that_count_up_by_their_ends():
    lines = run("info", DATA / "usercorn/arm64_walk.ucir").stdout.splitlines()
    assert "registers     x0-x30 sp pc" in lines, lines
    assert "unknown       cpsr v0-v31 fpsr fpcr" in lines, lines


@case
def info_knows_what_is_known():
    facts = check_info("x64_walk", "x86_64")
    assert {"rax", "rsp", "r15", "rip"} <= set(facts["registers"]["known"]), facts
    assert "eflags" in facts["registers"]["unknown"], facts
    assert facts["syscalls"] > 0 and facts["memory_reads"] is True, facts
    text = [r for r in facts["regions"] if int(r["first"], 16) <= int(facts["pc_first"], 16) <= int(r["last"], 16)]
    assert len(text) == 1 and "x" in text[0]["prot"] and text[0]["file"].endswith("prog"), facts
    assert facts["index"]["bytes"] > 0 and 0 < facts["index"]["bytes_per_step"] < 100, facts
    assert facts["positions"] < 1 << 22 and facts["index"]["segments"] == 1, facts


@case
def info_tells_a_fault_from_an_exit():
    facts = info(DATA / "usercorn/x64_crash.ucir")
    assert facts["end"] == "fault" and facts["truncated"] is False, facts
    assert facts["positions"] == len(oracle("x64_crash")) - 1, facts


@case
def what_was_not_recorded_is_null():
    assert info(DATA / "usercorn/x64_nosys.ucir")["syscalls"] is None


@case
def info_as_text_has_the_same_numbers():
    facts, done = info(TRACE), run("info", TRACE)
    assert (done.returncode, done.stderr) == (0, ""), done
    for text in f"0..{facts['positions']}", facts["arch"], facts["pc_first"], facts["pc_last"], "usercorn", "exit":
        assert text in done.stdout, (text, done)


@case
def json_escapes_what_a_name_may_hold():
    for name in 'quo"te', "back\\slash", "new\nline", "b\udcff\udcfe":
        raw = os.fsencode(name)
        with open(raw, "wb") as copy:
            copy.write(TRACE.read_bytes())
        done = subprocess.run([TRACESTUB, "info", "--json", raw], capture_output=True, timeout=LIMIT)
        assert done.returncode == 0, done
        shown = json.loads(done.stdout.decode("utf-8"))["trace"]
        assert shown == name.replace("\udcff", "\ufffd").replace("\udcfe", "\ufffd"), shown


@case
def a_trace_that_memory_did_not_suffice_for_is_not_called_damaged():
    long = DATA / "usercorn/x64_lib.ucir"
    facts = json.loads(run("info", "--json", "--index", "none", "--max-memory", "100K", long).stdout)
    assert facts["end"] == "unread" and facts["truncated"] is False and facts["positions"] > 0, facts
    assert "more memory than the limit" in facts["warnings"][0], facts
    done = run("info", "--index", "none", "--max-memory", "100K", long)
    assert "not read" in done.stdout and "damaged" not in done.stdout, done


@case
def a_cut_trace_is_served_with_a_warning():
    with open("cut", "wb") as cut:
        cut.write(TRACE.read_bytes()[:20000])
    done = run("info", "--json", "cut")
    facts = json.loads(done.stdout)
    assert done.returncode == 0 and facts["truncated"] is True and facts["end"] == "damage", done
    assert 0 < facts["positions"] < len(oracle("x64_walk")) - 1, facts
    assert len(facts["warnings"]) == 1 and re.match(r"cut:0x[0-9a-f]+: usercorn: ", facts["warnings"][0]), facts
    assert facts["warnings"][0] in done.stderr and done.stderr.count("\n") == 1, done
    quiet = run("info", "--json", "--quiet", "cut")
    assert (quiet.returncode, quiet.stderr, quiet.stdout) == (0, "", done.stdout), quiet


@case
def a_full_disk_is_noticed():
    with tempfile.TemporaryDirectory() as folder, open("/dev/full", "w") as full:
        trace, hello = str(TRACE), '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
        for status, *words in [
                (1, "info", trace), (1, "info", "--json", trace), (1, "--help"), (1, "--version"),
                (1, "export", trace, "-o", f"{folder}/x.tf", "--positions", "1:20"), (1, "export", trace, "-o", "-"),
                (1, "index", trace, "--index", f"{folder}/x"), (1, "plot", trace, "-o", f"{folder}/x.svg"),
                (1, "pack", trace, "-o", f"{folder}/x"), (3, "query", trace, "hot"), (3, "query", trace, "hot", "--json"),
                (2, "diff", trace, str(DATA / "usercorn/x64_crash.ucir")), (1, "mcp", trace)]:
            done = subprocess.run([TRACESTUB, *words], input=hello, stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=LIMIT)
            assert done.returncode == status and done.stderr.strip(), (words, done)
            assert "No space left" in done.stderr or words[0] == "mcp", (words, done)


# ------------------------------------------------------------------------------------------------ serve

class Serving:
    """`tracestub serve`, and the first line it says."""

    def __init__(self, comm, *args):
        self.proc = subprocess.Popen([TRACESTUB, "serve", comm, str(TRACE), *args], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.line = self.proc.stderr.readline()

    def connect(self):
        where = self.line.removeprefix("Listening on ").rstrip("\n")
        if "/" in where:
            client = socket.socket(socket.AF_UNIX)
            client.connect(where)
            return client
        host, port = where.rsplit(":", 1)
        return socket.create_connection((host.strip("[]"), int(port)), timeout=LIMIT)

    def end(self, sig=None):
        """Its status, and what else it said."""
        if sig:
            self.proc.send_signal(sig)
        out, err = self.proc.communicate(timeout=LIMIT)
        return self.proc.returncode, out, err

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.proc.poll() is None:
            self.proc.kill()
        self.proc.communicate()


def ask(client, payload):
    """One packet, and the payload of its reply."""
    client.settimeout(LIMIT)
    client.sendall(b"$%s#%02x" % (payload, sum(payload) & 255))
    data = b""
    while not re.search(rb"\$[^#]*#..", data):
        piece = client.recv(4096)
        assert piece, data
        data += piece
    client.sendall(b"+")
    return re.search(rb"\$([^#]*)#", data)[1]


def check_address(comm, pattern):
    with Serving(comm) as server:
        assert re.fullmatch(pattern, server.line), server.line
        with server.connect() as client:
            assert ask(client, b"?").startswith(b"T05")
        assert server.end(signal.SIGTERM) == (0, "", "")


add_case("a port of any number is told in one line", check_address, "127.0.0.1:0", r"Listening on 127\.0\.0\.1:[1-9]\d*\n")
add_case("without a host it is the loopback address", check_address, ":0", r"Listening on 127\.0\.0\.1:[1-9]\d*\n")
add_case("a path is a unix socket", check_address, "./sock", r"Listening on \./sock\n")


@case
def a_unix_socket_is_its_owners_and_goes_away():
    with Serving("./private") as server:
        assert stat.S_IMODE(os.stat("private").st_mode) == 0o600
        assert server.end(signal.SIGINT) == (0, "", "")
    assert not os.path.exists("private")


@case
def quiet_serves_and_still_says_where():
    with Serving(":0", "--quiet") as server:
        assert server.line.startswith("Listening on "), server.line
        assert server.end(signal.SIGTERM) == (0, "", "")


@case
def once_ends_with_the_first_session():
    with Serving(":0", "--once") as server:
        with server.connect() as client:
            assert ask(client, b"?").startswith(b"T05")
        assert server.end() == (0, "", "")


@case
def without_once_another_session_may_follow():
    with Serving(":0") as server:
        for _ in range(2):
            with server.connect() as client:
                assert ask(client, b"?").startswith(b"T05")
        assert server.end(signal.SIGTERM) == (0, "", "")


@case
def stdio_serves_one_session_and_says_nothing_else():
    packet = b"$?#3f"
    done = subprocess.run([TRACESTUB, "serve", "-", str(TRACE)], input=packet, capture_output=True, timeout=LIMIT)
    assert (done.returncode, done.stderr) == (0, b""), done
    assert re.match(rb"\+\$T05.*#..$", done.stdout), done


@case
def a_log_level_shows_packets():
    done = subprocess.run([TRACESTUB, "serve", "-", str(TRACE), "--log=debug"], input=b"$?#3f", capture_output=True,
                          timeout=LIMIT)
    assert done.returncode == 0 and b"debug: -> ?\n" in done.stderr, done


@case
def an_address_that_is_taken_is_a_failure():
    with Serving(":0") as server:
        address = server.line.split()[-1]
        check_refused(["serve", address, TRACE], 1, address.rsplit(":", 1)[1], "in use")


run_cases()
