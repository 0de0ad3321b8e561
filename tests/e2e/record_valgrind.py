#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tracestub record --with valgrind`: programs run as they do alone, and what is recorded is what the processor does.

The truth is the processor: _processor.py steps through the program.
"""
import contextlib
import json
import os
import pathlib
import pty
import re
import resource
import signal
import struct
import subprocess

from _processor import compare, compare_memory
from _record import LIMIT, build, build_bare, load_address, record
from _tap import TRACESTUB, case, run_cases, skip_all
from _naive_ucir2 import Ucir2

TOOL = pathlib.Path(TRACESTUB).parent / "tracestub-record-vg-amd64"
if os.uname().machine != "x86_64" or not TOOL.exists():
    skip_all("tracestub was built without Valgrind")

WITH = "--with", "valgrind"


def unexplained(stderr):
    return int(stderr.rsplit("unexplained ", 1)[1].split()[0])


def recorded(name, *argv, options=(), **more):
    done = record(name, *argv, options=(*WITH, *options), **more)
    assert "instructions in" in done.stderr, done.stderr
    return done


@case
def each_instruction_leaves_the_processors_registers_and_memory():
    """Compiled code, and odd instructions; r11 after syscall holds flags in the processor."""
    has_avx2 = " avx2 " in pathlib.Path("/proc/cpuinfo").read_text()
    for more in ("-O1", "truth.c"), ("-O0", "truth.c"), ("-O2 -mavx2" if has_avx2 else "-O2", "truth.c"), ("-mavx2" if has_avx2 else "", "odd.c"):
        program = build_bare("x86_64", *more)
        assert record("truth.ucir", program, options=WITH).returncode >= 0
        recording = Ucir2("truth.ucir")
        n, wrong, n_flags = compare(recording, program, "x86_64", {"r11"} if more[1] == "truth.c" else (), more[1] == "odd.c")
        assert n > 3000 and not wrong and n_flags > 3 * n, (more, n, n_flags, len(wrong), wrong[:5])
        assert compare_memory(recording) > 10000


@case
def every_load_finds_what_the_recording_holds():
    for argv in (["ls", "/"], ["perl", "-e", "print 1"], ["sh", "-c", "echo $(echo x)"]):
        done = recorded("known.ucir", *argv)
        assert done.returncode == 0 and unexplained(done.stderr) == 0, (argv, done.stderr)


@case
def code_that_stores_write_runs_as_it_was_written():
    """Also where Valgrind translates the store and what it writes at once, or does not look at the code of a file again."""
    program = build("rewrites.c", "rewrites")
    alone = subprocess.run([program], capture_output=True, timeout=LIMIT).stdout.decode()
    assert alone == "anonymous 3 5 5\nown 3 5 5\nalias 7 8 9\n", alone
    done = recorded("rewrites.ucir", program)
    assert done.stdout == alone and unexplained(done.stderr) == 0, (done.stdout, done.stderr)
    # `--from` after it all: the program is translated, and nothing is recorded
    done = record("rewrites.ucir", program, options=(*WITH, "--from", "nowhere_at_all"))
    assert alone in done.stdout, (done.stdout, done.stderr)


@case
def a_register_is_written_also_with_the_value_that_it_has():
    pathlib.Path("same.c").write_text("int main(void) { int n = 0; for (int i = 0; i < 50; i++)\n"
                                      "__asm__ volatile(\"mov $10, %%r15\" ::: \"r15\"); return n; }\n")
    subprocess.run(["gcc", "-O0", "-o", "same", "same.c"], check=True)
    recorded("same.ucir", "./same")
    writes = [s for s in Ucir2("same.ucir").all_steps if s.regs.get(113) == 10]
    assert len(writes) >= 50, len(writes)


@case
def a_crash_ends_with_the_signal_its_cause_and_its_address():
    pathlib.Path("crash.c").write_text("int main(void) { return *(volatile int *)0x1234; }\n")
    subprocess.run(["gcc", "-g", "-O0", "-o", "crash", "crash.c"], check=True)
    done = recorded("crash.ucir", "./crash")
    assert done.returncode == -signal.SIGSEGV, done.returncode
    out = subprocess.run([TRACESTUB, "gdb", "crash.ucir", "--", "-nx", "-batch", "-ex", "goto end", "-ex", "bt",
                          "-ex", "print $_siginfo._sifields._sigfault.si_addr"], capture_output=True, text=True,
                         timeout=LIMIT, stdin=subprocess.DEVNULL).stdout
    assert "main () at crash.c:1" in out and "0x1234" in out, out


@case
def a_fault_for_which_the_kernel_has_no_address_has_its_siginfo():
    """An access of an address that is not canonical; a native debugger shows SI_KERNEL and a null address."""
    pathlib.Path("odd.c").write_text("int main(void) { return *(volatile int *)0x6161616161616161; }\n")
    subprocess.run(["gcc", "-g", "-O0", "-o", "odd", "odd.c"], check=True)
    assert recorded("odd.ucir", "./odd").returncode == -signal.SIGSEGV
    out = subprocess.run([TRACESTUB, "gdb", "odd.ucir", "--", "-nx", "-batch", "-ex", "goto end", "-ex", "monitor when",
                          "-ex", "print $_siginfo.si_code",
                          "-ex", "print $_siginfo._sifields._sigfault.si_addr"], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL).stdout
    assert "signal SIGSEGV, no address (SI_KERNEL)" in out and "$1 = 128\n$2 = (void *) 0x0\n" in out, out
    row = subprocess.run([TRACESTUB, "query", "--quiet", "odd.ucir", "events", "signal", "--json"], capture_output=True, text=True).stdout
    assert json.loads(row.splitlines()[0])["text"] == "SIGSEGV, no address (SI_KERNEL)", row


@case
def a_handler_has_the_address_of_the_division():
    program = build("divided.c", "divided")
    assert subprocess.run([program], timeout=LIMIT).returncode == 0
    assert recorded("divided.ucir", program).returncode == 0
    shown = subprocess.run([TRACESTUB, "gdb", "divided.ucir", "--", "-batch", "-ex", "continue", "-ex",
                            "print $_siginfo._sifields._sigfault.si_addr == $pc", "-ex", "set $failed = $pc",
                            "-ex", "break handler", "-ex", "continue",
                            "-ex", "print info->_sifields._sigfault.si_addr == $failed"],
                           capture_output=True, text=True, timeout=LIMIT).stdout
    assert "SIGFPE" in shown and "$1 = 1\n" in shown and "$2 = 1\n" in shown, shown


@case
def a_signal_that_a_thread_queues_for_itself_comes_before_the_call_returns():
    pathlib.Path("queued.c").write_text("""#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static volatile int sum;
