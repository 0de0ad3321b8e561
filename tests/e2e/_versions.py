# SPDX-License-Identifier: MIT
"""Another version of tracestub: it makes the same index, but the calls in it are of no use to this one."""
import os
import pathlib
import re

from _tap import SRCDIR, TRACESTUB

BUILDDIR = pathlib.Path(os.environ.get("TEST_BUILDDIR", SRCDIR)).resolve()


def program_of_another_version(folder):
    """Made in @folder: of calls and of sketches the version is another one."""
    version = re.search(rb'ts_index_optional_sources\[\] = "(\w{64})"', (BUILDDIR / "src/index/sources.c").read_bytes())[1]
    code = pathlib.Path(TRACESTUB).read_bytes()
    assert code.count(version) == 1
    program = folder / "another_version"
    program.write_bytes(code.replace(version, version[::-1]))
    program.chmod(0o755)
    return program
