/* SPDX-License-Identifier: MIT */
/*
 * What the protocol has no packet for, as text for people: qRcmd, gdb's "monitor".
 *
 * gdb before 16 knows two ends of a monitor command: text, and an error without any.  A command that fails
 * for such a client therefore says why as console output, and then answers with an error, so that a script
 * stops.
 */
#include "packets.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/session/machine.h"
#include "protocol/session/proc.h"
#include "protocol/session/session.h"
#include "protocol/session/threads.h"

/*
 * A command.  It appends what it has to say to @out: its answer, or (returning false) one sentence on why it
 * did nothing. @arg is "" where the user gave none.
 */
struct command {
	const char *name;
	const char *arg; /* "" for a command without one */
	const char *help;
	bool (*run)(struct rsp_session *s, const char *arg, struct ts_buf *out);
};

/* ---------------------------------------------------------------------------------------------- positions */

/* In hundredths of a percent, rounded down: only the last position is 100%. */
static unsigned percent(uint64_t pos, uint64_t n_steps)
{
	unsigned share = n_steps ? (unsigned)((double)pos * 10000 / (double)n_steps) : 10000;

	return pos < n_steps && share == 10000 ? 9999 : share;
}

/* A thread as gdb calls it. */
static void put_thread(const struct rsp_session *s, uint32_t thread, struct ts_buf *out)
{
	struct rsp_tid tid = rsp_session_tid(s, thread);

	if (tid.has_pid)
		ts_buf_printf(out, "%" PRId64 ".", tid.pid);
	ts_buf_printf(out, "%" PRId64, tid.tid);
}