static void on_usr1(int s, siginfo_t *i, void *u) { sum += i->si_value.sival_int; }
int main(void)
{
	struct sigaction a = { .sa_sigaction = on_usr1, .sa_flags = SA_SIGINFO };
	sigaction(SIGUSR1, &a, NULL);
	sigqueue(getpid(), SIGUSR1, (union sigval){ .sival_int = 3 });
	int first = sum;
	pthread_sigqueue(pthread_self(), SIGUSR1, (union sigval){ .sival_int = 5 });
	return 10 * first + sum;
}
""")
    subprocess.run(["gcc", "-g", "-O1", "-w", "-o", "queued", "queued.c"], check=True)
    assert subprocess.run(["./queued"]).returncode == 38
    done = recorded("queued.ucir", "./queued")
    assert done.returncode == 38 and unexplained(done.stderr) == 0, done
    rows = subprocess.run([TRACESTUB, "query", "queued.ucir", "calls", "on_usr1", "--quiet"], capture_output=True, text=True,
                          timeout=LIMIT).stdout.splitlines()
    assert len(rows) == 3 and "\tsigqueue\t" in rows[1] and "\tpthread_sigqueue" in rows[2], rows


@case
def the_program_has_the_environment_that_its_user_gave():
    env = {"PATH": os.environ["PATH"], "ONE": "1", "TWO": "a b"}
    alone = subprocess.run(["env"], env=env, capture_output=True, text=True).stdout
    assert recorded("env.ucir", "env", env=env).stdout == alone
    status = recorded("status.ucir", "sh", "-c", "exit 9").returncode
    assert status == 9, status


# Intel's and Linux's auxiliary vector, getauxval(3): what the engine cannot have alike, and addresses
OTHER_PROCESSOR = {"1", "16", "26", "27", "28", "33", "51"}     # IGNORE (for SYSINFO_EHDR), HWCAP, HWCAP2, RSEQ_*, SYSINFO_EHDR, MINSIGSTKSZ
ADDRESSES = {"3", "7", "9", "15", "24", "25", "31"}             # PHDR BASE ENTRY PLATFORM BASE_PLATFORM RANDOM EXECFN


def seen(output):
    """What the program printed, but for what is known to differ; Valgrind's own descriptors lie beyond the program's bound."""
    lines, bound = [], int(re.search(rf"^limit {resource.RLIMIT_NOFILE} (\w+)", output, re.M)[1], 16)
    for line in output.splitlines():
        what, name = [*line.split(" "), ""][:2]
        if what == "descriptor" and int(name) >= bound or what == "auxv" and name in OTHER_PROCESSOR:
            continue
        lines.append(f"auxv {name}" if what == "auxv" and name in ADDRESSES else line)
    return sorted(line for line in lines if not line.startswith(f"limit {resource.RLIMIT_NOFILE} "))


@case
def a_program_sees_what_it_sees_alone():
    """Arguments with newlines, an own LD_PRELOAD, an empty one, descriptors, limits; the bound on descriptors is lower by Valgrind's own."""
    program = build("sees.c", "sees")
    pathlib.Path("own.c").write_text("int nothing;\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", "own.so", "own.c"], check=True)
    with open("open.file", "w") as kept:
        for preload in {}, {"LD_PRELOAD": os.path.abspath("own.so")}, {"LD_PRELOAD": ""}:
            argv, env = [program, "a b", "new\nline", ""], {"PATH": os.environ["PATH"], "ODD": "x\ny=z", **preload}
            more = {"env": env, "pass_fds": [kept.fileno()], "stdin": subprocess.DEVNULL}
            alone = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT, **more).stdout
            mine = recorded("sees.ucir", *argv, **more).stdout
            wanted, found = seen(re.sub(r"pipe:\[\d+\]", "pipe", alone)), seen(re.sub(r"pipe:\[\d+\]", "pipe", mine))
            assert wanted == found, (preload, set(wanted) ^ set(found))


