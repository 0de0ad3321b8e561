# SPDX-License-Identifier: MIT
"""The processor's time and the most memory of a command."""
import os
import subprocess
import sys

# Starts a command and waits for it.  A child's peak of memory is at least that of the process that starts it: this is small.
WAIT = """import os, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
status, usage = os.wait4(child, 0)[1:]
os.write(int(sys.argv[1]), f"{os.waitstatus_to_exitcode(status)} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss}".encode())"""


def weigh(*argv, **options):
    """The status, the processor's time and the most memory (KiB) of a command."""
    ours, its = os.pipe()
    subprocess.run([sys.executable, "-ISc", WAIT, str(its), *argv], check=True, pass_fds=[its], **options)
    status, seconds, memory = os.read(ours, 100).split()
    os.close(ours)
    os.close(its)
    return int(status), float(seconds), int(memory)
