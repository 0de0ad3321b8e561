# SPDX-License-Identifier: MIT
"""The lldb that tests drive: TRACESTUB_LLDB names it, as for `tracestub lldb`; otherwise it is the system's lldb."""
import os
import re
import shutil

from _tap import skip

NAME = os.environ.get("TRACESTUB_LLDB") or "lldb"


def lldb_path():
    """The program. Skips the case where it is not there."""
    return shutil.which(NAME) or skip(f"no {NAME}")


def adapter_path():
    """lldb-dap of the same version, which was lldb-vscode before LLVM 18; None where it is not there."""
    version = re.search(r"-\d+$", NAME)
    if version:
        names = [f"lldb-dap{version[0]}", f"lldb-vscode{version[0]}"]
    else:       # some packages have it under its version's name only
        names = ["lldb-dap", "lldb-vscode", *(f"lldb-dap-{n}" for n in range(30, 17, -1)), "lldb-vscode-14"]
    return next(filter(None, map(shutil.which, names)), None)


def environment():
    """Without what would lead lldb's own Python to other modules."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONHOME", "PYTHONPATH")}