@case
def a_full_ring_gives_the_same_recording():
    program = build_bare("x86_64")
    recorded("large.ucir", program)
    recorded("small.ucir", program, env={**os.environ, "TRACESTUB_RING": "1"})
    steps = [[(s.pc, s.len) for s in Ucir2(name).all_steps] for name in ("large.ucir", "small.ucir")]
    assert steps[0] == steps[1]


PARTS = """
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static volatile int waiter;
static int is_over;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
__attribute__((noinline)) void report(int n) { printf("%d\\n", n); }
static void *wait_for_it(void *user)
{
	pthread_mutex_lock(&lock);
	waiter = gettid();
	while (!is_over)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return user;
}
static int is_waiting(void)
{
	char path[64], text[8] = "";
	FILE *file;
	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", waiter);
	file = waiter ? fopen(path, "r") : NULL;
	if (!file)
		return waiter && access(path, F_OK);
	fgets(text, sizeof(text), file);
	fclose(file);
	return !strncmp(text, "202 ", 4); /* futex */
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, wait_for_it, NULL);
	while (!is_waiting())
		usleep(1000);
	for (int i = 0; i < 6; i++)
		report(i); /* here */
	pthread_mutex_lock(&lock);
	is_over = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	return 5;
}
"""


def parts():
    pathlib.Path("parts.c").write_text(PARTS)
    subprocess.run(["gcc", "-D_GNU_SOURCE", "-static-pie", "-w", "-g", "-O1", "-pthread", "-o", "parts", "parts.c"], check=True)
    return 1 + PARTS[:PARTS.index("report(i)")].count("\n")


def address(function, program="parts"):
    """Where Valgrind loads it."""
    table = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    record("address.ucir", f"./{program}", options=WITH)
    return load_address("address.ucir") + int(next(line for line in table.splitlines() if line.endswith(f" T {function}")).split()[0], 16)


def part(*options):
    done = record("part.ucir", "./parts", options=(*WITH, *options))
    assert done.returncode == 5 and done.stdout == "".join(f"{i}\n" for i in range(6)), done
    return done, Ucir2("part.ucir") if os.path.exists("part.ucir") else None


