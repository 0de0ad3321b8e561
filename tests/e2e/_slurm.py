# SPDX-License-Identifier: MIT
"""A Slurm of one node with two slots, whose daemons belong to the test: no system service, no munge."""
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

from _tap import LIMIT, skip

DAEMONS = "slurmctld", "slurmd"

CONFIG = """ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def programs():
    """The daemons' paths; Debian has them in sbin."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return [shutil.which(name, path=path) or skip(f"no {name}: Debian's package is slurm-wlm") for name in (*DAEMONS, "sbatch")]


def free_ports():
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def write_config(folder):
    for name in "state", "spool":
        (folder / name).mkdir(parents=True)
    user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
    path = folder / "slurm.conf"
    path.write_text(CONFIG.format(host=socket.gethostname().split(".")[0], ports=free_ports(), user=user, folder=folder))
    return path


def is_idle(environment):
    done = subprocess.run(["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True, timeout=LIMIT)
    return done.stdout.strip() == "idle"


def wait_until_idle(environment, children, folder):
    end = time.monotonic() + LIMIT
    while not is_idle(environment):
        if time.monotonic() > end or any(child.poll() is not None for child in children):
            logs = [path.read_text(errors="replace")[-300:] for path in folder.glob("*.log")]
            skip(f"Slurm does not start here: {' '.join(' '.join(logs).split())[-300:]}")
        time.sleep(.2)


def wait_for_jobs(environment):
    """Until none is left.  sbatch --wait looks at ever longer intervals."""
    end = time.monotonic() + 5 * LIMIT
    while subprocess.run(["squeue", "-h"], env=environment, capture_output=True, text=True, timeout=LIMIT, check=True).stdout.strip():
        assert time.monotonic() < end, "jobs do not end"
        time.sleep(.3)


@contextlib.contextmanager
def slurm(environment):
    """Its environment for commands, made of this one."""
    controller, daemon, _ = programs()
    folder = pathlib.Path("slurm").resolve()
    environment = {**environment, "SLURM_CONF": str(write_config(folder))}
    children = [subprocess.Popen([name, "-D"], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL) for name in (controller, daemon)]
    try:
        wait_until_idle(environment, children, folder)
        yield environment
    finally:
        for child in children[::-1]:
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(LIMIT)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
