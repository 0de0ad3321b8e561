#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A block of the index that turns out to be damaged while a client asks: what needs it waits until it is built again, the
other clients are answered meanwhile, and every answer is that of the good index.

tests/tools/mending_server holds the building until the test lets it go on, so that what is answered before that did not
wait for it.
"""
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

from _raw import LONG_TRACE
from _rsp import LIMIT, Rsp
from _tap import TRACESTUB, add_case, case, run_cases

TOOL = os.environ.get("TEST_BUILDDIR", ".") + "/tests/tools/mending_server"
TRACE = pathlib.Path("mending.ucir").resolve()
INDEX = pathlib.Path(f"{TRACE}.tsindex")
BLOCK, N_BLOCKS = 4096, 4
PROGRESS = re.compile(r"^(reading symbols|(looked through|preparing: read) up to .*)\n", re.M)
FOUND = "damaged; what a question needs of it is built again first"


def text(command):
    return "qRcmd," + command.encode().hex()


QUESTIONS = ("?", "g", "m7ffffffde000,200", "bs", "bc", "QTFrame:range:0:1000", "qXfer:libraries-svr4:read::0,7fff",
             *(text(c) for c in ("history $rax first 5", "last-write 0x404000,8", "executions 0x405fc5 first 5", "hot first 3",
                                 "calls first 3", "why $rax")))


def start_of(question):
    """Each is asked at another position."""
    return text(f"goto {60000 + 9999 * QUESTIONS.index(question)}")


class Held:
    """A server over an index of which the block at @off is damaged; nothing is built again until release()."""

    def __init__(self, off=None, n_jobs=1, *options):
        damaged = bytearray(good_index())
        if off is not None:
            damaged[off] ^= 0x40
        INDEX.write_bytes(damaged)
        self.folder = tempfile.mkdtemp(prefix="mending-")
        self.address, self.go = f"{self.folder}/socket", pathlib.Path(f"{self.folder}/go")
        self.proc = subprocess.Popen([TOOL, TRACE, self.address, self.go, str(n_jobs), *options], stderr=subprocess.PIPE, text=True)
        self.opening = []
        while "Listening" not in (line := self.proc.stderr.readline()):
            assert line, self.opening
            self.opening.append(line)

    def wait_until_found(self):
        line = self.proc.stderr.readline()
        assert FOUND in line, line

    def release(self, why=""):
        self.go.with_suffix(".new").write_text(why)
        self.go.with_suffix(".new").rename(self.go)

    def end(self):
        """What it said, when it has ended."""
        said = self.proc.stderr.read()
        assert self.proc.wait(LIMIT) == 0, said
        return said

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.release()
        if self.proc.poll() is None:
            self.proc.send_signal(signal.SIGTERM)
        status = self.proc.wait(LIMIT)
        self.proc.stderr.close()
        shutil.rmtree(self.folder)
        assert exc[0] is not None or status == 0, status


class Asking(Rsp):
    """A client that has sent a question and has not read the answer."""

    def __init__(self, address, question):
        super().__init__(address)
        self.send(start_of(question), question)

    def answer(self):
        """The replies to both packets, and their console output without the progress that is told once a second."""
        replies, output = [], ""
        while len(replies) < 2:
            reply = self.receive()
            if is_output(reply):
                output += bytes.fromhex(reply[1:]).decode()
            else:
                replies.append(reply)
        return replies, PROGRESS.sub("", output)


def is_output(reply):
    return reply.startswith("O") and reply != "OK"


@functools.cache
def good_index():
    shutil.copy(LONG_TRACE, TRACE)
    subprocess.run([TRACESTUB, "index", TRACE], check=True, capture_output=True, timeout=LIMIT)
    return INDEX.read_bytes()


def ask(address, question):
    with Asking(address, question) as r:
        return r.answer()


@functools.cache
def good_answers():
    with Held() as server:
        return {question: ask(server.address, question) for question in QUESTIONS}


def find_damage(off, *questions):
    """Is it found when they are asked, and not when the index is opened?"""
    with Held(off) as server:
        server.release()
        for question in questions if not server.opening else ():
            assert ask(server.address, question) == good_answers()[question], (off, question)
        return not server.opening and INDEX.read_bytes() == good_index()


@functools.cache
def blocks():
    """The last blocks that some questions need, and others do not: for each its offset, and which do."""
    found = []
    for off in range(len(good_index()) // BLOCK * BLOCK - 100, BLOCK, -BLOCK):
        if len(found) < N_BLOCKS and find_damage(off, *QUESTIONS):
            waiting = [question for question in QUESTIONS if find_damage(off, question)]
            if 0 < len(waiting) < len(QUESTIONS):
                found.append((off, waiting))
    assert len(found) == N_BLOCKS, found
    return found


def others_are_answered_while_one_waits(n_jobs):
    for off, waiting in blocks():
        for question in waiting:
            with Held(off, n_jobs) as server, Asking(server.address, question) as first:
                server.wait_until_found()
                for other in QUESTIONS:
                    if other not in waiting:
                        assert ask(server.address, other) == good_answers()[other], (off, question, other)
                assert INDEX.read_bytes() != good_index()
                server.release()
                assert first.answer() == good_answers()[question], (off, question)
                assert INDEX.read_bytes() == good_index()


def all_that_need_it_wait(n_jobs):
    for off, waiting in blocks():
        with Held(off, n_jobs) as server:
            clients = [Asking(server.address, question) for question in waiting[:6] + waiting[:1]]
            server.wait_until_found()
            for other in QUESTIONS:
                if other not in waiting:
                    assert ask(server.address, other) == good_answers()[other], (off, other)
            server.release()
            for client, question in zip(clients, waiting[:6] + waiting[:1]):
                assert client.answer() == good_answers()[question], (off, question)
                client.close()


@case
def a_client_may_go_while_its_question_waits():
    off, waiting = blocks()[0]
    with Held(off) as server:
        with Asking(server.address, waiting[0]):
            server.wait_until_found()
        assert ask(server.address, "?") == good_answers()["?"]
        server.release()
        assert ask(server.address, waiting[0]) == good_answers()[waiting[0]]


@case
def a_server_that_is_ended_ends_when_the_segment_is_built():
    off, waiting = blocks()[0]
    with Held(off) as server, Asking(server.address, waiting[0]):
        server.wait_until_found()
        server.proc.send_signal(signal.SIGTERM)
        server.release()
        server.end()
        assert INDEX.read_bytes() == good_index()


@case
def the_only_client_of_a_server_gets_its_answer():
    off, waiting = blocks()[0]
    with Held(off, 1, "once") as server:
        with Asking(server.address, waiting[0]) as r:
            server.wait_until_found()
            server.release()
            assert r.answer() == good_answers()[waiting[0]]
        server.end()


@case
def what_cannot_be_built_again_is_refused_to_all():
    off, waiting = blocks()[0]
    with Held(off) as server:
        clients = [Asking(server.address, question) for question in waiting[:2] + waiting[:1]]
        server.wait_until_found()
        assert ask(server.address, "?") == good_answers()["?"]
        server.release("no")
        for client in clients:
            (_, reply), _ = client.answer()
            assert reply.startswith("E"), reply
            client.close()
        with Rsp(server.address) as r:
            assert r.ask("g").startswith("E")
        assert not INDEX.exists()


for n_jobs in 1, 2:
    add_case(f"others are answered while one waits, with {n_jobs} jobs", others_are_answered_while_one_waits, n_jobs)
    add_case(f"all that need it wait, with {n_jobs} jobs", all_that_need_it_wait, n_jobs)
run_cases()