@case
def a_recording_begins_and_ends_at_places():
    """The truth is the program's: report is called six times, and each time its number is in edi."""
    line = parts()
    entry = address("report")
    for options, numbers in ((["--from", "report"], range(6)), (["--from", "report:3"], range(2, 6)),
                             (["--from", "report:2", "--until", "report:2"], [1, 2][:1]),
                             (["--from", hex(entry) + ":5"], [4, 5]), (["--from", f"parts.c:{line}:4"], [3, 4, 5]),
                             (["--from", "main", "--until", "report:2"], [0]), (["--from", "_start"], range(6))):
        done, r = part(*options)
        seen = [regs[39] for step, regs in r.states() if step.pc == entry]
        assert seen == list(numbers), (options, seen, done.stderr)
        assert "unexplained 0" in done.stderr and (r.end[0] == "cut") == ("--until" in options), (r.end, done.stderr)
        os.unlink("part.ucir")


@case
def a_function_that_the_recording_begins_in_returns():
    """The program calls report six times from main, and each time it returns there."""
    parts()
    part("--from", "report:3")

    def ask(*words):
        done = subprocess.run([TRACESTUB, "query", "part.ucir", *words, "--json"], capture_output=True, text=True, timeout=LIMIT, check=True)
        *rows, end = map(json.loads, done.stdout.splitlines())
        return rows, end

    calls, _ = ask("calls", "report")
    assert [c["kind"] for c in calls] == ["return"] * 4 and calls[0]["position"] == calls[0]["begin"] == 0, calls
    here, = ask("when", "at", str(calls[0]["end"]))[0]
    assert here["function"] == "main", here
    rows, end = ask("stack", "at", "1")
    assert [r["function"] for r in rows] == ["report"] and "the calls that were open then are not listed" in end["note"], (rows, end)
    part("--from", "_start")
    assert "note" not in ask("stack", "at", str(ask("calls", "report")[0][0]["begin"]))[1]


LIVE = """
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void report(void) { __asm__(""); }
static void *wait_for_it(void *user)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return user;
}
int main(void)
{
	pthread_t threads[4];
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, wait_for_it, NULL);
	report();
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
"""


@case
def the_end_of_threads_that_live_when_it_begins_is_explained():
    """The kernel clears a word that the system call named by which a thread was made."""
    pathlib.Path("live.c").write_text(LIVE)
    subprocess.run(["gcc", "-g", "-O1", "-pthread", "-o", "live", "live.c"], check=True)
    assert unexplained(recorded("live.ucir", "./live", options=("--from", "report")).stderr) == 0


@case
def threads_that_wait_when_it_begins_are_in_the_recording():
    parts()
    _, r = part("--from", "report:3")
    assert len(r.keyframes) == 2 and len({s.thread for s in r.all_steps}) == 2, r.keyframes
    waited = [c for k in r.keyframes for c in k.calls if c[0] == 202 and c[1] == 0]
    assert len(waited) == 1, "the call in which the other thread waited has returned"


LATE = """
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int waiter;
static void *wait_for_it(void *user)
{
	waiter = gettid();
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return user;
}
void here(void) { __asm__ volatile(""); }
int main(void)
{
	char path[64];
	pthread_t thread;
	pthread_mutex_lock(&lock);
	pthread_create(&thread, NULL, wait_for_it, NULL);
	while (!waiter)
		usleep(1000);
	here();
	pthread_mutex_unlock(&lock);
	snprintf(path, sizeof(path), "/proc/self/task/%d", waiter);
	while (!access(path, F_OK))
		usleep(1000);
	return pthread_join(thread, NULL);
}
"""


@case
def the_end_of_a_thread_that_began_before_the_recording_is_explained():
    """The kernel has cleared the word of its number before pthread_join() reads it for the first time."""
    pathlib.Path("late.c").write_text(LATE)
    subprocess.run(["gcc", "-D_GNU_SOURCE", "-w", "-g", "-O1", "-fno-inline", "-pthread", "-o", "late", "late.c"], check=True)
    done = record("late.ucir", "./late", options=(*WITH, "--from", "here"))
    assert done.returncode == 0 and "unexplained 0" in done.stderr, done


@case
def no_thread_sees_the_word_of_an_ended_one_before_the_kernel_has_cleared_it():
    """The recorder excuses such a change; who opens the recording does not."""
    pathlib.Path("joined.c").write_text("""#include <pthread.h>
static void *nothing(void *p) { return p; }
int main(void)
{
	for (int k = 0; k < 50; k++) {
		pthread_t t[4];
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], 0, nothing, 0);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], 0);
	}
	return 0;
}
""")
    subprocess.run(["gcc", "-O1", "-pthread", "-o", "joined", "joined.c"], check=True)
    recorded("joined.ucir", "./joined")
    said = subprocess.run([TRACESTUB, "info", "joined.ucir"], capture_output=True, text=True, timeout=LIMIT).stdout
    assert "unexplained   0 changes" in said, said