static bool put_pc(const struct rsp_session *s, struct ts_buf *out)
{
	struct ts_error err = { 0 };
	uint64_t pc;
	bool has_pc;

	if (!ts_query_pc(s->sh->q, s->pos, s->thread, &pc, &has_pc, &err)) {
		ts_buf_reset(out);
		ts_buf_puts(out, err.text);
		return false;
	}
	if (has_pc && s->pos == ts_query_end(s->sh->q) && s->thread == ts_query_thread(s->sh->q, s->pos) &&
	    ts_query_is_end_assumed(s->sh->q))
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

/* What the step here is, if it is no instruction. */
static void put_interrupt(const struct rsp_session *s, struct ts_buf *out)
{
	const struct ts_happening *h = ts_query_next_event(s->sh->q, TS_EV_INTERRUPT, s->pos);

	if (h && h->step == s->pos)
		ts_buf_printf(out, "interrupt%s%s\n", *h->event.text ? ": " : "", h->event.text);
}

static bool run_when(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	uint64_t end = rsp_last(s);
	unsigned share = percent(s->pos, end);

	(void)arg;
	ts_buf_printf(out, "position %" PRIu64 " of %" PRIu64 " (%u.%02u%%), thread ", s->pos, end,
		      share / 100, share % 100);
	put_thread(s, s->thread, out);
	ts_buf_puts(out, ", ");
	if (!put_pc(s, out))
		return false;
	put_interrupt(s, out);
	return true;
}

/* Take a number in decimal; false if there is none or it is too large. */
static bool take_number(const char **text, uint64_t *value)
{
	const char *start = *text;

	for (*value = 0; **text >= '0' && **text <= '9'; ++*text) {
		if (__builtin_mul_overflow(*value, 10u, value) ||
		    __builtin_add_overflow(*value, (unsigned)(**text - '0'), value))
			return false;
	}
	return *text != start;
}

/* "12", "12.5": up to 9 digits behind the point count.  False if it is none, or above 100. */
static bool take_percent(const char **text, double *share)
{
	const double scales[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9 };
	uint64_t whole, part = 0;
	size_t n_digits = 0;

	if (!take_number(text, &whole))
		return false;
	if (**text == '.') {
		const char *start = ++*text;

		if (!take_number(text, &part))
			return false;
		n_digits = (size_t)(*text - start);
	}
	if (n_digits > 9 || whole > 100)
		return false;
	*share = (double)whole + (double)part / scales[n_digits];
	return *share <= 100;
}

/* Where "begin", "end", "K" or "P%" is.  False with a sentence if it is nowhere. */
static bool parse_position(const char *arg, uint64_t n_steps, uint64_t *pos, struct ts_buf *out)
{
	const char *p = arg;
	double share;

	if (!strcmp(arg, "begin")) {
		*pos = 0;
		return true;
	}
	if (!strcmp(arg, "end")) {
		*pos = n_steps;
		return true;
	}
	if (take_number(&p, pos) && !*p) {
		if (*pos <= n_steps)
			return true;
		ts_buf_printf(out, "there is no position %" PRIu64 ", they go from 0 to %" PRIu64, *pos,
			      n_steps);
		return false;
	}
	p = arg;
	if (take_percent(&p, &share) && !strcmp(p, "%")) {
		*pos = (uint64_t)((double)n_steps * (share / 100));
		if (*pos > n_steps || share == 100)
			*pos = n_steps;
		return true;
	}
	ts_buf_printf(out,
		      "goto wants a position (0 to %" PRIu64
		      "), a percentage (0%% to 100%%), begin, end, frame, next-EVENT, or previous-EVENT",
		      n_steps);
	return false;
}

static const char *const event_names[TS_N_EVENT_KINDS] = {
	[TS_EV_SYSCALL] = "syscall",	       [TS_EV_SIGNAL] = "signal", [TS_EV_FAULT] = "fault",
	[TS_EV_EXIT] = "exit",		       [TS_EV_GAP] = "gap",	  [TS_EV_INTERRUPT] = "interrupt",
	[TS_EV_THREAD_END] = "thread-end",
};

/* The position before the next or previous event that @arg names.  False with a sentence if there is none. */
static bool find_event(const struct rsp_session *s, const char *arg, bool is_reverse, uint64_t *pos,
		       struct ts_buf *out)
{
	const struct ts_happening *h = NULL;
	unsigned kind = 0;

	while (kind < TS_N_EVENT_KINDS && strcmp(arg, event_names[kind]))
		kind++;
	if (kind == TS_N_EVENT_KINDS) {
		ts_buf_puts(out, "the kinds of events are");
		for (unsigned i = 0; i < TS_N_EVENT_KINDS; i++)
			ts_buf_printf(out, "%s %s", i ? "," : "", event_names[i]);
		return false;
	}
	if (!is_reverse)
		h = ts_query_next_event(s->sh->q, (enum ts_event_kind)kind, s->pos + 1);
	else if (s->pos)
		h = ts_query_prev_event(s->sh->q, (enum ts_event_kind)kind, s->pos - 1);
	if (h)
		*pos = h->step;
	else if (kind == TS_EV_SYSCALL && !rsp_has_syscalls(s->sh))
		ts_buf_puts(out, "system calls were not recorded");
	else
		ts_buf_printf(out, "there is no %s %s position %" PRIu64, arg,
			      is_reverse ? "before" : "after", s->pos);
	return h != NULL;
}

/* The position of the trace frame that the client looks at. */
static bool find_frame(const struct rsp_session *s, uint64_t *pos, struct ts_buf *out)
{
	*pos = s->tracing.frame.pos;
	if (!rsp_tracing_is_looking(&s->tracing))
		ts_buf_puts(out, "no trace frame is selected");
	return rsp_tracing_is_looking(&s->tracing);
}

static bool find_position(const struct rsp_session *s, const char *arg, uint64_t *pos, struct ts_buf *out)
{
	static const char next[] = "next-", previous[] = "previous-";

	if (!strncmp(arg, next, sizeof(next) - 1))
		return find_event(s, arg + sizeof(next) - 1, false, pos, out);
	if (!strncmp(arg, previous, sizeof(previous) - 1))
		return find_event(s, arg + sizeof(previous) - 1, true, pos, out);
	if (!strcmp(arg, "frame"))
		return find_frame(s, pos, out);
	return parse_position(arg, rsp_last(s), pos, out);
}

static bool run_goto(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	uint64_t pos;

	if (!find_position(s, arg, &pos, out))
		return false;
	rsp_session_go(s, pos);
	return run_when(s, "", out);
}

/*
 * For a client that has been moved by goto and does not know it; it says nothing, as part of the client's own
 * command.
 */
static bool run_announce(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	(void)arg;
	(void)out;
	s->is_announcing = true;
	return true;
}

/* ------------------------------------------------------------------------------------------------ facts */

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

/* Does the client see a status register that nobody recorded? */
static bool is_status_made_up(const struct rsp_session *s)
{
	const struct ts_regset *set = rsp_regset(s);
	uint8_t *known = s->scratch + set->g_len;
	struct ts_error err = { 0 };

	return set->arch->has_thumb && ts_query_regs(s->sh->q, s->pos, s->thread, s->scratch, known, &err) &&
	       !known[set->regs[set->flags].off];
}

static bool run_info(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	const struct ts_query *q = s->sh->q;
	const struct ts_facts *facts = ts_query_facts(q);
	struct ts_index_stats stats;
	struct ts_ending ending;

	(void)arg;
	ts_query_stats(q, &stats);
	ts_buf_printf(out, "format: %s%s%s\n", facts->format, facts->variant[0] ? ", " : "", facts->variant);
	ts_buf_printf(out, "architecture: %s\n", facts->regs->arch->name);
	if (facts->os[0])
		ts_buf_printf(out, "system: %s\n", facts->os);
	if (s->sh->exec_path)
		ts_buf_printf(out, "program: %s\n", s->sh->exec_path);
	if (facts->cmdline->len)
		put_arguments(facts->cmdline, out);
	ts_buf_printf(out, "positions: 0 to %" PRIu64 "\n", ts_query_end(q));
	ts_buf_printf(out, "threads: %" PRIu32 "\n", ts_query_n_threads(q));
	ts_buf_printf(out, "memory reads: %s\n", facts->has_reads ? "recorded" : "not recorded");
	ts_buf_printf(out, "system calls: %s\n", rsp_has_syscalls(s->sh) ? "recorded" : "not recorded");
	rsp_machine_info(s, out);
	ts_buf_printf(out, "unexplained changes: %" PRIu64 "\n", stats.n_unexplained);
	if (is_status_made_up(s))
		ts_buf_puts(out, "cpsr: not recorded; shown are its Thumb bit, as the instructions tell it, "
				 "and zeros\n");
	put_warnings(q, out);
	if (ts_query_ending(q, &ending) && ending.damage.code != TS_OK) {
		char text[sizeof(ending.damage.text) + 64];

		ts_error_format(&ending.damage, NULL, text, sizeof(text));
		ts_buf_printf(out, "damage: %s\n", text);
	}
	return true;
}

static bool run_maps(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	(void)arg;
	rsp_proc_maps(s, rsp_process(s), out);
	if (!ts_buf_ok(out) || out->len)
		return true;
	ts_buf_puts(out, "the recording knows of no mapped region here");
	return false;
}

static bool run_threads(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	(void)arg;
	for (uint32_t i = 0; i < ts_query_n_threads(s->sh->q); i++) {
		const char *name = ts_query_thread_facts(s->sh->q, i)->name;

		ts_buf_puts(out, "thread ");
		put_thread(s, i, out);
		if (*name)
			ts_buf_printf(out, " \"%s\"", name);
		ts_buf_puts(out, ": ");
		if (rsp_thread_exists(s, i))
			rsp_thread_text(s, i, out);
		else
			ts_buf_puts(out, "does not exist here");
		ts_buf_putc(out, '\n');
	}
	return true;
}

/* --------------------------------------------------------------------------------------------- collecting */

/* What tstart does; the tracepoints stay the client's to define. */
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
		ts_buf_puts(out, "collect wants live, all or none");
		return false;
	}
	return true;
}

