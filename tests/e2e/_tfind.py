# SPDX-License-Identifier: MIT
"""What a stock gdb prints for commands after it has a target: for comparing two targets."""
import re
import shutil
import subprocess

from _server import LIMIT, Server
from _tap import skip

SETTINGS = ["set pagination off", "set width 0", "set style enabled off", "set debuginfod enabled off", "set confirm off"]


def answers(target, program, commands, gdb="gdb", folder=None):
    """What gdb prints for each command, connected by the command @target; sources are looked for in @folder."""
    gdb = shutil.which(gdb) or skip(f"no {gdb}")
    lines = [*SETTINGS, target]
    for n, command in enumerate([*commands, "echo"]):       # behind the last answer gdb takes its leave
        lines += [f"echo \\n<{n}>\\n", command]
    done = subprocess.run([gdb, "-nx", "-nh", "-q", "-batch", *[w for line in lines for w in ("-ex", line)], program],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT,
                          cwd=folder)
    found = re.split(r"\n<\d+>\n", done.stdout)[1:]
    assert len(found) == len(commands) + 1, done.stdout
    return [text.removesuffix("\n") for text in found[:-1]]


def both(trace, program, commands, gdb="gdb", folder=None):
    """The answers over `target tfile` without tracestub, and through it."""
    own = answers(f"target tfile {trace}", program, commands, gdb, folder)
    with Server(trace, "--exec", program) as server:
        ours = answers(f"target remote {server.address}", program, commands, gdb, folder)
    return own, ours