@case
def more_threads_live_at_once_than_valgrind_has_by_itself():
    """Its own bound is 500."""
    pathlib.Path("crowd.c").write_text("""#include <pthread.h>
static pthread_barrier_t all;
static void *arrive(void *p) { pthread_barrier_wait(&all); return p; }
int main(void)
{
	static pthread_t t[510];
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&all, 0, 511);
	for (int i = 0; i < 510; i++)
		if (pthread_create(&t[i], &small, arrive, 0))
			return 1;
	pthread_barrier_wait(&all);
	for (int i = 0; i < 510; i++)
		pthread_join(t[i], 0);
	return 7;
}
""")
    subprocess.run(["gcc", "-O1", "-pthread", "-static", "-o", "crowd", "crowd.c"], check=True)
    done = recorded("crowd.ucir", "./crowd")
    assert done.returncode == 7 and unexplained(done.stderr) == 0, done
    said = subprocess.run([TRACESTUB, "info", "crowd.ucir"], capture_output=True, text=True, timeout=LIMIT).stdout
    assert re.search(r"^threads +511$", said, re.M) and "the program's exit" in said, said


@case
def a_recording_that_begins_after_threads_have_ended_is_whole():
    pathlib.Path("ended.c").write_text("""#include <pthread.h>
static void *nothing(void *p) { return p; }
__attribute__((noinline)) void here(void) { __asm__ volatile(""); }
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, nothing, 0);
	pthread_join(t, 0);
	here();
	return 0;
}
""")
    subprocess.run(["gcc", "-O1", "-pthread", "-o", "ended", "ended.c"], check=True)
    done = recorded("ended.ucir", "./ended", options=("--from", "here"))
    r = Ucir2("ended.ucir")
    assert len(r.all_steps) > 100 and r.end == ("exit", 0) and unexplained(done.stderr) == 0, (done.stderr, r.end)


@case
def a_place_that_is_not_reached_is_said():
    parts()
    if os.path.exists("part.ucir"):
        os.unlink("part.ucir")
    done, r = part("--from", "report:7")
    assert r is None and "nothing is recorded: report:7 was not reached" in done.stderr, done.stderr
    pathlib.Path("quits.c").write_text("int main(int argc, char **argv) { return argc - 1; }\n")
    subprocess.run(["gcc", "-g", "-o", "quits", "quits.c"], check=True)
    for options, why in ((["--from", "nowhere"], "nowhere was not reached"), (["--from", "main", "--limit", "40"], "--limit ended it"),
                         (["--from", "main", "--until", "main"], "--until ended it"), (["--from", "SIGUSR1"], "no SIGUSR1 began it"),
                         (["--module", "none"], "no instruction of a module none"), (["--follow", "--from", "nowhere"], "no process executed")):
        for arguments, status in [([], 1), (["a", "b"], 2)][:2 if why.startswith("nowhere") else 1]:
            done = record("quits.ucir", "./quits", *arguments, options=(*WITH, *options))
            assert done.returncode == status and done.stderr.startswith("tracestub: nothing is recorded: ") and why in done.stderr, done
            assert done.stderr.count("\n") == 1 and not [name for name in os.listdir() if name.startswith("quits.ucir")], os.listdir()
    done, r = part("--until", "report:7")
    assert "report:7 was not reached: the recording ends with the program" in done.stderr and r.end == ("exit", 5), done.stderr
    for text in "", ":3", "report:0", "0x", "a.c:x:1:":
        done = record("part.ucir", "./parts", options=("--from", text))
        assert done.returncode == 2 and "a place is FUNC" in done.stderr, (text, done)
    done = record("part.ucir", "./parts", options=("--with", "qemu", "--from", "main"))
    assert done.returncode == 1 and "--from, --until, --last, --module and --follow are Valgrind's" in done.stderr, done


