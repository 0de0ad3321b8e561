#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tracestub record`: the program notices nothing, and everything it did is in the recording."""
import os
import pathlib
import re
import resource
import signal
import stat
import struct
import subprocess
import time

import _record
from _record import LIMIT, build, compiler, emulator, need_emulator, record, recorder, use_engine, with_engine
from _tap import TRACESTUB, add_case, case, run_cases, skip
from _naive_ucir2 import Ucir2

IS_QEMU = _record.ENGINE != "valgrind"     # record_as_valgrind runs these cases with the other engine
if IS_QEMU:
    use_engine("qemu")
    need_emulator()
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
SUBJECT = build("subject.c", "subject", "-O1 -g -static -no-pie -pthread -w")
HANDLED, UNFINISHED, HAS_CODE, HAS_ADDR = 1, 4, 8, 16


def qemu_case(check):
    """A case about QEMU itself."""
    return case(check) if IS_QEMU else check


def symbol(name, program=SUBJECT):
    table = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    return int(re.search(rf"^(\w+) \w {name}$", table, re.M)[1], 16)


def natively(*argv, **more):
    return subprocess.run(argv, **{"capture_output": True, "text": True, "timeout": LIMIT, **more})


def said(done):
    """What the program, not tracestub, wrote on stderr."""
    return "".join(line for line in done.stderr.splitlines(True) if not line.startswith(("tracestub: ", "qemu: ")))


def alike(name, argv, **more):
    """Recorded and native: output, errors and status."""
    def check():
        wanted, done = natively(*argv, **more), record("alike.ucir", *argv, **more)
        assert (done.returncode, done.stdout, said(done)) == (wanted.returncode, wanted.stdout, wanted.stderr), (done, wanted)
        assert "unexplained 0\n" in done.stderr, done
    add_case(f"as without recording: {name}", check)


pathlib.Path("script").write_text("#!/bin/sh -e\necho \"$0 $1\"\nfalse\necho not here\n")
os.chmod("script", 0o755)
pathlib.Path("nothing").write_text("neither\n")
alike("streams and status", ["sh", "-c", "cat; echo no >&2; exit 3"], input="some\ninput\n")
alike("arguments", ["printf", "%s|", "a b", "x\ny", "", "*"])
alike("environment", ["sh", "-c", "env | sort"], env={"PATH": os.environ["PATH"], "ODD": "a b\nc", "QEMU_STRACE_": "1"})
alike("folder", ["pwd", "-P"])
alike("a script with an argument in its first line", ["./script", "two words"])
alike("a program in PATH, and what it is called", ["bash", "-c", 'for i in 1 2; do x=$(echo $i); done; echo "$0 $x"', "me"])
alike("death by a signal", [SUBJECT, "crash"])
alike("faults that are handled", [SUBJECT, "signals"])
alike("a file that is written while it is mapped", [SUBJECT, "written"])


@case
def a_program_that_is_missing_or_no_program_has_the_shells_status():
    for argv, status in (["no-such-program"], 127), (["./no-such"], 127), (["/"], 126), (["./script.txt"], 127), (["./nothing"], 126):
        done = record("none.ucir", *argv)
        assert done.returncode == status and done.stderr.count("\n") == 1, (argv, done)
        assert not os.path.exists("none.ucir")
    os.chmod("nothing", 0o755)
    done = record("none.ucir", "./nothing")
    assert done.returncode == 126 and "neither an ELF program nor a script" in done.stderr, done


@case
def a_crash_is_in_the_recording_up_to_the_instruction():
    done = record("crash.ucir", SUBJECT, "crash")
    r = Ucir2("crash.ucir")
    assert done.returncode == -signal.SIGSEGV and r.end == ("signal", signal.SIGSEGV), (done, r.end)
    assert list(r.final_pc.values()) == [symbol("fault_here")], r.final_pc
    assert r.notes[11] == [b"0"]