/* The client waits until the file is there; the answer comes then. */
static bool run_export(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	struct ts_error err;

	ts_error_reset(&err);
	if (!rsp_save_start(s, arg, true, &err)) {
		ts_buf_puts(out, err.text);
		return false;
	}
	ts_buf_printf(&s->console, "saving %" PRIu64 " trace frames in %s\n", rsp_tracing_frames(s)->n_frames,
		      s->sh->export_dir);
	return true;
}

/* ----------------------------------------------------------------------------------------------- commands */

static bool run_help(struct rsp_session *s, const char *arg, struct ts_buf *out);

static const struct command commands[] = {
	{ "announce", "", "answer the next step or continue by a stop right here", run_announce },
	{ "collect", "live|all|none", "tracepoints: where you go, everywhere at once (usual), or forget",
	  run_collect },
	{ "export", "FILE", "save the trace frames, in the folder of --export-dir", run_export },
	{ "filter", "process|user|off", "of a machine: what stepping and stops do not pass over",
	  rsp_machine_run_filter },
	{ "goto", "K|P%|begin|end|frame",
	  "move to a position, next-EVENT or previous-EVENT; gdb shows it after its next stop", run_goto },
	{ "help", "", "list these commands", run_help },
	{ "info", "", "what the recording is, and what is odd about it", run_info },
	{ "maps", "", "the regions of memory at this position", run_maps },
	{ "physical", "on|off", "of a machine: addresses are physical, not virtual",
	  rsp_machine_run_physical },
	{ "threads", "", "all threads, and where they are", run_threads },
	{ "translate", "ADDR", "of a machine: where a virtual address lies at this position",
	  rsp_machine_run_translate },
	{ "when", "", "where this session stands", run_when },
};

