/* SPDX-License-Identifier: MIT */
/*
 * Commands for which the protocol has no packet, with text for users: qRcmd, gdb's "monitor".
 *
 * gdb before 16 supports two results of a monitor command: text, and an error without text.  A command that
 * fails for such a client therefore prints the reason as console output, and then replies with an error, so
 * that a script stops.
 */
#include "packets.h"

#include <inttypes.h>
#include <string.h>

#include "protocol/session/jobs/asking.h"
#include "protocol/session/command.h"
#include "protocol/session/events.h"
#include "protocol/session/machine.h"
#include "protocol/session/documents/save.h"
#include "protocol/session/session.h"
#include "protocol/session/jobs/wait.h"
#include "src/base/text/utf8.h"

/* ---------------------------------------------------------------------------------------------- positions */

/* A thread as `when`, `back` and all other answers have it, whether or not the client knows processes: P.T. */
static void put_thread(const struct rsp_session *s, uint32_t thread, struct ts_buf *out)
{
	const struct ts_names *names = &s->target->names;

	ts_buf_printf(out, "%" PRId64 ".%" PRId64, names->pids[ts_query_process(s->target->q, thread)],
		      names->tids[thread]);
}

static bool put_pc(const struct rsp_session *s, struct ts_buf *out)
{
	struct ts_error err = { 0 };
	uint64_t pc;
	bool has_pc;

	if (!ts_query_pc(s->target->q, s->pos, s->stopped, &pc, &has_pc, &err)) {
		ts_buf_reset(out);
		ts_buf_puts(out, err.text);
		return false;
	}
	if (has_pc && s->pos == ts_query_end(s->target->q) &&
	    s->stopped == ts_query_thread(s->target->q, s->pos) && ts_query_is_end_assumed(s->target->q))
		ts_buf_printf(out,
			      "pc 0x%" PRIx64 " (assumed: the recording does not show where the last "
			      "instruction led)\n",
			      pc);
	else if (has_pc)
		ts_buf_printf(out, "pc 0x%" PRIx64 "\n", pc);
	else
		ts_buf_puts(out, "pc unknown\n");
	return true;
}

/* Note that the following text is not final; nothing if everything has been read. */
static void put_read(const struct rsp_session *s, struct ts_buf *out)
{
	rsp_target_put_read(s->target, out);
	if (!rsp_is_complete(s))
		ts_buf_putc(out, '\n');
}

/* While the recording is being read, the number of positions is not known. */
static void put_position(const struct rsp_session *s, struct ts_buf *out)
{
	if (rsp_is_complete(s))
		ts_buf_position(out, s->pos, rsp_last(s));
	else
		ts_buf_printf(out, "position %" PRIu64, s->pos);
}

static bool run_when(struct rsp_session *s, const char *, struct ts_buf *out)
{
	put_position(s, out);
	ts_buf_puts(out, ", thread ");
	put_thread(s, s->stopped, out);
	ts_buf_puts(out, ", ");
	if (!put_pc(s, out))
		return false;
	rsp_events_text(s, out);
	put_read(s, out);
	return true;
}

/* Move to @pos and say where that is; if that cannot be said, the session stays where it was. */
static enum rsp_command_end move(struct rsp_session *s, uint64_t pos, struct ts_buf *out)
{
	uint64_t left = s->pos;
	uint32_t thread = s->thread, stopped = s->stopped;
	bool is_said;

	rsp_session_go(s, pos);
	is_said = run_when(s, "", out) && ts_buf_ok(out);
	s->pos = left;
	s->thread = thread;
	s->stopped = stopped;
	if (!is_said)
		return RSP_COMMAND_REFUSED;
	rsp_asking_note_left(s, pos);
	rsp_session_go(s, pos);
	return RSP_COMMAND_DONE;
}

/* The result of a command that goes to a position.  The session has moved if it is done. */
static enum rsp_command_end go(struct rsp_session *s, const struct rsp_destination *d, struct ts_buf *out)
{
	uint64_t pos;

	switch (rsp_reach(s, d, &pos, out)) {
	case RSP_REACHED:
		return move(s, pos, out);
	case RSP_LATER:
		return RSP_COMMAND_LATER;
	case RSP_UNREACHABLE:
		break;
	}
	return RSP_COMMAND_REFUSED;
}

