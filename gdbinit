# SPDX-License-Identifier: MIT
#
# Commands of gdb for a session with tracestub: 'when' and 'goto'.
#
# "tracestub gdb" loads this file; elsewhere "source" does. It wants gdb 10 or
# later, and no Python; where gdb has it, a command that cannot be done is an
# error, which ends a script.

# Once is enough: gdb would ask before it defines a command again.
if $_isvoid($_tracestub)

# What is the target? $_tracestub: 0 none, 1 another one, 2 tracestub.
define tracestub-look
  set $_tracestub = 0
  if $_thread
    set $_tracestub = 1
    set $_shell_exitcode = 1
    frame apply 1 -q -s pipe monitor help | grep -q '^monitor announce '
    if !$_isvoid($_shell_exitcode)
      if $_shell_exitcode == 0
        set $_tracestub = 2
      end
    end
  end
end
document tracestub-look
Part of 'when' and 'goto': is the target tracestub?
end

define tracestub-refuse
  if $_tracestub == 0
    echo Not connected: "tracestub gdb TRACE" or "target remote" comes first.\n
  end
  if $_tracestub == 1
    echo The target is not tracestub: it has no positions.\n
  end
  if $_tracestub == 2
    echo goto wants one position: K, P%, begin, end, frame, next-EVENT or previous-EVENT\n
  end
end
document tracestub-refuse
Part of 'when' and 'goto': says why there is nothing to do.
end

# gdb compares what a watchpoint watches with what it saw last. After a jump
# that is a value of another time, and a change back to it would go unnoticed:
# gdb takes a new look at a watchpoint that is enabled.
define tracestub-refresh
  pipe info watchpoints | grep -q '^[0-9]'
  if $_shell_exitcode == 0
    set $_tracestub_point = 1
    while $_tracestub_point <= $bpnum
      eval "pipe info watchpoints %d | grep -Eq '^[0-9]+ .*watchpoint +[a-z]+ +y '", $_tracestub_point
      if $_shell_exitcode == 0
        disable $_tracestub_point
        enable $_tracestub_point
      end
      set $_tracestub_point = $_tracestub_point + 1
    end
  end
end
document tracestub-refresh
Part of 'goto': makes watchpoints look at their values again.
end

define when
  tracestub-look
  if $_tracestub == 2
    monitor when
  else
    tracestub-refuse
  end
end
document when
Where this session stands in the recording: position, thread and pc.
Position K is the state before instruction K of the recording, from 0.
end

# A jump is invisible to gdb. "announce" makes the server answer the next step
# with a stop where it stands: gdb then does all that it does at a stop.
define goto
  tracestub-look
  if $_tracestub == 2 && $argc == 1
    monitor goto $arg0
    if !$_isvoid($trace_frame)
      if $trace_frame != -1
        pipe tfind none | grep -q .
      end
    end
    monitor announce
    stepi
    tracestub-refresh
  else
    tracestub-refuse
  end
end
document goto
Go to a position of the recording: goto K|P%|begin|end|frame|next-EVENT|previous-EVENT
  goto 1234    the state before instruction 1234
  goto 50%     the middle
  goto begin   position 0
  goto end     the state after the last instruction
  goto frame   that of the trace frame which tfind selected
  goto next-syscall, goto previous-syscall; also signal, fault, exit, thread-end, gap, interrupt
Breakpoints on the way do not stop it. 'when' says where you are.
end

# $_streq is there where Python is.
if !$_isvoid($_streq)
  python
class TracestubRefuse(gdb.Command):
    """Part of 'when' and 'goto': says why there is nothing to do."""

    REASONS = ("Not connected: \"tracestub gdb TRACE\" or \"target remote\" comes first.",
               "The target is not tracestub: it has no positions.",
               "goto wants one position: K, P%, begin, end, frame, next-EVENT or previous-EVENT")

    def invoke(self, argument, from_tty):
        raise gdb.GdbError(self.REASONS[int(gdb.convenience_variable("_tracestub"))])


TracestubRefuse("tracestub-refuse", gdb.COMMAND_RUNNING)
  end
end

set $_tracestub = 0
end