@case
def a_program_for_another_processor_is_refused_with_what_records_it():
    head = b"\x7fELF\1\1\1" + bytes(9) + struct.pack("<HHI", 2, 40, 1) + bytes(40)      # ELF of 32 bits, ARM
    pathlib.Path("other").write_bytes(head)
    os.chmod("other", 0o755)
    done = record("other.ucir", "./other", options=WITH)
    assert done.returncode == 1 and "a program for arm" in done.stderr and "--with qemu, with qemu-arm" in done.stderr, done
    done = record("other.ucir", "./other", options=("--last", "1M"))
    assert done.returncode == 1 and "and this one is for arm; QEMU records from the start" in done.stderr, done
    for option in ("--cpu", "max"), ("--sysroot", "/"), ("--qemu", "qemu-x86_64"):
        done = record("other.ucir", "/bin/true", options=(*WITH, *option))
        assert done.returncode == 1 and f"{option[0]} is QEMU's, not Valgrind's" in done.stderr, done


def await_line(process):
    line = process.stdout.readline()
    assert line, process.stderr.read()
    return int(line)


@case
def a_signal_begins_and_ends_the_recording():
    pathlib.Path("ticks.c").write_text("#include <stdio.h>\n#include <unistd.h>\n"
                                       "__attribute__((noinline)) void tick(int i) { printf(\"%d\\n\", i); fflush(stdout); }\n"
                                       "int main(void) { for (int i = 0; access(\"stop\", 0); i++) tick(i); return 3; }\n")
    subprocess.run(["gcc", "-g", "-O1", "-o", "ticks", "ticks.c"], check=True)
    for name in "stop", "ticks.ucir":
        pathlib.Path(name).unlink(missing_ok=True)
    process = subprocess.Popen([TRACESTUB, "record", *WITH, "-o", "ticks.ucir", "--from", "SIGUSR1", "./ticks"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    before = await_line(process)
    process.send_signal(signal.SIGUSR1)
    while not os.path.exists("ticks.ucir") or os.path.getsize("ticks.ucir") < 100000:
        last = await_line(process)
    process.send_signal(signal.SIGUSR1)
    for _ in range(300):
        await_line(process)
    pathlib.Path("stop").touch()
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 3 and "the recording ended at SIGUSR1, the program did not" in err, err
    entry = address("tick", "ticks")
    ticks = [regs[39] for step, regs in Ucir2("ticks.ucir").states() if step.pc == entry]
    assert ticks and before < ticks[0] and ticks[-1] < last + 100000 and ticks == list(range(ticks[0], ticks[-1] + 1)), ticks


@case
def programs_of_sanitizers_are_refused():
    pathlib.Path("idle.c").write_text("int main(void) { return 0; }\n")
    for options, name in (("address", "AddressSanitizer"), ("thread", "ThreadSanitizer"), ("address -s -static-libasan", "AddressSanitizer"),
                          ("thread -s -static-libtsan", "ThreadSanitizer"), ("address -s", "AddressSanitizer")):
        done = subprocess.run(["gcc", *f"-fsanitize={options}".split(), "-o", "idle", "idle.c"], capture_output=True)
        if done.returncode:
            continue
        done = record("idle.ucir", "./idle")
        assert done.returncode == 1 and f"it is built with {name}" in done.stderr and done.stderr.count("\n") == 1, done
        assert not os.path.exists("idle.ucir")
        # without the runner's options, by which the sanitizer's own complaint would be a failure of this test
        env = {k: v for k, v in os.environ.items() if not k.endswith("SAN_OPTIONS")}
        if options != "address":
            continue
        done = record(f"idle.{name}", "sh", "-c", "./idle >/dev/null 2>&1; true", options=("--follow",), env=env)
        assert done.returncode == 0 and f"warn: ./idle: it is built with {name}" in done.stderr, done


@case
def memory_has_a_bound():
    pathlib.Path("greedy.c").write_text("#include <stdlib.h>\n#include <string.h>\nint main(void) { for (;;) memset(malloc(1 << 20), 1, 1 << 20); }\n")
    subprocess.run(["gcc", "-O1", "-o", "greedy", "greedy.c"], check=True)
    done = record("greedy.ucir", "./greedy", options=(*WITH, "--max-memory", "400M", "--limit", "2M"))
    assert done.returncode == -signal.SIGKILL and "needed more than 400 MiB of memory" in done.stderr, done


@case
def x87_and_avx512_are_explained():
    pathlib.Path("long.c").write_text("int main(int argc, char **argv) { volatile long double x = argc; x = x * x + 1; return (int)x; }\n")
    subprocess.run(["gcc", "-O0", "-o", "long", "long.c"], check=True)
    done = recorded("long.ucir", "./long")
    assert done.returncode == 2 and "64 bits instead of 80" in done.stderr and "--with qemu" in done.stderr, done
    assert b"--with qemu" in Ucir2("long.ucir").notes[12][0]
    assert "64 bits" not in recorded("long.ucir", "ls", "/").stderr
    pathlib.Path("wide.c").write_text("int main(void) { __asm__ volatile(\".byte 0x62, 0xf1, 0x7c, 0x48, 0x57, 0xc0\"); return 0; }\n")
    subprocess.run(["gcc", "-O0", "-o", "wide", "wide.c"], check=True)
    done = recorded("wide.ucir", "./wide")
    assert done.returncode == -signal.SIGILL and "AVX-512" in done.stderr, done
    pathlib.Path("ud0.c").write_text("int main(void) { __asm__ volatile(\".byte 0x0f, 0xff, 0xc0\"); return 0; }\n")
    subprocess.run(["gcc", "-o", "ud0", "ud0.c"], check=True)
    assert "\ntracestub: --with qemu may record it\n" in record("ud0.ucir", "./ud0").stderr


@case
def a_filter_that_the_engine_does_not_pass_is_explained():
    """seccomp(2)'s strict mode: read, write, exit and sigreturn are allowed, which the engine needs more than."""
    pathlib.Path("strict.c").write_text("#include <sys/prctl.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n"
                                        "int main(void) { prctl(22, 1); write(1, \"in\\n\", 3); syscall(SYS_exit, 3); }\n")
    subprocess.run(["gcc", "-O0", "-static", "-w", "-o", "strict", "strict.c"], check=True)
    alone = subprocess.run(["./strict"], capture_output=True, text=True, timeout=LIMIT)
    done = recorded("strict.ucir", "./strict")
    if done.returncode == alone.returncode:
        assert done.stdout == alone.stdout and "seccomp" not in done.stderr, done
        return
    assert done.returncode == -signal.SIGKILL and done.stderr.count("filter of seccomp(2)") == 1, done
    assert b"filter of seccomp(2)" in Ucir2("strict.ucir").notes[12][0]


@case
def a_program_that_executes_its_own_link_is_told_what_that_is():
    pathlib.Path("again.c").write_text("#include <unistd.h>\n"
                                       "int main(int argc, char **argv) { if (argc > 1) return 4;\n"
                                       "execl(argv[0][0] == '.' ? \"/proc/self/exe\" : \"/bin/true\", \"x\", \"y\", NULL); return 9; }\n")
    subprocess.run(["gcc", "-O0", "-static", "-o", "again", "again.c"], check=True)
    done = recorded("again.ucir", "./again")
    assert done.returncode == 4 or "which is Valgrind here" in done.stderr and "--with qemu" in done.stderr, done
    done = recorded("again.ucir", os.path.abspath("again"))
    assert done.returncode == 0 and "the program became /bin/true" in done.stderr and "Valgrind here" not in done.stderr, done


@case
def a_failure_of_the_engine_is_not_the_end_of_the_program():
    """Valgrind's assertion fails for SIGSYS; where that is mended the program ends by itself."""
    pathlib.Path("sys.c").write_text("#include <signal.h>\n#include <unistd.h>\nstatic void h(int s) { (void)s; }\n"
                                     "int main(void) { signal(SIGSYS, h); kill(getpid(), SIGSYS); return 5; }\n")
    subprocess.run(["gcc", "-O0", "-o", "sys", "sys.c"], check=True)
    done = recorded("sys.ucir", "./sys")
    exits = subprocess.run([TRACESTUB, "query", "sys.ucir", "events", "exit"], capture_output=True, text=True, timeout=LIMIT)
    if done.returncode == 5:
        assert "status 5" in exits.stdout and "failed" not in done.stderr, (done, exits)
        return
    assert done.returncode == 1 and "Valgrind failed and ended the program: " in done.stderr and "--with qemu" in done.stderr, done
    assert exits.stdout.count("\n") == 1 and "the recorder ended before the program" in exits.stderr, exits


def on_terminal(*argv):
    """What is written to the terminal, which is the program's, too."""
    pid, terminal = pty.fork()
    if not pid:
        os.execve(argv[0], argv, {**os.environ, "TRACESTUB_PROGRESS": "0"})
    said = b""
    with contextlib.suppress(OSError):        # EIO: all have closed it
        while got := os.read(terminal, 65536):
            said += got
    os.close(terminal)
    assert os.waitpid(pid, 0)[1] == 0, said
    return said.decode()


@case
def progress_is_said_on_a_terminal():
    record_it = TRACESTUB, "record", "-o", "told.ucir", *WITH
    so_far = "told.ucir: {} instructions so far, in "
    said = on_terminal(*record_it, "sh", "-c", "ls / >/dev/null")
    assert re.search(so_far.format(r"\d+"), said), said[-2000:]
    assert "so far" not in on_terminal(*record_it, "--quiet", "sh", "-c", "ls / >/dev/null")
    assert "so far" not in record("told.ucir", "/bin/true", env={**os.environ, "TRACESTUB_PROGRESS": "0"}).stderr


@case
def a_full_disk_is_said():
    """A bound on the length of files is such an error, too; the program itself writes none."""
    done = record("full.ucir", "ls", "/", options=WITH, env={**os.environ, "TRACESTUB_RING": str(2 << 20)},
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20)))
    assert done.returncode == 0 and "full.ucir is cut: it holds what came first" in done.stderr, done
    assert done.stdout == subprocess.run(["ls", "/"], capture_output=True, text=True).stdout
    info = subprocess.run([TRACESTUB, "info", "full.ucir"], capture_output=True, text=True)
    assert info.returncode == 0 and "truncated" in info.stdout + info.stderr, info