/* A question that was not begun is refused for this reason. */
static enum rsp_command_end give_reason(enum rsp_command_end end, const struct ts_error *err,
					struct ts_buf *out)
{
	if (end == RSP_COMMAND_REFUSED)
		ts_buf_puts(out, err->text);
	return end;
}

static enum rsp_command_end ask(struct rsp_session *s, const char *name, const char *arg, struct ts_buf *out)
{
	struct ts_error err = { 0 };

	return give_reason(rsp_asking_start(s, name, arg, &err), &err, out);
}

/* Some places only src/ask supports: next write X, a mark, #R, +N. */
static enum rsp_command_end start_goto(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	struct rsp_destination d;

	return rsp_destination_parse(&d, arg) ? go(s, &d, out) : ask(s, "goto", arg, out);
}

static enum rsp_command_end announce_goto(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	struct rsp_destination d;
	struct ts_error err;
	uint64_t pos;

	if (!rsp_destination_parse(&d, arg)) {
		ts_error_reset(&err);
		return give_reason(rsp_asking_announce(s, arg, &err), &err, out);
	}
	switch (rsp_reach(s, &d, &pos, out)) {
	case RSP_REACHED:
		d = (struct rsp_destination){ .kind = RSP_TO_POSITION, .pos = pos };
		break;
	case RSP_LATER:
		break;
	case RSP_UNREACHABLE:
		return RSP_COMMAND_REFUSED;
	}
	rsp_session_announce(s, &d);
	return RSP_COMMAND_DONE;
}

/*
 * For a client that does not know that goto has moved it, or that leaves the move to its next resume, which
 * waits for positions that have not been read yet and can be interrupted.  A destination that does not exist
 * is refused now.  With "moved" nothing is announced, and no text is the answer, unless the session's position is not that of
 * the client's last stop.
 */
static enum rsp_command_end start_announce(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	static const char word[] = "goto ";

	if (!strncmp(arg, word, sizeof(word) - 1)) {
		arg += sizeof(word) - 1;
		return announce_goto(s, arg + strspn(arg, " \t"), out);
	}
	if (!strcmp(arg, "moved")) {
		if (s->pos == s->reported_pos)
			return RSP_COMMAND_DONE;
		ts_buf_puts(out, "moved\n");
	} else if (*arg) {
		ts_buf_puts(out, "announce takes goto and where to, moved, or nothing");
		return RSP_COMMAND_REFUSED;
	}
	rsp_session_announce(s, &(struct rsp_destination){ .kind = RSP_TO_POSITION, .pos = s->pos });
	return RSP_COMMAND_DONE;
}

/* For a script: answers when all background work is done. */
static enum rsp_command_end start_wait(struct rsp_session *s, const char *, struct ts_buf *out)
{
	if (!rsp_wait_until_complete(s) || !rsp_wait_until_collected(s))
		return RSP_COMMAND_LATER;
	ts_buf_printf(out, "the recording has been read: positions 0 to %" PRIu64 "\n", rsp_last(s));
	if (rsp_tracing_has_run(&s->tracing))
		ts_buf_printf(out, "trace frames: %" PRIu64 "\n", rsp_tracing_frames(&s->tracing)->n_frames);
	return RSP_COMMAND_DONE;
}

static bool run_direction(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	static const char *const names[] = { "forward", "reverse" };

	for (unsigned i = 0; i < 2; i++) {
		if (!strcmp(arg, names[i]))
			s->is_backwards = i;
	}
	if (*arg && strcmp(arg, names[s->is_backwards])) {
		ts_buf_puts(out, "direction takes reverse or forward");
		return false;
	}
	ts_buf_printf(out, "step and continue go %s\n", s->is_backwards ? "backwards" : "forwards");
	if (s->is_backwards && s->is_lldb)
		ts_buf_puts(out, "lldb's steps by lines run too far back, some to the beginning of the recording; use reverse-next, "
				 "reverse-finish, thread step-inst or breakpoints instead\n");
	return true;
}

/* ------------------------------------------------------------------------------------------------ facts */