@case
def signals_have_their_frame_and_their_registers():
    done = record("signals.ucir", SUBJECT, "signals")
    r = Ucir2("signals.ucir")
    seen = [(s.pc, *g[:4]) for s in r.all_steps for g in s.signals]
    fault = (symbol("fault_here"), signal.SIGSEGV, 1, 16, HANDLED | UNFINISHED | HAS_CODE | HAS_ADDR)
    assert done.returncode == 22 and seen[:2] == [fault, fault], (done, seen)
    assert [g[1] for g in seen[2:]] == [signal.SIGUSR1, signal.SIGCHLD], seen
    assert seen[2][2] == -6 and seen[2][3] == r.all_steps[0].thread >> 32, seen     # SI_TKILL, by itself
    inner = [(g[0], g[4]) for s in r.all_steps for g in s.signals]
    assert all(g.regs[39] == number and g.writes for number, g in inner), inner
    assert sum(len(b) for _, b in inner[0][1].writes) > 200
    child, = r.notes[9]
    assert "1 child process was not recorded" in done.stderr and int(child) > 1


def memory_is(target):
    program = SUBJECT if target == "x86_64" else build("subject.c", f"subject.{target}", "-O1 -static -w", target)
    if IS_QEMU:
        emulator(target)
    done = record(f"memory.{target}.ucir", program, "memory", text=False)
    r = Ucir2(f"memory.{target}.ucir")
    assert done.returncode == 0 and b"unexplained 0" in done.stderr, done.stderr
    names = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    start = int(re.search(r"^(\w+) \w scene$", names, re.M)[1], 16)
    recorded = r.memory(start, 8192)
    wrong = [i for i in range(8192) if recorded[i] != done.stdout[i]]
    assert len(done.stdout) == 8192 and not wrong, (len(done.stdout), wrong[:20])
    assert b"written after mprotect" in recorded and b"123 2.5" in recorded
    assert recorded[4100:4110] + recorded[4200:4220] == b"thirty bytes of text for readv"
    if target == "x86_64":
        assert struct.unpack("<QQ", recorded[3200:3216]) == (1, 2)


for name in ("x86_64", "aarch64", "ppc64") if IS_QEMU else ("x86_64",):     # with dc zva and dcbz, which no callback shows
    add_case(f"memory at the end is what the program itself shows: {name}", memory_is, name)


@case
def a_load_that_nothing_explains_is_shown_right_and_counted_once():
    done = record("alias.ucir", SUBJECT, "alias")
    r = Ucir2("alias.ucir")
    step, = [s for s in r.all_steps if s.changed]
    assert done.returncode == 9 and r.notes[11] == [b"1"] and "unexplained 1" in done.stderr, done
    (addr, value), = step.changed
    assert struct.unpack("<I", value) == (0x1234567,) and (addr, 4) in step.reads, step.changed


@case
def threads_share_memory_and_take_turns():
    done = record("threads.ucir", SUBJECT, "threads", "4")
    r = Ucir2("threads.ucir")
    assert done.stdout == "1000\n" and done.returncode == 0, done
    names = {s.thread for s in r.all_steps}
    assert len(names) == 5 == len(r.keyframes) and len({n >> 32 for n in names}) == 1, names
    assert len(r.thread_ends) == 4 and {t for t, _ in r.thread_ends} < names, r.thread_ends
    assert struct.unpack("<q", r.memory(symbol("total"), 8)) == (1000,)
    assert r.notes[11] == [b"0"], r.notes
    # The words of the threads' ids, that CLONE_CHILD_CLEARTID names: exit (60) clears them.
    exits = [c for s in r.all_steps for c in s.calls if c[0] == 60]
    words = [c[2][3] for s in r.all_steps for c in s.calls if c[0] == 56 and c[1] > 0]
    assert sorted(inner.writes for *_, inner in exits) == sorted([(word, bytes(4))] for word in words), (exits, words)
    # The kernel clears such a word a little later than Valgrind tells of the end: who looks meanwhile finds the id.
    changed = {addr for s in r.all_steps for addr, _ in s.changed}
    assert not changed if IS_QEMU else changed <= set(words), changed


@case
def eighteen_threads_come_to_their_end():
    done = record("many.ucir", SUBJECT, "threads", "18")
    assert done.stdout == f"{100 * 171}\n" and done.returncode == 0, done


@qemu_case
def threads_that_spin_for_others_let_them_run():
    """Under Valgrind it is the engine that takes turns."""
    done = record("spin.ucir", SUBJECT, "threads", "18", "spinning")
    assert done.stdout == f"{100 * 171}\n" and done.returncode == 0, done


