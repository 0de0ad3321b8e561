#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tracestub gdb`: which gdb is started and how, ^C, and that nothing is left behind. And the demo."""
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import time

from _tap import DATA, LIMIT, SRCDIR, TRACESTUB, add_case, case, run_cases, skip

SAMPLES = DATA / "usercorn"
TRACE, PROGRAM = SAMPLES / "x64_walk.ucir", SAMPLES / "x64_walk.elf"
ENV = {k: v for k, v in os.environ.items() if k not in ("TRACESTUB_GDB", "DEBUGINFOD_URLS")}


def fake_gdb(text, name="fake-gdb"):
    """A gdb for TRACESTUB_GDB that does what a shell script says."""
    path = pathlib.Path(name).resolve()
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return {**ENV, "TRACESTUB_GDB": str(path)}


def run(*args, env=None):
    return subprocess.run([TRACESTUB, "gdb", *map(str, args)], capture_output=True, text=True, timeout=LIMIT,
                          stdin=subprocess.DEVNULL, env=env or ENV)


def gdb(*commands, trace=TRACE, options=("--exec", PROGRAM)):
    """A session of stock gdb, in a few commands: what it printed. (What monitor says goes to gdb's stderr.)"""
    if not shutil.which("gdb"):
        skip("no gdb")
    args = [a for c in commands for a in ("-ex", c)]
    done = run(trace, *options, "--", "-nx", "-batch", "-iex", "set style enabled off", "-iex", "set width 0", *args)
    if "TMPDIR" in os.environ:
        assert not list(pathlib.Path(os.environ["TMPDIR"]).glob("tracestub-*")), "a folder is left"
    return done.stdout + done.stderr


# ------------------------------------------------------------------------------------------------ how gdb is started

@case
def gdb_gets_the_helpers_the_program_the_socket_and_the_users_arguments():
    done = run(TRACE, "--exec", PROGRAM, "--", "-batch", "-ex", "print 1 + 1",
               env=fake_gdb('for a; do echo "$a"; done'))
    assert (done.returncode, done.stderr) == (0, ""), done
    args = done.stdout.splitlines()
    assert args[:4] == ["-q", "-iex", "set auto-connect-native-target off", "-x"] and args[4].endswith("gdbinit"), args
    assert "define tracestub-goto" in pathlib.Path(args[4]).read_text()
    assert args[5:7] == ["-se", str(PROGRAM)], args
    connect = re.fullmatch(r"target extended-remote (/\S+)", args[8])
    assert args[7] == "-ex" and connect, args
    assert args[9:] == ["-batch", "-ex", "print 1 + 1"], args
    assert not os.path.exists(os.path.dirname(connect[1])), "the folder is left"


@case
def the_program_may_stand_after_the_trace():
    done = run(TRACE, PROGRAM, env=fake_gdb('for a; do echo "$a"; done'))
    args = done.stdout.splitlines()
    assert args[5:7] == ["-se", str(PROGRAM)], args


@case
def a_big_endian_recording_without_a_program_tells_gdb_so():
    trace = bytearray((SAMPLES / "mips_walk.ucir").read_bytes())
    trace[72:74] = 1, 1     # the byte orders in the header
    pathlib.Path("big.ucir").write_bytes(trace)
    env = fake_gdb('for a; do echo "$a"; done')
    assert "set endian big" in run("big.ucir", env=env).stdout.splitlines()
    assert "set endian big" not in run("big.ucir", "--exec", PROGRAM, env=env).stdout
    assert "set endian big" not in run(SAMPLES / "mips_walk.ucir", env=env).stdout


@case
def the_socket_is_private_and_answers():
    socket = fake_gdb('for a; do case $a in "target extended-remote "*) s=${a#target extended-remote };; esac; done\n'
                      'stat -c %a "$s" "${s%/*}"')
    done = run(TRACE, env=socket)
    assert done.stdout.split() == ["600", "700"], done


@case
def gdbs_status_is_returned():
    assert run(TRACE, env=fake_gdb("exit 7")).returncode == 7
    assert run(TRACE, env=fake_gdb("kill -9 $$")).returncode == 128 + signal.SIGKILL


@case
def a_gdb_that_is_not_there_is_named():
    done = run(TRACE, env={**ENV, "TRACESTUB_GDB": "/nowhere/gdb"})
    assert done.returncode == 1 and "/nowhere/gdb: No such file or directory" in done.stderr, done


def check_choice(sample, expected):
    """Of gdb and gdb-multiarch in PATH, which one is started?"""
    os.makedirs("bin", exist_ok=True)
    for name in "gdb", "gdb-multiarch":
        fake_gdb(f"echo {name}", f"bin/{name}")
    path = f"{os.path.abspath('bin')}:{ENV['PATH']}"
    done = run(SAMPLES / f"{sample}.ucir", env={**ENV, "PATH": path})
    assert done.stdout == f"{expected}\n", done
    for name in "gdb", "gdb-multiarch":
        os.unlink(f"bin/{name}")


if os.uname().machine == "x86_64":
    for sample, expected in {"x64_walk": "gdb", "x86_walk": "gdb", "arm_walk": "gdb-multiarch",
                             "mips_walk": "gdb-multiarch"}.items():
        add_case(f"{sample} is for {expected}", check_choice, sample, expected)


@case
def a_folder_for_temporary_files_that_will_not_do_is_not_used():
    for folder in "with space", "with:colon", "l" * 120:
        os.makedirs(folder, exist_ok=True)
        env = {**fake_gdb('for a; do echo "$a"; done'), "TMPDIR": os.path.abspath(folder)}
        done = run(TRACE, env=env)
        assert re.search(r"^target extended-remote /tmp/tracestub-\w+/gdb$", done.stdout, re.M), done