/* Names and texts in turn. */
static void put_notes(const struct ts_buf *notes, struct ts_buf *out)
{
	for (size_t i = 0; i < notes->len;) {
		const char *name = (const char *)notes->data + i, *value = name + strlen(name) + 1;

		ts_buf_printf(out, "%s: %s\n", name, value);
		i += strlen(name) + strlen(value) + 2;
	}
}

static void put_arguments(const struct ts_buf *cmdline, struct ts_buf *out)
{
	ts_buf_puts(out, "arguments:");
	for (size_t i = 0; i < cmdline->len; i++) {
		if (!i || !cmdline->data[i - 1])
			ts_buf_putc(out, ' ');
		if (cmdline->data[i])
			ts_buf_putc(out, cmdline->data[i]);
	}
	ts_buf_putc(out, '\n');
}

static void put_warnings(const struct ts_query *q, struct ts_buf *out)
{
	const char *text;
	uint64_t count;

	for (unsigned i = 0; (text = ts_query_warning(q, i, &count)) != NULL; i++) {
		ts_buf_printf(out, "warning: %s", text);
		if (count > 1)
			ts_buf_printf(out, " (%" PRIu64 " times)", count);
		ts_buf_putc(out, '\n');
	}
}

/* Does the client see a status register that was not recorded? */
static bool is_status_made_up(const struct rsp_session *s)
{
	const struct ts_regset *set = rsp_regset(s);
	uint8_t *known = s->scratch + set->g_len;
	struct ts_error err = { 0 };

	return set->arch->has_thumb &&
	       ts_query_regs(s->target->q, s->pos, s->thread, s->scratch, known, &err) &&
	       !known[set->regs[set->flags].off];
}

/* Does gdb see a pc that was not recorded? */
static bool is_pc_made_up(const struct rsp_session *s)
{
	struct ts_error err = { 0 };
	uint64_t pc;
	bool has_pc;

	return s->is_gdb && ts_query_pc(s->target->q, s->pos, s->thread, &pc, &has_pc, &err) && !has_pc;
}

/* In some formats only a recorded system call shows that they were recorded. */
static const char *say_syscalls(const struct rsp_session *s)
{
	if (!rsp_has_syscalls(s->target))
		return "not recorded";
	return rsp_is_complete(s) || ts_query_n_events(s->target->q, TS_EV_SYSCALL) ? "recorded"
										    : "none so far";
}

static bool run_info(struct rsp_session *s, const char *, struct ts_buf *out)
{
	const struct ts_query *q = s->target->q;
	const struct ts_facts *facts = ts_query_facts(q);
	const char *so_far = rsp_is_complete(s) ? "" : ", so far";
	struct ts_index_stats stats;
	struct ts_ending ending;

	ts_query_stats(q, &stats);
	ts_buf_printf(out, "format: %s%s%s\n", facts->format, facts->variant[0] ? ", " : "", facts->variant);
	ts_buf_printf(out, "architecture: %s\n", facts->regs->arch->name);
	if (facts->os[0])
		ts_buf_printf(out, "system: %s\n", facts->os);
	if (s->target->exec_path)
		ts_buf_printf(out, "program: %s\n", s->target->exec_path);
	if (facts->cmdline->len)
		put_arguments(facts->cmdline, out);
	put_notes(facts->notes, out);
	put_read(s, out);
	ts_buf_printf(out, "positions: 0 to %" PRIu64 "%s\n", ts_query_end(q), so_far);
	ts_buf_printf(out, "threads: %" PRIu32 "%s\n", ts_query_n_threads(q), so_far);
	ts_buf_printf(out, "memory reads: %s\n", !facts->has_reads ? "not recorded" :
		      facts->misses_reads ? "recorded, but not those of vector, floating-point and atomic instructions" : "recorded");
	ts_buf_printf(out, "system calls: %s\n", say_syscalls(s));
	rsp_machine_info(s, out);
	ts_buf_printf(out, "unexplained changes: %" PRIu64 "%s\n", stats.n_unexplained, so_far);
	if (is_status_made_up(s))
		ts_buf_puts(out, "cpsr: not recorded; shown with the Thumb bit that the instructions determine, "
				 "and zeros\n");
	if (is_pc_made_up(s))
		ts_buf_puts(out,
			    "pc: not recorded at this position; gdb is given all ones, without which it does "
			    "not stop\n");
	put_warnings(q, out);
	if (ts_query_ending(q, &ending) && ending.damage.code != TS_OK) {
		char text[sizeof(ending.damage.text) + 64];

		ts_error_format(&ending.damage, NULL, text, sizeof(text));
		ts_buf_printf(out, "damage: %s\n", text);
	}
	return true;
}

