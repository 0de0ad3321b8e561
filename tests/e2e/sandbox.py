#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a process that reads a recording can still do: tried inside of real processes by tests/tools/sandbox_probe.c."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from _tap import DATA, IS_SANITIZED, LIMIT, SRCDIR, TRACESTUB, add_case, case, run_cases, skip, skip_all

FILEIO = pathlib.Path(os.environ.get("TEST_BUILDDIR", SRCDIR)) / "tests/tools/fileio_probe.so"
PROBE = pathlib.Path(os.environ.get("TEST_BUILDDIR", SRCDIR)) / "tests/tools/sandbox_probe.so"
FORBIDDEN = ("read write unlink truncate chmod create mkdir symlink proc chdir socket unix-socket connect fastopen shutdown bind key-read "
             "key-write key-remove copy by-descriptor "
             "kill ptrace fork mmap-code execve").split()
REFUSED = {"EPERM", "EACCES", "ENOSYS"}


class World:
    """A folder with a trace, and one that is not the command's business."""
    def __enter__(self):
        self.tmp = tempfile.TemporaryDirectory()
        top = pathlib.Path(self.tmp.name)
        self.trace, self.other, self.folder = top / "t.ucir", top / "other.ucir", top / "private"
        shutil.copy(DATA / "usercorn/x64_walk.ucir", self.trace)
        shutil.copy(DATA / "usercorn/x64_walk.ucir", self.other)
        (self.trace.parent / "secret").write_text("beside the trace\n")
        self.folder.mkdir()
        (self.folder / "secret").write_text("secret\n")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.report = open(top / "report", "w+b")
        self.env = {**os.environ, "XDG_CACHE_HOME": str(top / "cache"), "LD_PRELOAD": str(PROBE),
                    "PROBE_DIR": str(self.folder), "PROBE_FD": str(self.report.fileno()),
                    "PROBE_PORT": str(self.listener.getsockname()[1])}
        return self

    def __exit__(self, *exc):
        self.listener.close()
        self.report.close()
        self.tmp.cleanup()

    def start(self, *args, **more):
        return subprocess.Popen([TRACESTUB, *map(str, args)], env=self.env, pass_fds=[self.report.fileno()],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)

    def results(self):
        self.report.seek(0)
        return dict(line.split() for line in self.report.read().decode().splitlines())


