#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sessions end in every way that gdb has; the server stays for the next one. With --once it ends."""
import os
import signal

from _gdb import Gdb
from _recording import Recording
from _server import Server
from _tap import TRACESTUB, case, run_cases


def works(server):
    """A new gdb finds the beginning and can go on."""
    with Gdb("x64_walk", server=server) as g:
        assert g.position() == 0
        g("tbreak bump")
        g("continue")
        g.expect(r"bump \(by=34\)")
        g("reverse-stepi")


def leave_with(command, answer):
    with Server(recording.trace) as server:
        with Gdb("x64_walk", server=server) as g:
            g("break bump")
            g("continue")
            g(command)
            g.expect(answer)
        works(server)


recording = Recording("x64_walk")


@case
def detach():
    leave_with("detach", "Detaching from program.*, process|Ending remote debugging")


@case
def disconnect():
    leave_with("disconnect", "Ending remote debugging")


@case
def kill():
    leave_with("kill", "Inferior 1 .* killed")


@case
def quit_without_a_word():
    with Server(recording.trace) as server:
        with Gdb("x64_walk", server=server) as g:
            g("stepi 10")
        works(server)


@case
def gdb_dies():
    with Server(recording.trace) as server:
        try:
            with Gdb("x64_walk", server=server) as g:
                g("stepi 10")
                os.killpg(g.proc.pid, signal.SIGKILL)
                g.proc.wait()
                raise InterruptedError
        except InterruptedError:
            pass
        works(server)


@case
def the_same_gdb_connects_again():
    with Gdb("x64_walk") as g:
        g("break bump")
        g("continue")
        g("detach")
        g(f"target remote {g.server.address}")
        assert g.position() == 0
        g("continue")
        g.expect("Breakpoint 1, bump")


@case
def once_means_once():
    for command in "detach", "kill", "disconnect", "stepi":
        server = Server(recording.trace, "--once")
        with Gdb("x64_walk", server=server) as g:
            g(command)
        assert server.wait() == 0, command


@case
def a_unix_socket_and_stdio():
    with Server(recording.trace, comm="./socket"), Gdb("x64_walk", connect=None) as g:
        assert os.stat("socket").st_mode & 0o777 == 0o600
        g(f"target remote {os.path.relpath('socket', g.folder)}")
        g("tbreak bump")
        g("continue")
        g.expect(r"bump \(by=34\)")
    assert not os.path.exists("socket")
    with Gdb("x64_walk", connect=None) as g:
        g(f"target remote | {TRACESTUB} serve - {recording.trace}")
        g("tbreak bump")
        g("continue")
        g.expect(r"bump \(by=34\)")


run_cases()