LAST = """
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
static unsigned squares[5000], copy[256];
static unsigned *mapped;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *wait_for_it(void *user)
{
	prctl(PR_SET_NAME, "waiter");
	pthread_mutex_lock(&lock);
	return user;
}
__attribute__((noinline)) void last_words(unsigned sum) { printf("%p %p %u\\n", (void *)squares, (void *)mapped, sum); }
int main(void)
{
	pthread_t thread;
	unsigned sum = 0;
	mapped = mmap(NULL, 20000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned i = 0; i < 5000; i++)
		squares[i] = mapped[i] = i * i;
	pthread_mutex_lock(&lock);
	pthread_create(&thread, NULL, wait_for_it, NULL);
	for (unsigned i = 0; i < 4000; i++) { /* many bytes of each instruction */
		memcpy(copy, squares + i % 18 * 256, sizeof(copy));
		sum += copy[i % 256] ^ i;
	}
	mprotect(mapped, 4096, PROT_READ);
	last_words(sum);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	return 7;
}
"""


def first_memory(recording, start, length):
    """What the first keyframe has there."""
    found = bytearray(length)
    for addr, what in recording.keyframes[0].writes:
        data = what if isinstance(what, bytes) else bytes(what)
        first, end = max(addr, start), min(addr + len(data), start + length)
        if first < end:
            found[first - start:end - start] = data[first - addr:end - addr]
    return bytes(found)


