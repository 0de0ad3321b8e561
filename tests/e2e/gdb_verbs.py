#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdbinit's commands over the recording: verbs, checkpoints, back and forward; with gdb's Python and without it."""
import contextlib
import pathlib
import shutil

from _gdb import Gdb
from _recording import Recording
from _rsp import Rsp
from _server import Server
from _tap import SRCDIR, case, run_cases

INIT = SRCDIR / "gdbinit"


def monitor(client, command):
    """What a monitor command prints to a raw client, "" if it is refused."""
    client.send("qRcmd," + command.encode().hex())
    text = b""
    while (reply := client.receive()).startswith("O") and reply != "OK":
        text += bytes.fromhex(reply[1:])
    return text.decode() if reply == "OK" else ""


@contextlib.contextmanager
def session(has_python=True):
    """gdb with gdbinit on a copy of x64_walk, beside which marks are kept."""
    recording, init = Recording("x64_walk"), INIT
    recording.trace = shutil.copy(recording.trace, "marked.ucir")
    pathlib.Path("marked.ucir.tsmarks").unlink(missing_ok=True)
    if not has_python:
        init = pathlib.Path("without_python.gdb").absolute()
        init.write_text(INIT.read_text().replace("if !$_isvoid($_streq)", "if 0"))
        assert "if 0" in init.read_text()
    with Gdb(recording, "--exec", recording.exec) as g:
        g(f"source {init}")
        g.expect(r"\A\Z")
        yield g


def with_and_without_python(test):
    """The test is two cases."""
    for has_python in True, False:
        def run(has_python=has_python):
            with session(has_python) as g:
                test(g)
        run.__name__ = test.__name__ + ("" if has_python else "_without_python")
        case(run)


@with_and_without_python
def a_verb_is_a_command_and_answers_as_monitor_does(g):
    asked = g("monitor history total first 3")
    assert asked.count("\n") >= 4 and "write" in asked
    for command in "ts history &total,4 first 3", "history total first 3", "ts history total first 3":
        assert g(command).split("\n")[1:] == asked.split("\n")[1:] or "&" in command, command


@with_and_without_python
def checkpoints_are_marks_and_restart_goes_there(g):
    g("goto 40")
    g("checkpoint")
    g.expect("^Checkpoint 1: position 40, the mark checkpoint-1$")
    g("goto 90")
    g("checkpoint")
    g.expect("^Checkpoint 2: position 90, ")
    g("restart 1")
    assert g.position() == 40
    assert g.address("$pc") == g.recording.pcs()[40]
    g("info checkpoints")
    g.expect(r"\b40 +checkpoint-1$")
    g.expect(r"\b90 +checkpoint-2$")
    g("delete checkpoint 1")
    g("info checkpoints")
    g.expect_not("checkpoint-1")
    g("checkpoint")
    g.expect("^Checkpoint 1: position 40, ")      # the lowest free number
    g("restart 7")
    g.expect("'checkpoint-7' is not a place")
    assert g.position() == 40


@case
def two_servers_never_give_one_checkpoint_number_twice():
    with session() as g, Server(g.recording.trace) as other, Rsp(other.address) as client:
        g("checkpoint")
        g.expect("^Checkpoint 1:")
        assert monitor(client, "checkpoint").startswith("Checkpoint 2:")
        g("checkpoint")
        g.expect("^Checkpoint 3:")


@with_and_without_python
def gdb_follows_where_a_question_goes(g):
    written = g.positions("bump + 24")[0]
    g(f"goto {written - 9}")
    g("next-write total -go")
    assert g.position() == written
    assert g.value("total") == 69
    g("back")
    assert g.position() == written - 9
    g("forward")
    assert g.position() == written
    g(f"goto {written - 9}")
    g("goto next exec bump")
    assert g.position() == g.positions("*bump")[0]


@case
def words_verbs_symbols_and_marks_are_completed():
    with session() as g:
        g("mark crash at 40")
        for typed, expected in (("ts last-w", "ts last-write"), ("history tot", "history total"),
                                ("history total fir", "history total first"), ("goto next wr", "goto next write"),
                                ("events sys", "events syscall"), ("goto cra", "goto crash"),
                                ("ts goto cra", "ts goto crash"), ("ts hot blo", "ts hot blocks"), ("hot loops by ad", "hot loops by address"),
                                ("ts events proc", "ts events process"), ("history total ri", "history total ring"),
                                ("history phy", "history phys:"), ("why bran", "why branch"), ("why total inp", "why total inputs"),
                                ("calls tre", "calls tree"), ("coverage min", "coverage minus"), ("strings min 6 --ch", "strings min 6 --changes")):
            assert g(f"complete {typed}").split("\n")[0].strip() == expected, typed
        g("complete goto zzz")
        g.expect(r"\A\Z")


