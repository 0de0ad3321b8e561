/* SPDX-License-Identifier: MIT */
/*
 * The page of --help.  src/program/tracestub.1 says the same at greater length; a test compares their
 * options.
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"

const char ts_cli_help[] =
	"tracestub serves a recorded execution trace to gdb and lldb, both ways in time,\n"
	"and records programs.\n"
	"\n"
	"usage:\n"
	"  tracestub gdb [TRACE [PROG]] [-- GDB-ARGS...]\n"
	"                        start gdb on it, connected, with 'when' and 'goto';\n"
	"                        without TRACE, on the newest recording here. PROG:\n"
	"                        the recorded program, as --exec. The logs of other\n"
	"                        threads may follow TRACE: a.0.log a.1.log\n"
	"  tracestub lldb [TRACE [PROG]] [-- LLDB-ARGS...]\n"
	"                        start lldb on it, connected\n"
	"  tracestub dap [TRACE [PROG]] [-- GDB-ARGS...]\n"
	"                        for an editor: gdb (14 or later) as an adapter that\n"
	"                        speaks DAP over stdio, with the buttons for backwards\n"
	"  tracestub serve COMM TRACE\n"
	"                        serve it at COMM: HOST:PORT, :PORT (of the loopback\n"
	"                        address; port 0: any), a path with a '/' (a unix\n"
	"                        socket), or - (stdio)\n"
	"  tracestub record [-o OUT] [--] PROGRAM [ARGS...]\n"
	"                        run a program in Valgrind or in QEMU and record it into\n"
	"                        PROGRAM.ucir, the next time into PROGRAM.1.ucir, ...;\n"
	"                        the status is the program's\n"
	"  tracestub info TRACE...\n"
	"                        what each recording is and what it holds\n"
	"  tracestub index TRACE\n"
	"                        build its index now, and say where it is\n"
	"  tracestub index TRACE --segment I/N | --merge\n"
	"                        on several machines: decode a part of it; build the index of\n"
	"                        all parts; man 7 tracestub-fleets\n"
	"  tracestub mcp TRACE...\n"
	"                        answer an agent that speaks the Model Context Protocol\n"
	"                        over stdio\n"
	"  tracestub export TRACE -o OUT.tf\n"
	"                        write a trace file, for gdb's 'target tfile'\n"
	"  tracestub export TRACE -o OUT.tenet|--as tenet|tenetpp|execlog|csv -o OUT\n"
	"                        lines of text for Ghidra (OUT.tenet), Tenet's viewers, readers\n"
	"                        of QEMU's execlog, and tables\n"
	"  tracestub export TRACE -o OUT.folded|--as chrome -o OUT.json\n"
	"                        its calls, for flame graphs, or for Perfetto\n"
	"  tracestub plot TRACE -o OUT.svg|OUT.html [--in A:B]\n"
	"                        a picture: code, memory, threads, events and calls over\n"
	"                        time; the HTML page zooms to single positions\n"
	"  tracestub pack TRACE -o FILE\n"
	"                        the trace, its index, its marks, --exec and --image in one\n"
	"                        small file, which every command opens like a trace\n"
	"  tracestub unpack FILE -o TRACE\n"
	"                        the trace as it was, and its marks; into a folder: all files\n"
	"  tracestub diff TRACE TRACE2|--against FOLDER\n"
	"                        where two recordings of one program differ; status 0:\n"
	"                        they are equal, 1: they differ, 2: they could not be\n"
	"                        compared; --against: the recordings of FOLDER by their\n"
	"                        first difference from TRACE\n"
	"  tracestub query TRACE VERB ... [--json]\n"
	"                        ask the recording: 'last-write $rax', 'accesses 0x1000,8',\n"
	"                        'executions main', 'events syscall', 'hot', ...; without\n"
	"                        VERB the verbs are listed, 'tracestub help VERB' explains\n"
	"                        one; 'coverage --lcov FILE'\n"
	"                        and '--drcov FILE' write what viewers of coverage read\n"
	"  tracestub query TRACE... -- VERB ... [--json]\n"
	"                        ask several recordings, one after the other: rows begin\n"
	"                        with the column 'recording'\n"
	"  tracestub sql TRACE... [\"SELECT ...\"] [-f FILE]\n"
	"                        ask in SQL: tables step, call, event, mem_write, ...;\n"
	"                        '.tables' and '.schema' list them; without a statement a\n"
	"                        prompt\n"
	"\n"
	"options, before or after these words:\n"
	"  --arch NAME           the processor, where the recording does not say it;\n"
	"                        of a 64-bit machine what its code is shown as\n"
	"  --box, --csv, --tsv   query, diff, sql: the form of the rows (else: a table on a\n"
	"                        terminal, TSV elsewhere)\n"
	"  --cpu MODEL           record: the processor's model, as QEMU names it\n"
	"  --exec FILE[@BASE]    the recorded program, for gdb's symbols; BASE: where its lowest page lies\n"
	"  --format NAME         the recording's format (default: by its content);\n"
	"                        'tracestub help formats' lists them\n"
	"  --follow              record: its children, too, each in a recording of its own;\n"
	"                        OUT is a folder\n"
	"  --from PLACE          record: begin where FUNC, FILE:LINE or 0xADDR is executed (:N:\n"
	"                        the N-th time), or when SIGUSR1 comes\n"
	"  --first N             diff: show only the first N rows\n"
	"  --full                query, diff, sql: on a terminal, do not cut cells to its width\n"
	"  --function PATTERN    diff: only rows in functions whose names match (* ? [..])\n"
	"  --grammar FILE        read lines of text by this grammar; man 7 tracestub-grammar\n"
	"  --image FILE[@BASE]   an ELF or PE file, or a raw one at BASE: fills memory that\n"
	"                        the trace leaves unknown\n"
	"  --in A:B              plot, diff: only these positions, as in questions (50%:end)\n"
	"  --index PATH|none     where the index is kept (else: beside a trace of 4 MiB or\n"
	"                        more, or in the cache directory); none: in memory\n"
	"  --index-key FILE      sign and check indexes with this key (32 bytes, mode 0600),\n"
	"                        which machines share; man 7 tracestub-fleets\n"
	"  --index-reads yes|no  no: do not index reads of memory; no rwatch and awatch\n"
	"  --jobs N              index with N processors (default: all for a long trace)\n"
	"  --last SIZE           record: keep the end of the run; SIZE as of --limit\n"
	"  --limit SIZE          record: stop recording when OUT has this size (64M, 2G);\n"
	"                        the program goes on\n"
	"  --module PATTERN      record: only instructions of modules whose file matches\n"
	"                        (* ? [..]); several times: of any of them\n"
	"  --log LEVEL           say more or less: error, warn, info, debug, trace\n"
	"  --max-clients N       serve: more than N clients have to wait (default 256)\n"
	"  --max-memory SIZE     stop reading when the index needs more memory, and\n"
	"                        tracing when all trace frames do (64M, 2G); record:\n"
	"                        kill a program that needs more\n"
	"  --merge               index: build it of the parts that --segment has decoded\n"
	"  --no-sandbox          read the recording with all rights of this user (warns)\n"
	"  --save OUT.db         sql: the rows as tables of an SQLite database\n"
	"  --for-sqlite          sql: answer SQLite's extension, tracestub.so, which starts this\n"
	"  --scan                sql: allow statements that decode more than 100 M steps\n"
	"  --segment I/N         index: decode part I of N alone, for --merge (x64dbg)\n"
	"  --qemu FILE           record: the QEMU that runs the program, a path or a name in PATH\n"
	"  --quiet               no warnings and no progress\n"
	"  --against FOLDER      diff: the first difference from each recording in FOLDER\n"
	"  --all                 diff: also what differs by nature (clocks, random numbers,\n"
	"                        process numbers, and what comes of them alone)\n"
	"  --rebase              diff: the program lies at other addresses in TRACE2\n"
	"  --sysroot DIR         where the files lie that the trace names; they fill\n"
	"                        memory that it leaves unknown\n"
	"  --json                info, query: as JSON\n"
	"  --positions A:B       export: these positions (50%:MARK); either may be missing\n"
	"  --as FORM             export: tfile, tenet, tenetpp, execlog, csv, folded or\n"
	"                        chrome (default: by OUT's ending)\n"
	"  --at ADDR|SYMBOL      export: where this is executed; repeatable\n"
	"  --collect LIST        export: of each position (default is\n"
	"                        regs,stack:256,accessed,code; also mem:ADDR+LEN)\n"
	"  --export-dir DIR      serve, gdb: where clients may save trace frames\n"
	"  --process C           query, sql, mcp, serve, gdb, lldb, dap: of a whole machine's\n"
	"                        recording: names are those of the process whose page\n"
	"                        tables are at C (cr3); a debugger stops only in it\n"
	"  --processes FILE      names of processes of such a recording: lines of CR3 NAME;\n"
	"                        'processes' shows them, 'process NAME' asks for one\n"
	"  --names FILE[@BASE]   names of addresses: lines of ADDR NAME, a table of Ghidra (CSV),\n"
	"                        a .map file of IDA or a linker; BASE is added to addresses\n"
	"  --once                serve: end after the first session\n"
	"  --only KIND, --kind KIND\n"
	"                        diff: only rows of this kind: path, register, memory;\n"
	"                        several are separated by commas\n"
	"  --until PLACE         record: end before PLACE is executed; the program goes on\n"
	"  --with ENGINE         record: qemu, or valgrind for programs of this machine's\n"
	"                        own processor\n"
	"  --help, --version     'tracestub help COMMAND' and 'tracestub COMMAND --help'\n"
	"                        explain one command\n"
	"\n"
	"examples:\n"
	"  tracestub record -o run.ucir ./prog && tracestub gdb run.ucir\n"
	"  tracestub gdb run.ucir --exec prog\n"
	"  tracestub gdb run.ucir -- -batch -ex 'goto 50%' -ex 'info registers'\n"
	"  tracestub serve :1234 run.ucir\n"
	"                        and in gdb: target remote :1234\n"
	"  tracestub info --json run.ucir\n"
	"  tracestub export run.ucir -o run.tf --positions 1000:2000\n"
	"\n"
	"In gdb all that moves time works: stepi, continue, reverse-step, watch,\n"
	"reverse-continue, ... 'when' says where you are, 'goto K' goes to position K.\n"
	"The page \"man tracestub\" says more.\n"
	"\n"
	"status: 0 done, 1 the recording or the system is at fault, 2 the command line\n"
	"is; that of 'gdb' is gdb's own\n";

static bool begins(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

/* "  tracestub COMMAND ...": is it of this command? */
static bool is_of(const char *line, const char *command)
{
	size_t len = strlen(command);

	line += strlen("  tracestub ");
	return !strncmp(line, command, len) && line[len] == ' ';
}

void ts_cli_print_help(const char *command,
		       bool (*takes)(const char *command, const char *option, size_t len))
{
	bool is_shown = false;

	/* Before "usage:" the page says what tracestub is, from "examples:" what a session looks like. */
	for (const char *line = strstr(ts_cli_help, "usage:"), *end; !begins(line, "examples:"); line = end) {
		end = strchr(line, '\n') + 1;
		if (begins(line, "  tracestub "))
			is_shown = is_of(line, command);
		else if (begins(line, "  --"))
			is_shown = takes(command, line + 4, strcspn(line + 4, " ,\n"));
		else if (!begins(line, "   ")) /* else the entry goes on */
			is_shown = *line == '\n' || begins(line, "usage:") || begins(line, "options, ");
		if (is_shown)
			fwrite(line, 1, (size_t)(end - line), stdout);
	}
}