@case
def a_signal_to_tracestub_alone_ends_gdb_and_cleans_up():
    env = fake_gdb('trap "exit 3" TERM; for a; do echo "$a"; done; while :; do sleep 0.05; done')
    proc = subprocess.Popen([TRACESTUB, "gdb", str(TRACE)], stdout=subprocess.PIPE, env=env, text=True)
    line = ""
    while not line.startswith("target extended-remote "):
        line = proc.stdout.readline()
    proc.send_signal(signal.SIGTERM)
    assert proc.wait(LIMIT) == 3
    assert not os.path.exists(os.path.dirname(line.split()[-1]))
    proc.stdout.close()


# ------------------------------------------------------------------------------------------------ stock gdb

@case
def gdb_stands_at_the_beginning_with_symbols():
    text = gdb("when", "info symbol $pc")
    assert "position 0 of" in text and "_start in section .text" in text, text


@case
def without_a_program_it_works_too():
    text = gdb("when", "stepi", "when", options=())
    assert "position 0 of" in text and "position 1 of" in text, text


@case
def goto_is_a_stop_and_watchpoints_look_again():
    """Else gdb would hold the watched value of another time, and miss the write that leads back to it."""
    text = gdb("watch total", "goto end", "reverse-continue", "when")
    assert re.search(r"Old value = 21\s+New value = 69\s+rt_main ", text), text


@case
def goto_leaves_a_disabled_watchpoint_disabled():
    text = gdb("watch total", "break rt_main", "disable 1", "goto end", "info watchpoints", "reverse-continue")
    assert re.search(r"^1 +hw watchpoint +keep +n ", text, re.M), text
    assert "New value" not in text and "Breakpoint 2, rt_main" in text, text


@case
def goto_stops_the_way_gdb_stops():
    text = gdb("display/i $pc", "goto 50%")
    assert re.search(r"Program stopped\.\n.*\n(.*\n)*1: x/i \$pc\n", text), text


@case
def goto_elsewhere_says_why():
    for command in "goto 123456789", "goto":
        text = gdb(command, "when")
        assert "position" in text and "position 0 of" in text and "Protocol error" not in text, text


@case
def commands_without_a_connection_or_with_another_target_say_so():
    for command in "when", "goto 3":
        done = subprocess.run(["gdb", "-nx", "-batch", "-x", str(SRCDIR / "gdbinit"), "-ex", command],
                              capture_output=True, text=True, timeout=LIMIT) if shutil.which("gdb") else skip("no gdb")
        assert "Not connected" in done.stdout + done.stderr, done
        done = subprocess.run(["gdb", "-nx", "-batch", "-x", str(SRCDIR / "gdbinit"), "-ex",
                               "set auto-connect-native-target on", "-ex", "starti", "-ex", command, "/bin/true"], capture_output=True, text=True, timeout=LIMIT, env=ENV)
        if "Program stopped." not in done.stdout:
            skip("gdb may not trace here")
        assert "not tracestub" in done.stdout + done.stderr, done


class Terminal:
    """`tracestub gdb` on a terminal of its own."""

    def __init__(self, *args):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ["TERM"] = "dumb"
            os.execv(TRACESTUB, [TRACESTUB, "gdb", *map(str, args)])
        self.text = ""

    def expect(self, pattern):
        end = time.monotonic() + LIMIT
        while not (found := re.search(pattern, self.text)):
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            assert ready, f"no {pattern!r} in {self.text!r}"
            self.text += os.read(self.fd, 65536).decode(errors="replace")
        self.text = self.text[found.end():]
        return found

    def send(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        """Its status, when it has ended by itself."""
        try:
            while select.select([self.fd], [], [], LIMIT)[0] and os.read(self.fd, 65536):
                pass
        except OSError:     # what Linux says at the end
            pass
        os.close(self.fd)   # a gdb that has not ended gets SIGHUP
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@case
def interrupting_gdb_leaves_the_server_alone():
    if not shutil.which("gdb"):
        skip("no gdb")
    t = Terminal(SAMPLES / "x64_lib.ucir", "--", "-nx", "-iex", "set pagination off", "-iex", "set confirm off",
                 "-ex", "set prompt #> ", "-ex", "echo ready\\n")
    t.expect(r"ready\r\n#> ")
    t.send("stepi 200000\n")
    t.expect("stepi 200000\r\n")
    time.sleep(0.2)
    t.send("\x03")
    t.expect("#> ")
    t.send("when\n")
    k = int(t.expect(r"position (\d+) of")[1])
    assert k < 200000, k
    t.send("goto 77\n")
    t.expect("position 77 of")
    t.send("quit 5\n")
    t.expect("quit 5\r\n")
    assert t.end() == 5


@case
def the_demo_finds_who_it_was():
    done = subprocess.run([SRCDIR / "tests/demo/run"], capture_output=True, text=True, timeout=LIMIT,
                          stdin=subprocess.DEVNULL, env={**ENV, "TRACESTUB": TRACESTUB})
    assert done.returncode == 0 and "demo: found: " in done.stdout, done


@case
def the_demo_fails_when_gdb_does_not_find_it():
    done = subprocess.run([SRCDIR / "tests/demo/run"], capture_output=True, text=True, timeout=LIMIT,
                          stdin=subprocess.DEVNULL, env={**fake_gdb("echo hello"), "TRACESTUB": TRACESTUB})
    assert done.returncode == 1 and "demo: gdb did not say: " in done.stdout, done


run_cases()