def status_of(pid):
    return re.search(r"^Seccomp:\s*(\d)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1]


def children_of(pid):
    return [int(n) for n in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_for(what, proc):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end and proc.poll() is None:
        if found := what():
            return found
        time.sleep(0.01)
    raise AssertionError(f"it did not come: {proc.poll()}")


def all_refused(world):
    got = world.results()
    assert got.get("seccomp") == "DONE", got
    for call in FORBIDDEN:
        assert got.get(call) in REFUSED, (call, got.get(call))
    assert (world.folder / "secret").read_text() == "secret\n"
    assert [p.name for p in world.folder.iterdir()] == ["secret"]


def command_is_confined(args, where):
    with World() as w:
        w.env["PROBE_DIR"] = str(w.trace.parent if where == "beside" else w.folder)
        packed = w.trace.with_name("t.tspack")
        words = [{"TRACE": w.trace, "OTHER": w.other, "OUT": w.trace.with_name("out.tf"), "PACKED": packed,
                  "PICTURE": w.trace.with_name("out.svg")}.get(a, a) for a in args]
        if args[0] == "unpack":
            subprocess.run([TRACESTUB, "pack", w.trace, "-o", packed], env={**w.env, "LD_PRELOAD": ""}, check=True,
                           capture_output=True, timeout=LIMIT)
        proc = w.start(*words)
        out, err = proc.communicate("", LIMIT)
        assert proc.returncode in (0, 1), (proc.returncode, err)
        assert "sandbox" not in err, err
        if where == "beside":
            got = w.results()
            assert {got["read"], got["write"], got["create"]} <= REFUSED, got
        else:
            all_refused(w)


COMMANDS = [("info", "TRACE"), ("info", "--json", "TRACE", "OTHER"), ("index", "TRACE"), ("query", "TRACE", "hot"),
            ("diff", "TRACE", "OTHER"), ("export", "TRACE", "-o", "OUT", "--positions", "1:20"), ("mcp", "TRACE"),
            ("plot", "TRACE", "-o", "PICTURE"), ("serve", "-", "TRACE"), ("pack", "TRACE", "-o", "PACKED"),
            ("unpack", "PACKED", "-o", "OUT")]


@case
def a_server_is_confined_and_answers():
    with World() as w:
        proc = w.start("serve", "127.0.0.1:0", w.trace)
        line = proc.stderr.readline()
        assert status_of(proc.pid) == "2"
        assert all(status_of(t) == "2" for t in os.listdir(f"/proc/{proc.pid}/task"))
        port = int(re.search(r":(\d+)$", line)[1])
        with socket.create_connection(("127.0.0.1", port)) as s:
            s.sendall(b"$?#3f")
            assert s.recv(100).startswith(b"+$T"), "no answer"
        proc.send_signal(signal.SIGTERM)
        assert proc.wait(LIMIT) == 0, proc.stderr.read()
        all_refused(w)


@case
def the_debugger_is_outside_and_its_server_inside():
    if IS_SANITIZED:
        skip("the debugger that stands in for gdb outlives a server with AddressSanitizer")
    with World() as w:
        gdb = w.folder.parent / "gdb"
        gdb.write_text("#!/bin/sh\nexec sleep 60\n")
        gdb.chmod(0o755)
        del w.env["LD_PRELOAD"]
        w.env["TRACESTUB_GDB"] = str(gdb)
        proc = w.start("gdb", w.trace)
        try:
            server, debugger = wait_for(lambda: len(c := children_of(proc.pid)) == 2 and c, proc)
            assert status_of(proc.pid) == "0"
            assert status_of(server) == "2"
            assert status_of(debugger) == "0"
        finally:
            proc.terminate()
            proc.communicate(timeout=LIMIT)


def asking_for_files(world):
    """The debugger is gdb, and its server asks it to write a file, which is returned."""
    victim, gdb = world.folder / "written", world.folder.parent / "gdb"
    gdb.write_text('#!/bin/sh\nunset LD_PRELOAD VICTIM\nexec gdb -nx "$@"\n')
    gdb.chmod(0o755)
    world.env.update(LD_PRELOAD=str(FILEIO), VICTIM=str(victim), TRACESTUB_GDB=str(gdb))
    return victim, gdb


@case
def the_server_of_tracestub_gdb_cannot_use_gdbs_files():
    if not shutil.which("gdb") or IS_SANITIZED:
        skip("no gdb, or a server with AddressSanitizer")
    with World() as w:
        victim, _ = asking_for_files(w)
        out, err = w.start("gdb", w.trace, "--", "-batch", "-ex", "stepi", "-ex", "stepi").communicate("", LIMIT)
        assert not victim.exists(), victim.read_text()
        assert "the server sent a request to use files of the debugger" in err, (out, err)


@case
def without_the_relay_gdb_obeys_its_server():
    """The same attack on a gdb that is connected to `tracestub serve`: it does what it is asked to."""
    if not shutil.which("gdb") or IS_SANITIZED:
        skip("no gdb, or a server with AddressSanitizer")
    with World() as w:
        victim, gdb = asking_for_files(w)
        proc = w.start("serve", "127.0.0.1:0", w.trace)
        port = re.search(r":(\d+)$", proc.stderr.readline())[1]
        subprocess.run([gdb, "-q", "-batch", "-ex", f"target remote 127.0.0.1:{port}", "-ex", "stepi"], env=w.env,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
        proc.kill()
        proc.communicate(timeout=LIMIT)
        assert victim.read_text() == "written by the debugger\n"


@case
def the_sandbox_is_there_before_the_first_byte():
    with World() as w:
        del w.env["LD_PRELOAD"]
        fifo = w.folder.parent / "fifo"
        os.mkfifo(fifo)
        proc = w.start("info", fifo)
        wait_for(lambda: status_of(proc.pid) == "2", proc)
        fifo.write_bytes(w.trace.read_bytes())
        out, err = proc.communicate(timeout=LIMIT)
        assert proc.returncode == 0 and "usercorn" in out, err


@case
def no_process_is_left():
    with World() as w:
        del w.env["LD_PRELOAD"]
        proc = w.start("serve", "127.0.0.1:0", w.trace)
        proc.stderr.readline()
        broker, = children_of(proc.pid)
        proc.kill()
        proc.wait(LIMIT)
        end = time.monotonic() + LIMIT
        while pathlib.Path(f"/proc/{broker}/status").exists() and time.monotonic() < end:
            if "State:\tZ" in pathlib.Path(f"/proc/{broker}/status").read_text():
                break
            time.sleep(0.01)
        else:
            assert time.monotonic() < end, "the broker lives on"


@case
def a_broker_that_does_not_come_to_an_end_is_ended():
    """It has so much processor time to make the filter, and no limit afterwards."""
    with World() as w:
        proc = w.start("info", w.trace)
        out, err = proc.communicate(timeout=LIMIT)
        assert proc.returncode == 0, err
    with World() as w:
        w.env["PROBE_SPIN"] = "1"
        proc = w.start("info", w.trace)
        out, err = proc.communicate(timeout=LIMIT)
        assert proc.returncode == 1 and not out and "no sandbox: no memory for its rules" in err, (proc.returncode, out, err)


def files_of(pid):
    """What it has open, by name."""
    return [os.readlink(f"/proc/{pid}/fd/{n}") for n in os.listdir(f"/proc/{pid}/fd")]


@case
def the_broker_keeps_the_files_of_the_process_only_if_one_is_named():
    """By a name in /dev that is not that of an open file, none is."""
    with World() as w, tempfile.TemporaryDirectory(dir="/dev/shm") as shm:
        del w.env["LD_PRELOAD"]
        trace = shutil.copy(w.trace, shm)
        proc = w.start("serve", "127.0.0.1:0", trace)
        proc.stderr.readline()
        broker, = children_of(proc.pid)
        held = [name for name in files_of(broker) if not name.startswith(("/dev/null", "anon_inode:"))]
        proc.kill()
        proc.communicate(timeout=LIMIT)
        assert all(os.path.isdir(name) for name in held), held  # the folders of its rules
        with open(trace, "rb") as file:
            out = subprocess.run([TRACESTUB, "info", f"/dev/fd/{file.fileno()}"], capture_output=True, text=True, env=w.env,
                                 pass_fds=[file.fileno()], timeout=LIMIT)
        assert out.returncode == 0 and "usercorn" in out.stdout, out


@case
def without_it_a_warning_says_so():
    with World() as w:
        proc = w.start("info", "--no-sandbox", w.trace)
        out, err = proc.communicate(timeout=LIMIT)
        assert proc.returncode == 0 and "--no-sandbox" in err and "hostile" in err, err
        got = w.results()
        assert got["seccomp"] != "DONE" and got["socket"] == got["connect"] == "DONE", got


@case
def info_says_whether_there_is_landlock():
    with World() as w:
        out = subprocess.run([TRACESTUB, "--log", "info", "info", w.trace], capture_output=True, text=True)
        assert re.search(r"in a sandbox: seccomp( and landlock|; this kernel has no landlock)", out.stderr), out.stderr


@case
def a_closed_stdin_or_a_limit_of_files_is_no_reason_to_fail():
    with World() as w:
        del w.env["LD_PRELOAD"]
        for shell, ok in ('exec "$@" <&-', 0), ('exec "$@" <&- 2>&-', 0), ('exec "$@" <&- >&-', 1), ('ulimit -f 0; exec "$@"', 0):
            done = subprocess.run(["sh", "-c", shell, "sh", TRACESTUB, "info", w.trace], env=w.env, capture_output=True,
                                  text=True, timeout=LIMIT)
            assert done.returncode == ok and "no sandbox" not in done.stderr, (shell, done)
        assert "cannot write to stdout" in subprocess.run(["sh", "-c", 'exec "$@" <&- >&-', "sh", TRACESTUB, "info", w.trace],
                                                          env=w.env, stderr=subprocess.PIPE, text=True).stderr


@case
def too_few_files_are_the_reason_that_is_told():
    """It said that there was no memory, wherever the broker ran out of descriptors."""
    with World() as w:
        del w.env["LD_PRELOAD"]
        said = []
        for n in range(5, 16):
            done = subprocess.run(["sh", "-c", f'ulimit -n {n}; exec "$@"', "sh", TRACESTUB, "info", w.trace], env=w.env, capture_output=True,
                                  text=True, timeout=LIMIT)
            said += [done.stderr] if done.returncode else []
        assert said and not any("memory" in text for text in said), said


@case
def what_is_kept_is_kept():
    """An index beside the trace, and where that folder is read-only one in the cache folder."""
    with World() as w:
        del w.env["LD_PRELOAD"]
        proc = w.start("index", w.trace)
        out, err = proc.communicate(timeout=LIMIT)
        assert proc.returncode == 0 and w.trace.with_name("t.ucir.tsindex").exists(), err
        proc = w.start("query", w.trace, "find", "u32:0x12345678")
        out, err = proc.communicate(timeout=LIMIT)
        assert w.trace.with_name("t.ucir.tsindex.find").exists(), err
        assert "ignored" not in err, err
        assert (w.trace.parent / "cache/tracestub/key").exists()


@case
def a_link_beside_a_trace_does_not_lead_to_a_file():
    with World() as w:
        del w.env["LD_PRELOAD"]
        w.trace.with_name("t.ucir.tsmarks").symlink_to(w.folder / "secret")
        (w.folder / "secret").write_text("# tracestub marks\n7 leak text\n")
        proc = w.start("query", w.trace, "marks")
        out, err = proc.communicate(timeout=LIMIT)
        assert "leak" not in out, out


# LeakSanitizer, where it is, opens files and traces threads at the end: then there is no sandbox.
os.environ["ASAN_OPTIONS"] = f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0:verify_asan_link_order=0".lstrip(":")


@case
def a_pipe_or_a_link_in_place_of_the_marks_is_none():
    """Without a sandbox, too; what is marked goes to the cache folder."""
    for option in [], ["--no-sandbox"]:
        with World() as w:
            del w.env["LD_PRELOAD"]
            marks = w.trace.with_name("t.ucir.tsmarks")
            (w.folder / "secret").write_text("# tracestub marks\n7 leak text\n")
            for make in os.mkfifo, lambda path: os.symlink(w.folder / "secret", path):
                make(marks)
                for words in (["mark", "here", "at", "5"], ["marks"]):
                    out, err = w.start("query", w.trace, *words, *option).communicate(timeout=LIMIT)
                    assert "\there" in out and "leak" not in out, (words, out, err)
                marks.unlink()


def has_sandbox():
    err = subprocess.run([TRACESTUB, "--log", "info", "info", DATA / "usercorn/x64_walk.ucir"], capture_output=True,
                         text=True).stderr
    return "in a sandbox" in err, err


if not has_sandbox()[0]:
    skip_all("no sandbox in this build or on this system")
for words in COMMANDS:
    add_case(f"{' '.join(words)} is confined", command_is_confined, words, "elsewhere")
add_case("a file beside the trace is not readable", command_is_confined, ("info", "TRACE"), "beside")
run_cases()