@case
def what_a_program_becomes_is_not_recorded_and_said():
    done = record("exec.ucir", SUBJECT, "exec")
    r = Ucir2("exec.ucir")
    assert done.returncode == 6 and "the program became /bin/sh, which is not in this recording" in done.stderr, done
    assert r.end == ("exec", 0) and r.notes[10] == [b"/bin/sh"], (r.end, r.notes)


@case
def a_program_that_closes_all_descriptors_is_recorded_to_its_end():
    done = record("closed.ucir", SUBJECT, "closefds")
    r = Ucir2("closed.ucir")
    last = r.all_steps[-1]
    assert done.returncode == 4 and r.end == ("exit", 4), (done, r.end)
    assert last.calls[-1][0] == 231 and last.calls[-1][2][0] == 4 and ("exit",) in last.calls[-1][3].maps, last.calls


@case
def the_limit_ends_the_recording_not_the_program():
    done = record("limit.ucir", SUBJECT, "20", options=("--limit", "500K"))
    r = Ucir2("limit.ucir")
    assert done.returncode == 7 and r.end == ("cut", 0), (done, r.end)
    assert 500 << 10 <= os.path.getsize("limit.ucir") < 700 << 10 and "ended at --limit" in done.stderr
    whole = record("whole.ucir", SUBJECT, "20")
    counts = [int(re.search(r": (\d+) instructions", d.stderr)[1]) for d in (done, whole)]
    assert whole.returncode == 7 and len(r.all_steps) == counts[0] < counts[1], (len(r.all_steps), counts)


@qemu_case
def a_reservation_that_the_emulator_cannot_carry_is_refused():
    pathlib.Path("reserves.c").write_text("""#include <sys/mman.h>
int main(void)
{
	return mmap(0, 1ul << 41, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED;
}
""")
    subprocess.run(["gcc", "-O1", "-o", "reserves", "reserves.c"], check=True)
    done = record("reserves.ucir", "./reserves")
    assert done.returncode == 1 and "it reserves 2 TiB of addresses, more than QEMU can carry" in done.stderr, done
    assert done.stderr.count("\n") == 1 and not list(pathlib.Path().glob("reserves.ucir*")), done


def emulator_of(recorder):
    """The process id of the emulator with the plugin, or None: "--version" is asked of another one before."""
    proc = pathlib.Path("/proc")
    for child in (proc / f"{recorder}/task/{recorder}/children").read_text().split():
        try:
            if (b"-plugin" if IS_QEMU else b"--tool=tracestub") in (proc / child / "cmdline").read_bytes():
                return child
        except OSError:
            pass
    return None


def is_waiting(pid):
    """All threads wait in a system call of futexes."""
    try:
        tasks = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
        return all((task / "syscall").read_text().startswith("202 ") for task in tasks)
    except OSError:
        return False


@qemu_case
def the_limit_holds_when_the_reader_of_the_ring_is_slow():
    done = subprocess.Popen([TRACESTUB, "record", *with_engine(), "-o", "slow.ucir", "--limit", "500K", SUBJECT, "20"], stderr=subprocess.DEVNULL)
    while not (emulator_pid := emulator_of(done.pid)):
        assert done.poll() is None
    done.send_signal(signal.SIGSTOP)
    while not is_waiting(emulator_pid):     # the ring is full
        assert done.poll() is None
    done.send_signal(signal.SIGCONT)
    assert done.wait(LIMIT) == 7 and Ucir2("slow.ucir").end == ("cut", 0)
    assert 500 << 10 <= os.path.getsize("slow.ucir") < 700 << 10, os.path.getsize("slow.ucir")


def course(recording):
    """All but values: process ids and the size of the ring, which the program sees in its environment, differ."""
    return [(s.pc, s.len, s.reads, list(s.regs), [a for a, _ in s.writes], s.maps) for s in recording.all_steps]


@case
def a_ring_that_is_always_full_gives_the_same_recording():
    env = {"PATH": os.environ["PATH"], "QEMU_RAND_SEED": "3", "TRACESTUB_RING": "8388608"}
    assert record("wide.ucir", SUBJECT, "1", env=env).returncode == 7
    assert record("narrow.ucir", SUBJECT, "1", env={**env, "TRACESTUB_RING": "0065536"}).returncode == 7
    wide, narrow = Ucir2("wide.ucir"), Ucir2("narrow.ucir")
    assert len(wide.stream) == len(narrow.stream) and course(wide) == course(narrow)