/* --------------------------------------------------------------------------------------------- collecting */

/* Set the mode of tstart; the client defines the tracepoints. */
static bool run_collect(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	struct rsp_tracing *t = &s->tracing;

	if (!strcmp(arg, "live")) {
		t->mode = RSP_COLLECT_LIVE;
		ts_buf_puts(out, "tstart collects from here on, while you move forwards, until tstop\n");
	} else if (!strcmp(arg, "all")) {
		t->mode = RSP_COLLECT_ALL_AT_ONCE;
		ts_buf_puts(out, "tstart collects over the whole recording at once\n");
	} else if (!strcmp(arg, "none")) {
		rsp_tracing_reset(t);
		ts_buf_puts(out, "what was collected is gone: trace frame K is position K again\n");
	} else {
		ts_buf_puts(out, "collect takes live, all or none");
		return false;
	}
	return true;
}

/* The client waits for the answer until the file is complete. */
static enum rsp_command_end start_export(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	struct ts_error err = { 0 };

	if (!rsp_wait_until_frames_known(s))
		return RSP_COMMAND_LATER;
	if (!rsp_save_start(s, arg, true, &err)) {
		ts_buf_puts(out, err.text);
		return RSP_COMMAND_REFUSED;
	}
	ts_buf_printf(out, "saving %" PRIu64 " trace frames in %s\n",
		      rsp_tracing_frames(&s->tracing)->n_frames, s->target->export_dir);
	return RSP_COMMAND_JOB;
}

/* ----------------------------------------------------------------------------------------------- commands */

static bool run_help(struct rsp_session *s, const char *arg, struct ts_buf *out);

