#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The prompt of `tracestub sql` on a terminal, which is a pseudoterminal here: keys in, what is shown out."""
import os
import pathlib
import pty
import select
import signal
import time

from _tap import DATA, LIMIT, TRACESTUB, case, run_cases, skip

TRACE = DATA / "usercorn/x64_walk.ucir"
HAS_LINES = b"em-inc-search-prev" in pathlib.Path(TRACESTUB).read_bytes()   # built with libedit


class Terminal:
    def __init__(self, *args):
        self.shown = ""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            env = dict(os.environ, TERM="xterm", XDG_STATE_HOME=str(pathlib.Path("state").resolve()))
            os.execve(TRACESTUB, [TRACESTUB, "sql", *map(str, args)], env)

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            self.shown += os.read(self.fd, 65536).decode(errors="replace")
        except OSError:      # the other end is closed
            return False
        return True

    def wait(self, text):
        """What was shown up to the text."""
        until = time.monotonic() + LIMIT
        while text not in self.shown:
            assert time.monotonic() < until and self.read(LIMIT), (text, self.shown)
        before, _, self.shown = self.shown.partition(text)
        return before

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def end(self):
        """The status, after the rest was read.  Who does not end in time is killed."""
        signal.signal(signal.SIGALRM, lambda *_: os.kill(self.pid, signal.SIGKILL))
        signal.alarm(LIMIT)
        while self.read(LIMIT):
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        signal.alarm(0)
        os.close(self.fd)
        return status


def opened():
    t = Terminal(TRACE)
    t.wait("sql> ")
    return t


@case
def statements_are_answered():
    t = opened()
    t.type("SELECT 40 + 2 AS answer;\r")
    t.wait("answer")
    t.wait("42")
    t.wait("sql> ")
    t.type("SELECT\r")
    t.wait("...> ")
    t.type("count(*) FROM\r")
    t.wait("...> ")
    t.type("step;\r")
    t.wait("7480")
    t.wait("sql> ")
    for typed, said in ((".help", "SELECT callee"), (".tables", "reg_write"), (".schema", 'CREATE TABLE step("position"'), (".nope", "is not a command"),
                        ("SELEC 1;", "syntax error"), ("SELECT * FROM step, step b LIMIT 1;", "instruction")):
        t.type(typed + "\r")
        t.wait("\n")
        t.wait(said)
        t.wait("sql> ")
    t.type(".quit\r")
    assert t.end() == 0


@case
def the_end_of_input_is_the_end():
    t = opened()
    t.type("\x04")
    assert t.end() == 0


@case
def an_interrupt_leaves_a_line_or_ends_a_statement():
    t = opened()
    t.type("SELECT nothing")
    t.wait("nothing")
    t.type("\x03")
    t.wait("sql> ")
    t.type("SELECT 'a' || 'b';\r")
    t.wait("\n")
    t.wait("ab")
    t.wait("sql> ")
    t.type("SELECT 'begun'; SELECT count(*) FROM step a, step b, step c WHERE a.length + b.length + c.length = 1;\r")
    t.wait("begun\r\n")
    t.type("\x03")
    t.wait("interrupted: the rows end where the statement was")
    t.wait("sql> ")
    t.type("SELECT 'a' || 'c';\r")
    t.wait("\n")
    t.wait("ac")
    t.type(".quit\r")
    assert t.end() == 0


@case
def lines_are_completed_and_remembered():
    if not HAS_LINES:
        skip("built without libedit")
    t = opened()
    t.type("SELECT min(posi\t) FROM reg_w\t;\r")
    t.wait("min(position)\r\n0")
    t.wait("sql> ")
    t.type("SELECT 70 + (min(depth) IS 0) FROM sta\t100);\r")
    t.wait("\r\n71")
    t.wait("sql> ")
    t.type("SELECT m\t")
    for name in "mem_write", "module", "memory(":
        t.wait(name)
    t.wait("SELECT m")
    t.type("\x03")
    t.wait("sql> ")
    t.type("SELECT 'first' ||\r")
    t.wait("...> ")
    t.type("'line';\r")
    t.wait("firstline")
    t.wait("sql> ")
    t.type("\x1b[A\r")
    t.wait("firstline")
    t.wait("sql> ")
    t.type(".quit\r")
    assert t.end() == 0
    file = pathlib.Path("state/tracestub/sql_history")
    assert file.stat().st_mode & 0o777 == 0o600 and "firstline" not in file.read_text(), oct(file.stat().st_mode)
    t = opened()
    t.type("\x1b[A\r")
    t.wait("firstline")
    t.wait("sql> ")
    t.type("\x04")
    assert t.end() == 0


@case
def the_process_that_reads_the_recording_has_no_terminal_to_read():
    t = opened()
    children = pathlib.Path(f"/proc/{t.pid}/task/{t.pid}/children").read_text().split()
    assert children, "the prompt's process has no child"
    for child in children:
        assert os.readlink(f"/proc/{child}/fd/0").startswith("socket:"), child
    os.kill(int(children[0]), signal.SIGKILL)
    t.type("SELECT 1;\r")
    assert t.end() == 128 + signal.SIGKILL


@case
def what_cannot_be_read_has_no_prompt():
    t = Terminal("nowhere.ucir")
    t.wait("nowhere.ucir: cannot open it: No such file")
    assert t.end() == 3


run_cases()