@case
def the_recording_is_for_its_owner_only():
    pathlib.Path("open.ucir").write_text("an older file that others may read")
    os.chmod("open.ucir", 0o644)
    assert record("open.ucir", "true").returncode == 0
    assert stat.S_IMODE(os.stat("open.ucir").st_mode) == 0o600


@case
def an_output_that_cannot_be_written_is_said_before_the_program_runs():
    done = record("/no/such/folder/x.ucir", "touch", "was-run")
    assert done.returncode == 1 and "/no/such/folder/x.ucir" in done.stderr and not os.path.exists("was-run"), done


@qemu_case
def without_the_emulator_the_package_is_named():
    os.makedirs("bin", exist_ok=True)
    done = subprocess.run([TRACESTUB, "record", "-o", "none.ucir", "--with", "qemu", "--", "/bin/true"],
                          env={"PATH": os.path.abspath("bin")}, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "apt-get install qemu-user" in done.stderr, done
    assert "Debian 13 and later have none" in done.stderr and "valgrind" in done.stderr, done


def fake_qemu(folder, text):
    os.makedirs(folder, exist_ok=True)
    path = pathlib.Path(folder) / "qemu-x86_64"
    path.write_text(f"#!/bin/sh\n{text}\n")
    os.chmod(path, 0o755)
    return {"PATH": f"{os.path.abspath(folder)}:{os.environ['PATH']}"}


@qemu_case
def an_emulator_that_fails_before_the_first_instruction_is_heard():
    env = fake_qemu("failing", 'if [ "$1" = --version ]; then echo qemu-x86_64 version 7.2.0; else echo boom >&2; exit 9; fi')
    done = record("none.ucir", "/bin/true", env=env)
    assert (done.returncode, done.stderr) == (9, "boom\n") and not os.path.exists("none.ucir"), done


@qemu_case
def the_plugin_and_the_options_are_those_of_the_emulators_version():
    """A fake emulator shows what it was called with."""
    old, new = ("-singlestep", "tracestub-record.so"), ("-one-insn-per-tb", "tracestub-record9.so")
    for version, wanted in ("7.2.22", old), ("9.2.0", new), ("10.0.2", new), ("11.1.0", new):
        env = fake_qemu(f"q{version}", f'if [ "$1" = --version ]; then echo qemu-x86_64 version {version}; else echo "$@"; exit 9; fi')
        done = record("none.ucir", "/bin/true", env=env)
        plugin = re.search(r"-plugin \S*/([^/,]*),", done.stdout)
        assert done.returncode == 9 and plugin and (done.stdout.split()[0], plugin[1]) == wanted, (version, done)
    for version in "6.2.0", "8.2.1", "9.1.2", "unknown":
        done = record("none.ucir", "/bin/true", env=fake_qemu(f"q{version}", f"echo qemu-x86_64 version {version}"))
        assert done.returncode == 1 and f"is version {version}: recording works with" in done.stderr, (version, done)
        assert done.stderr.count("\n") == 1 and not os.path.exists("none.ucir"), done


@qemu_case
def a_plugin_for_each_interface_is_built():
    """Each has the version of its interface, and needs of QEMU nothing that a plugin may not use: the newer exports nothing else."""
    folder = pathlib.Path(TRACESTUB).resolve().parent
    for name, version in ("tracestub-record.so", 1), ("tracestub-record9.so", 4):
        table = subprocess.run(["nm", "-D", str(folder / name)], capture_output=True, text=True, check=True).stdout
        assert re.search(r" T qemu_plugin_install$", table, re.M) and re.search(r" D qemu_plugin_version$", table, re.M), table
        needed = re.findall(r" U (?!qemu_plugin_|g_byte_array_)(\w+)$", table, re.M)
        assert not needed, needed      # libc's have a version
        values = subprocess.run(["gdb", "-nx", "-batch", "-ex", "output (int) qemu_plugin_version", str(folder / name)],
                                capture_output=True, text=True, check=True).stdout
        assert values == str(version), values


@qemu_case
def a_newer_emulator_records_by_its_own_interface():
    """Run only where there is one with plugins: Debian 13's is linked statically and has none."""
    folder = os.environ.get("QEMU9") or skip("no folder of a QEMU 9.2 or later with plugins in QEMU9")
    env = {"PATH": f"{folder}:{os.environ['PATH']}"}
    done = record("newer.ucir", SUBJECT, "crash", env=env)
    r = Ucir2("newer.ucir")
    assert done.returncode == -signal.SIGSEGV and r.end == ("signal", signal.SIGSEGV), (done, r.end)
    assert list(r.final_pc.values()) == [symbol("fault_here")] and r.notes[11] == [b"0"], (r.final_pc, r.notes)
    done = record("newer.ucir", SUBJECT, "threads", "4", env=env)
    r = Ucir2("newer.ucir")
    assert (done.stdout, done.returncode) == ("1000\n", 0), done
    assert struct.unpack("<q", r.memory(symbol("total"), 8)) == (1000,) and len(r.thread_ends) == 4


def start(*argv):
    """A program that waits for a signal. A shell's background job ignores SIGINT, and so would the program."""
    recorder()
    process = subprocess.Popen([TRACESTUB, "record", *with_engine(), "-o", "wait.ucir", "--", SUBJECT, "wait", *argv], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert process.stdout.readline() == "ready\n"
    return process


def child_of(process):
    return int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


@case
def an_interrupt_from_the_terminal_is_for_the_program():
    process = start("handled")
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0 and out == "signal 2\n" and "tracestub: wait.ucir" in err, (out, err)
    process = start()
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=LIMIT)
    assert process.returncode == -signal.SIGINT and Ucir2("wait.ucir").end == ("signal", signal.SIGINT)


@case
def a_program_that_is_killed_leaves_a_recording():
    process = start()
    os.kill(child_of(process), signal.SIGKILL)
    process.communicate(timeout=LIMIT)
    assert process.returncode == -signal.SIGKILL and Ucir2("wait.ucir").end == ("signal", signal.SIGKILL)


def is_beyond(path, size):
    try:
        return os.path.getsize(path) > size
    except OSError:
        return False


@qemu_case
def a_program_that_is_killed_at_work_leaves_all_frames():
    """Often the plugin is just putting a frame into the ring; the first keyframe is in the file before."""
    assert os.path.exists("wide.ucir") or record("wide.ucir", SUBJECT, "1").returncode == 7
    for i in range(4):
        process = subprocess.Popen([TRACESTUB, "record", *with_engine(), "-o", f"killed{i}.ucir", SUBJECT, "2000"], stderr=subprocess.DEVNULL)
        while not is_beyond(f"killed{i}.ucir", os.path.getsize("wide.ucir") + 40000 * i):
            assert process.poll() is None
            time.sleep(0.001)
        os.kill(int(emulator_of(process.pid)), signal.SIGKILL)
        assert process.wait(LIMIT) == -signal.SIGKILL
        r = Ucir2(f"killed{i}.ucir")
        assert r.end == ("signal", signal.SIGKILL) and len(r.all_steps) > 20000, (i, r.end, len(r.all_steps))


@case
def a_signal_to_the_recorder_reaches_the_program():
    process = start()
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=LIMIT)
    assert process.returncode == -signal.SIGTERM and Ucir2("wait.ucir").end == ("signal", signal.SIGTERM)


@case
def a_program_that_stops_stops_the_recorder_too():
    """For a shell's job control: it waits for the recorder."""
    process = start("handled")
    child = child_of(process)
    os.kill(child, signal.SIGSTOP)
    assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
    os.killpg(process.pid, signal.SIGCONT)
    os.kill(child, signal.SIGINT)
    out, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 0 and out == "signal 2\n", out


@qemu_case
def the_program_outlives_a_recorder_that_is_killed():
    process = start("handled")
    child = child_of(process)
    process.send_signal(signal.SIGKILL)
    process.wait(LIMIT)
    os.kill(child, signal.SIGINT)
    assert process.stdout.read() == "signal 2\n"
    process.stderr.close()


@case
def a_program_that_spoils_its_recording_is_told_of():
    """What is left of the file is no recording: "N instructions" was said of it."""
    done = record("cut.ucir", "/bin/sh", "-c", ": >cut.ucir")
    assert "cut.ucir: it was changed while it was written: it has " in done.stderr and "instructions" not in done.stderr, done
    done = record("gone.ucir", "/bin/sh", "-c", "rm gone.ucir")
    assert "gone.ucir: it was removed while it was written: there is no recording" in done.stderr, done


run_cases()