static const struct rsp_command commands[] = {
	{ "announce", "goto X|moved", "make the next step or continue stop here, or where goto leads",
	  .start = start_announce },
	{ "checkpoint", "TEXT", "mark this position as checkpoint-1, or the next free number",
	  .run = rsp_asking_checkpoint },
	{ "collect", "live|all|none", "tracepoints: where you go, everywhere at once (usual), or forget",
	  .run = run_collect },
	{ "condition", "VERB WHAT if COND", "part of gdbinit's `ts`: what gdb compiles of a question, and where",
	  .start = rsp_asking_condition },
	{ "direction", "reverse|forward", "where step and continue go, for clients that cannot go backwards",
	  .run = run_direction },
	{ "export", "FILE", "save the trace frames, in the folder of --export-dir", .start = start_export },
	{ "filter", "process|user|off", "machine recordings: step and stop only in a process or user mode",
	  .run = rsp_machine_run_filter },
	{ "goto", "K|P%|begin|end|frame",
	  "move to a position, next-EVENT or previous-EVENT; gdb shows it after its next stop",
	  .start = start_goto },
	{ "help", "", "list these commands", .run = run_help },
	{ "info", "", "what the recording is, and its warnings", .run = run_info },
	{ "physical", "on|off", "machine recordings: addresses are physical, not virtual",
	  .run = rsp_machine_run_physical },
	{ "translate", "ADDR", "machine recordings: the physical address of a virtual one at this position",
	  .run = rsp_machine_run_translate },
	{ "wait", "", "answer when the recording has been read and the tracepoints of tstart have run",
	  .start = start_wait },
	{ "when", "", "the position of this session, its thread and pc", .run = run_when },
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static bool run_help(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	const char *names[N_COMMANDS];

	(void)s;
	(void)arg;
	for (unsigned i = 0; i < N_COMMANDS; i++) {
		const struct rsp_command *c = &commands[i];
		int width = (int)(26 - strlen(c->name));

		ts_buf_printf(out, "monitor %s %-*s %s\n", c->name, width, c->arg, c->help);
	}
	for (unsigned i = 0; i < N_COMMANDS; i++)
		names[i] = commands[i].name;
	rsp_asking_help(names, N_COMMANDS, out);
	return true;
}

static enum rsp_command_end run(struct rsp_session *s, const struct rsp_command *c, const char *arg,
				struct ts_buf *out)
{
	if (!*c->arg && *arg) {
		ts_buf_printf(out, "%s takes no argument", c->name);
		return RSP_COMMAND_REFUSED;
	}
	if (c->start)
		return c->start(s, arg, out);
	return c->run(s, arg, out) ? RSP_COMMAND_DONE : RSP_COMMAND_REFUSED;
}

static enum rsp_command_end run_line(struct rsp_session *s, char *line, struct ts_buf *out)
{
	char *name = line + strspn(line, " \t");
	char *arg = name + strcspn(name, " \t");

	if (*arg)
		*arg++ = '\0';
	arg += strspn(arg, " \t");
	for (size_t len = strlen(arg); len && strchr(" \t\n", arg[len - 1]); len--)
		arg[len - 1] = '\0';
	/* `when at PLACE` is a question; `when` alone is answered while the recording is being read, too */
	if (!strcmp(name, "when") && *arg)
		return ask(s, name, arg, out);
	for (unsigned i = 0; i < N_COMMANDS; i++) {
		if (!strcmp(name, commands[i].name))
			return run(s, &commands[i], arg, out);
	}
	if (*name && rsp_asking_is_verb(name))
		return ask(s, name, arg, out);
	if (!*name) {
		run_help(s, "", out);
		return RSP_COMMAND_DONE;
	}
	ts_buf_printf(out, "'%.64s' is neither a question nor a command (help lists them); example: events first 5", name);
	return RSP_COMMAND_REFUSED;
}

/* Text goes into the reply if it fits and the client shows it: lldb shows console output only. */
static void answer(struct rsp_session *s, const struct ts_buf *text, struct rsp_reply *r)
{
	if (!text->len)
		return; /* an empty reply would mean that the command does not exist */
	if (!s->is_lldb && 2 * text->len <= rsp_reply_room(r))
		rsp_reply_hex(r, text->data, text->len);
	else
		ts_buf_put(&s->console, text->data, text->len);
}

static enum rsp_done finish(struct rsp_session *s, enum rsp_command_end end, struct ts_buf *text,
			    struct rsp_reply *r)
{
	ts_utf8_make_shown((char *)text->data, text->len, true);
	if (!ts_buf_ok(text))
		return rsp_reply_error(r, RSP_ERROR_PLAIN);
	switch (end) {
	case RSP_COMMAND_DONE:
		answer(s, text, r);
		break;
	case RSP_COMMAND_REFUSED:
		rsp_session_refuse(s, r, ts_buf_text(text), true);
		break;
	case RSP_COMMAND_LATER:
		s->wait.kind = RSP_WAIT_COMMAND;
		return RSP_WAIT;
	case RSP_COMMAND_JOB:
		ts_buf_put(&s->console, text->data, text->len);
		return RSP_DEFERRED;
	}
	return r->kind == RSP_REPLY_EMPTY ? RSP_OK : RSP_REPLIED;
}

static enum rsp_done pkt_command(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct ts_buf line, text;
	enum rsp_command_end end;
	enum rsp_done done;

	ts_buf_init(&line);
	ts_buf_init(&text);
	rsp_args_hex_buf(a, &line);
	ts_buf_putc(&line, '\0');
	if (!rsp_args_done(a) || !ts_buf_ok(&line)) {
		ts_buf_fini(&line);
		return RSP_BAD;
	}
	rsp_session_shown(s);
	end = run_line(s, (char *)line.data, &text);
	done = finish(s, end, &text, r);
	ts_buf_fini(&line);
	ts_buf_fini(&text);
	return done;
}

static const struct rsp_packet packets[] = {
	{ "qRcmd", RSP_ARGS, .handler = pkt_command },
};
const struct rsp_packets rsp_monitor_packets = RSP_PACKETS(packets);