@case
def every_verb_is_a_command_but_gdbs_own():
    with session() as g:
        verbs = [line.split()[1] for line in g("monitor help").split("\n") if line.startswith("monitor ")]
        own = {"announce", "checkpoint", "collect", "condition", "direction", "export", "filter", "help", "info", "physical",
               "translate", "wait"}
        for verb in set(verbs) - own:
            g(f"help {verb}")
            g.expect("recording|Search memory" if verb == "find" else "recording")


@case
def steps_and_continues_of_other_clients_go_backwards():
    recording = Recording("x64_walk")
    pcs = recording.pcs()
    with Server(recording.trace) as server, Rsp(server.address) as r:
        def pc():
            return int.from_bytes(bytes.fromhex(r.ask("p10")), "little")

        monitor(r, "goto 50")
        assert monitor(r, "direction reverse").startswith("step and continue go backwards\n")
        for packet in "s", "vCont;s:p1.1", f"vCont;r{pcs[47]:x},{pcs[47] + 1:x}:p1.1":
            assert r.ask(packet).startswith("T05"), packet
        assert pc() == pcs[47]
        wanted = pcs[20]
        assert r.ask(f"Z0,{wanted:x},1") == "OK"
        assert r.ask("c").startswith("T05") and pc() == wanted
        assert r.ask(f"z0,{wanted:x},1") == "OK"
        assert "replaylog:begin" in r.ask("vCont;c") and pc() == pcs[0]
        assert monitor(r, "direction").startswith("step and continue go backwards\n")
        monitor(r, "direction forward")
        assert r.ask("s").startswith("T05") and pc() == pcs[1]
        assert monitor(r, "direction sideways") == ""


@case
def a_refused_monitor_command_says_what_gdbs_error_means():
    """gdb before 16 ends it in "Protocol error with Rcmd"; later ones print the reason as their error."""
    means = "means: the command was refused, for the reason in the line above it"
    with session() as g:
        g("monitor goto 99999999")
        g.expect("'99999999' is not a position: the last one is")
        explained = "Protocol error with Rcmd: " not in g.text
        assert (means in g.text) == explained, g
        g("monitor when")
        g.expect_not(means)
        g("history zork")           # gdbinit's own commands say it in their own words
        g.expect_not("Protocol error|" + means)


@with_and_without_python
def what_would_change_the_recording_is_said_not_to_be_allowed(g):
    """The recording is connected already when session() reads gdbinit: here it is read first, as by `tracestub gdb`."""
    g("disconnect")
    g("set $_tracestub = (void) 0")
    g(f"source {INIT}")
    g(f"target extended-remote {g.server.address}")
    for command, refusal in (("set var total = 1", "Writing to memory is not allowed"),
                             ("set var *(int *) 16 = 1", "Writing to memory is not allowed"),
                             ("print $rax = 1", "a recording can't be changed"),
                             ("call fib(3)", "Writing to memory is not allowed|a recording can't be changed"),
                             ("jump rt_main", "a recording can't be changed")):
        g(command)
        g.expect(refusal)
    g("set var $mine = 4")
    assert g.value("$mine") == 4 and g.position() == 0


@case
def the_reason_that_gdb_16_has_in_its_error_is_shown():
    """Older gdbs have none there: a stand-in fails as gdb 16 does."""
    stand_in = pathlib.Path("stand_in.py")
    stand_in.write_text("def shown(text):\n    def fails(*args):\n        raise gdb.error(text)\n"
                        "    execute, gdb.execute = gdb.execute, fails\n    try:\n        tracestub_run('monitor goto 99')\n"
                        "    except gdb.GdbError as e:\n        print('says <%s>' % e)\n"
                        "    finally:\n        gdb.execute = execute\n", encoding="ascii")
    with session() as g:
        g(f"source {stand_in.absolute()}")
        for text, says in (("Protocol error with Rcmd: '99' is no position: the last one is 7.", "'99' is no position: the last one is 7"),
                           ("Protocol error with Rcmd", "Nothing was done."), ("Cannot access memory", "Cannot access memory")):
            g(f'python shown("{text}")')
            g.expect(rf"says <{says}>")


@case
def run_start_and_starti_begin_again_without_an_error():
    """gdb writes orig_rax before it resumes, which x64_walk does not have; Linux's programs do."""
    from _programs import Program
    program = Program("pie", "ucir")
    with Gdb(program, "--exec", program.exec, connect=None) as g, Server(program.trace, "--exec", program.exec) as server:
        g(f"source {INIT}")
        g(f"target extended-remote {server.address}")
        g("break inc")
        for command, where in ("run", "Breakpoint 1, "), ("start", "Temporary breakpoint|Breakpoint 1, "), ("starti", "main"):
            g("goto 4000")
            g(command)
            g.expect(where)
            g.expect_not("not allowed")
        g("when")
        g.expect("^position 0 of")


run_cases()
