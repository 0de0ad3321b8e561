# SPDX-License-Identifier: MIT
"""What tests fetch is kept in the folder TEST_CACHE, or .cache/tracestub-tests in the user's home."""
import os
import pathlib
import pwd


def cache_folder():
    home = pwd.getpwuid(os.getuid()).pw_dir     # tests/run sets HOME to a folder of the test
    return pathlib.Path(os.environ.get("TEST_CACHE") or f"{home}/.cache/tracestub-tests")