@case
def the_last_part_begins_with_all_that_was_there():
    """The truth: what the program stored long before is its memory at position 0, and the run ends as it does alone."""
    pathlib.Path("last.c").write_text(LAST)
    subprocess.run(["gcc", "-g", "-O1", "-pthread", "-o", "last", "last.c"], check=True)
    done = recorded("last.ucir", "./last", options=("--last", "1M"))
    assert done.returncode == 7 and unexplained(done.stderr) == 0, done
    assert "instructions before are not in the recording (--last)" in done.stderr, done.stderr
    assert os.path.getsize("last.ucir") < 4 << 20
    r = Ucir2("last.ucir")
    squares, mapped, total = done.stdout.split()
    wanted = b"".join(struct.pack("<I", i * i & 0xffffffff) for i in range(5000))
    for start in squares, mapped:
        assert first_memory(r, int(start, 16), len(wanted)) == wanted, start
    assert len({s.thread for s in r.all_steps}) == 2 and r.end == ("exit", 7), r.end
    assert any(b"waiter" in note for note in r.notes[13]), r.notes
    entry = address("last_words", "last")
    assert [regs[39] & 0xffffffff for step, regs in r.states() if step.pc == entry] == [int(total)]
    subprocess.run(["gcc", "-static", "-x", "c", "-", "-o", "whole"], input="int main(void) { return 0; }\n", text=True, check=True)
    whole = recorded("whole.ucir", "./whole", options=("--last", "1G"))
    assert "before are not" not in whole.stderr and 12 not in Ucir2("whole.ucir").notes
    done = recorded_wrongly("--last", "4M", "--limit", "4M")
    assert "one of them" in done.stderr, done


def recorded_wrongly(*options):
    done = record("wrong.ucir", "/bin/true", options=(*WITH, *options))
    assert done.returncode == 2, done
    return done


run_cases()