static bool run_help(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	(void)s;
	(void)arg;
	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const struct command *c = &commands[i];
		int width = (int)(26 - strlen(c->name));

		ts_buf_printf(out, "monitor %s %-*s %s\n", c->name, width, c->arg, c->help);
	}
	return true;
}

static bool run_line(struct rsp_session *s, char *line, struct ts_buf *out)
{
	char *name = line + strspn(line, " \t");
	char *arg = name + strcspn(name, " \t");

	if (*arg)
		*arg++ = '\0';
	arg += strspn(arg, " \t");
	for (size_t len = strlen(arg); len && strchr(" \t\n", arg[len - 1]); len--)
		arg[len - 1] = '\0';
	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(name, commands[i].name) != 0)
			continue;
		if (!*commands[i].arg && *arg) {
			ts_buf_printf(out, "%s takes no argument", name);
			return false;
		}
		return commands[i].run(s, arg, out);
	}
	if (!*name)
		return run_help(s, "", out);
	ts_buf_printf(out, "no command \"%.64s\": \"monitor help\" lists those there are", name);
	return false;
}

/* What a trace calls its things is for a terminal: of control characters only the ends of lines are. */
static void make_printable(struct ts_buf *text)
{
	for (size_t i = 0; i < text->len; i++) {
		if ((text->data[i] < ' ' && text->data[i] != '\n') || text->data[i] == 0x7f)
			text->data[i] = '?';
	}
}

/* Text goes into the reply where it fits and the client shows it: lldb shows console output only. */
static void answer(struct rsp_session *s, const struct ts_buf *text, struct rsp_reply *r)
{
	if (!text->len)
		return; /* an empty reply would mean that there is no such command */
	if (!s->is_lldb && 2 * text->len <= rsp_reply_room(r))
		rsp_reply_hex(r, text->data, text->len);
	else
		ts_buf_put(&s->console, text->data, text->len);
}

static void answer_failure(struct rsp_session *s, struct ts_buf *text, struct rsp_reply *r)
{
	if (s->has_error_message) {
		rsp_reply_error_text(r, "%s", ts_buf_text(text));
		return;
	}
	ts_buf_put(&s->console, text->data, text->len);
	ts_buf_putc(&s->console, '\n');
	rsp_reply_error(r, RSP_ERROR_PLAIN);
}

static enum rsp_done pkt_command(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct ts_buf line, text;
	bool is_done;

	ts_buf_init(&line);
	ts_buf_init(&text);
	rsp_args_hex_buf(a, &line);
	ts_buf_putc(&line, '\0');
	if (!rsp_args_done(a) || !ts_buf_ok(&line)) {
		ts_buf_fini(&line);
		return RSP_BAD;
	}
	rsp_session_shown(s);
	is_done = run_line(s, (char *)line.data, &text);
	make_printable(&text);
	if (!ts_buf_ok(&text))
		rsp_reply_error(r, RSP_ERROR_PLAIN);
	else if (is_done)
		answer(s, &text, r);
	else
		answer_failure(s, &text, r);
	ts_buf_fini(&line);
	ts_buf_fini(&text);
	if (s->job.ops)
		return RSP_DEFERRED;
	return r->kind == RSP_REPLY_EMPTY ? RSP_OK : RSP_REPLIED;
}

static const struct rsp_packet packets[] = {
	{ "qRcmd", RSP_ARGS, pkt_command, NULL },
};
const struct rsp_packets rsp_monitor_packets = RSP_PACKETS(packets);
