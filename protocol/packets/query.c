/* SPDX-License-Identifier: MIT */
/*
 * Features of client and server, and the beginning and end of a session.
 */
#include "packets.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/session/documents/modules.h"
#include "protocol/session/events.h"
#include "protocol/session/session.h"
#include "protocol/session/stop.h"
#include "src/base/text/utf8.h"

/* ----------------------------------------------------------------------------------------------- features */

/* Take one feature of the client; unknown ones are skipped. */
static void take_feature(struct rsp_session *s, struct rsp_args *a)
{
	const struct {
		const char *name;
		bool *has;
	} features[] = {
		{ "multiprocess+", &s->has_multiprocess },
		{ "swbreak+", &s->has_swbreak },
		{ "hwbreak+", &s->has_hwbreak },
		{ "error-message+", &s->has_error_message },
		{ "multi-wp-addr+", &s->has_watches },
		{ "fork-events+", &s->has_forks },
		{ "vfork-events+", &s->has_vforks },
		{ "exec-events+", &s->has_execs },
	};
	static const char xml_registers[] = "xmlRegisters=";
	size_t len;
	const char *name = (const char *)rsp_args_until(a, ";", &len);

	for (unsigned i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		if (len == strlen(features[i].name) && memcmp(name, features[i].name, len) == 0)
			*features[i].has = true;
	}
	if (len >= strlen(xml_registers) && memcmp(name, xml_registers, strlen(xml_registers)) == 0)
		s->is_gdb = !s->is_lldb;
}

/*
 * Does this session claim the feature?  Features that depend on those of the client or on the recording are
 * listed here; the others are always claimed.  lldb reads thread ids without processes only, and if there is
 * an auxiliary vector it inserts a breakpoint at the entry point, at which it then resumes by itself.  A path
 * of the program whose file cannot be served would make gdb warn twice that it cannot open it.
 */
static bool is_claimed(const struct rsp_session *s, const char *feature)
{
	const struct {
		const char *name;
		bool is_claimed;
	} rules[] = {
		{ "multiprocess+", s->has_multiprocess },
		{ "fork-events+;vfork-events+", s->has_forks },
		{ "swbreak+", s->has_swbreak },
		{ "hwbreak+", s->has_hwbreak },
		{ "QCatchSyscalls+", rsp_has_syscalls(s->target) },
		{ "qXfer:siginfo:read+", s->claims_siginfo },
		{ "qXfer:auxv:read+", ts_query_facts(s->target->q)->auxv && !s->is_lldb },
		{ "qXfer:exec-file:read+", rsp_target_exec_path(s->target) },
	};

	for (unsigned i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (strcmp(rules[i].name, feature) == 0)
			return rules[i].is_claimed;
	}
	/* asked last: it examines libraries */
	if (strcmp(feature, "qXfer:libraries:read+") == 0)
		return rsp_module_list(s->target) == RSP_MODULES_ANY;
	if (strcmp(feature, "qXfer:libraries-svr4:read+") == 0)
		return rsp_module_list(s->target) == RSP_MODULES_SVR4;
	return true;
}

/* A client introduces itself: the state of a previous one is forgotten, except for the position. */
static enum rsp_done pkt_supported(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	bool is_lldb = s->is_lldb;

	rsp_session_reset(s);
	s->lists_threads = false;
	s->is_greeted = true;
	s->is_detached = false;
	s->is_lldb = is_lldb;
	s->is_gdb = false;
	s->claims_siginfo = rsp_events_may_have_siginfo(s);
	s->has_multiprocess = s->has_swbreak = s->has_hwbreak = s->has_error_message = false;
	s->has_watches = s->has_forks = s->has_vforks = s->has_execs = s->is_in_child = s->owes_vfork_done = false;
	s->child = 0;
	while (a->left) {
		take_feature(s, a);
		rsp_args_accept(a, ';');
	}
	if (is_lldb)
		s->has_multiprocess = false;
	/* lldb knows no execs, and would follow a fork by itself */
	s->has_forks = s->has_forks && s->has_vforks && s->has_execs && s->has_multiprocess && rsp_has_syscalls(s->target);
	r->error_style = is_lldb ? RSP_ERROR_NUMBER : RSP_ERROR_TEXT;
	rsp_reply_printf(r, "PacketSize=%x", RSP_PACKET_SIZE);
	rsp_table_features(&s->target->table, is_claimed, s, r);
	return RSP_REPLIED;
}

/* gdb sends qSupported before this packet, lldb afterwards. */
static enum rsp_done pkt_no_ack(struct rsp_session *s, struct rsp_args *, struct rsp_reply *)
{
	if (!s->is_greeted)
		s->is_lldb = true;
	s->wants_noack = true;
	return RSP_OK;
}

/* Only lldb sends it; the suffixes are supported, but not needed. */
static enum rsp_done pkt_thread_suffix(struct rsp_session *s, struct rsp_args *, struct rsp_reply *)
{
	s->is_lldb = true;
	return RSP_UNSUPPORTED;
}

static enum rsp_done pkt_error_strings(struct rsp_session *, struct rsp_args *, struct rsp_reply *r)
{
	r->error_style = RSP_ERROR_HEX;
	return RSP_OK;
}

static enum rsp_done pkt_extended(struct rsp_session *s, struct rsp_args *, struct rsp_reply *)
{
	s->is_extended = true;
	return RSP_OK;
}

/* ----------------------------------------------------------------------------------------------- settings */

static enum rsp_done pkt_non_stop(struct rsp_session *, struct rsp_args *a, struct rsp_reply *r)
{
	bool is_on = rsp_args_switch(a);

	if (!rsp_args_done(a))
		return RSP_BAD;
	if (!is_on)
		return RSP_OK;
	return rsp_reply_error_text(r, "the threads of a recording can't be stopped one by one");
}

/* Threads do not start or end while the client is stopped. */
static enum rsp_done pkt_thread_events(struct rsp_session *, struct rsp_args *a, struct rsp_reply *)
{
	rsp_args_switch(a);
	return rsp_args_done(a) ? RSP_OK : RSP_BAD;
}

/* Take "NUMBER;NUMBER...", of which there may be none. */
static bool take_signals(struct rsp_args *a, uint64_t *set)
{
	while (a->left) {
		uint32_t number = rsp_args_u32(a);

		if (number < TS_N_SIGNALS)
			set[number / 64] |= UINT64_C(1) << (number % 64);
		if (a->left)
			rsp_args_expect(a, ';');
	}
	return rsp_args_ok(a);
}

/* Signals that do not stop the program. */
static enum rsp_done pkt_pass_signals(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *)
{
	uint64_t set[TS_N_SIGNALS / 64] = { 0 };

	if (!take_signals(a, set))
		return RSP_BAD;
	memcpy(s->passed_signals, set, sizeof(set));
	return RSP_OK;
}

/* Signals that may be delivered: ignored, because the recorded program cannot change. */
static enum rsp_done pkt_program_signals(struct rsp_session *, struct rsp_args *a, struct rsp_reply *)
{
	uint64_t set[TS_N_SIGNALS / 64] = { 0 };

	return take_signals(a, set) ? RSP_OK : RSP_BAD;
}

/* Take any number of ";NUMBER".  Returns false if memory is exhausted. */
static bool take_numbers(struct rsp_args *a, uint64_t **numbers, size_t *n)
{
	size_t cap = a->left / 2; /* each has a separator and a digit */

	*n = 0;
	*numbers = cap ? malloc(cap * sizeof(**numbers)) : NULL;
	if (cap && !*numbers)
		return false;
	while (a->left) {
		uint64_t number;

		rsp_args_expect(a, ';');
		number = rsp_args_u64(a);
		if (rsp_args_ok(a))
			(*numbers)[(*n)++] = number;
	}
	return true;
}

static enum rsp_done pkt_catch_syscalls(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	bool is_on = rsp_args_switch(a);
	uint64_t *numbers;
	size_t n;

	if (!rsp_has_syscalls(s->target))
		return RSP_UNSUPPORTED;
	if (!rsp_args_ok(a) || (!is_on && a->left))
		return RSP_BAD;
	if (!take_numbers(a, &numbers, &n))
		return rsp_reply_error(r, RSP_ERROR_PLAIN);
	if (!rsp_args_ok(a)) {
		free(numbers);
		return RSP_BAD;
	}
	free(s->syscalls);
	s->syscalls = numbers;
	s->n_syscalls = n;
	s->catches_syscalls = is_on;
	return RSP_OK;
}

/* ---------------------------------------------------------------------------------------------- questions */

/* Take a process by its id for the client.  Fails if the process does not exist. */
static void take_pid(const struct rsp_session *s, struct rsp_args *a)
{
	const struct ts_names *names = &s->target->names;
	int64_t pid = rsp_args_i64(a);

	for (uint32_t i = 0; i < names->n_pids; i++) {
		if (rsp_args_ok(a) && names->pids[i] == pid)
			return;
	}
	rsp_args_fail(a);
}

/* The process existed before: a client that quits detaches from it, instead of killing it. */
static enum rsp_done pkt_attached(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	if (a->left)
		take_pid(s, a);
	if (!rsp_args_done(a))
		return RSP_BAD;
	return rsp_reply_puts(r, "1");
}

/*
 * Where the program was loaded.  gdb moves the symbols of a position-independent program by this if there is
 * no auxiliary vector (gdb/remote.c, remote_target::get_offsets); all segments move with the first one.  It
 * knows no segments of PE files, but moves their sections by a distance.  An empty reply means that nothing
 * is moved, or that it is not known: for a program that is not position-independent lldb would move the
 * symbols twice.
 */
static enum rsp_done pkt_offsets(struct rsp_session *s, struct rsp_args *, struct rsp_reply *r)
{
	const struct ts_located *at = &s->target->located;

	if (at->by == TS_LOCATED_NOT || at->by == TS_LOCATED_LINKED)
		return RSP_UNSUPPORTED;
	if (at->is_pe)
		rsp_reply_printf(r, "Text=%" PRIx64 ";Data=%" PRIx64 ";Bss=%" PRIx64, at->moved, at->moved,
				 at->moved);
	else
		rsp_reply_printf(r, "TextSeg=%" PRIx64, at->first);
	return RSP_REPLIED;
}

/* The client offers to look up symbols ("::"), or sends a value ("VALUE:NAME"); none is needed. */
static enum rsp_done pkt_symbol(struct rsp_session *, struct rsp_args *a, struct rsp_reply *)
{
	if (rsp_args_peek(a) != ':')
		rsp_args_u64(a);
	rsp_args_expect(a, ':');
	if (rsp_args_hex_len(a) * 2 != a->left)
		rsp_args_fail(a);
	return rsp_args_ok(a) ? RSP_OK : RSP_BAD;
}

/*
 * A word of the command line as gdb's "set args" takes it; in quotes if a shell would not leave it as it is.
 */
static void put_argument(const char *word, struct ts_buf *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_^";
	bool is_plain = *word && strspn(word, plain) == strlen(word);

	if (is_plain) {
		ts_buf_puts(out, word);
		return;
	}
	ts_buf_putc(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			ts_buf_puts(out, "'\\''");
		else
			ts_buf_putc(out, *word);
	}
	ts_buf_putc(out, '\'');
}

/* The arguments after the program's name, in one line.  gdb shows them as they are. */
static void put_arguments(const struct ts_buf *cmdline, struct ts_buf *out)
{
	size_t at = cmdline->len ? strlen((const char *)cmdline->data) + 1 : 0;

	while (at < cmdline->len) {
		const char *word = (const char *)cmdline->data + at;

		if (out->len)
			ts_buf_putc(out, ' ');
		put_argument(word, out);
		at += strlen(word) + 1;
	}
	if (ts_buf_ok(out))
		ts_utf8_make_shown((char *)out->data, out->len, false);
}

/* "S;PROGRAM;ARGUMENTS;" in hex, or "U": gdb then keeps its own. */
static enum rsp_done pkt_exec_and_args(struct rsp_session *s, struct rsp_args *, struct rsp_reply *r)
{
	const struct ts_buf *cmdline = ts_query_facts(s->target->q)->cmdline;
	const char *path = rsp_target_exec_path(s->target);
	struct ts_buf args;

	ts_buf_init(&args);
	put_arguments(cmdline, &args);
	if (path && cmdline->len && ts_buf_ok(&args) &&
	    args.len + strlen(path) <= (rsp_reply_room(r) - strlen("S;;;")) / 2) {
		rsp_reply_puts(r, "S;");
		rsp_reply_hex_text(r, path);
		rsp_reply_putc(r, ';');
		rsp_reply_hex(r, args.data, args.len);
		rsp_reply_putc(r, ';');
	} else {
		rsp_reply_putc(r, 'U');
	}
	ts_buf_fini(&args);
	return RSP_REPLIED;
}

/* -------------------------------------------------------------------------------------- beginning and end */

/*
 * The client detaches from a process, or (not @is_one) from all.  After one of several the session continues;
 * a client of extended-remote stays connected without a process.
 */
static enum rsp_done leave(struct rsp_session *s, bool is_one)
{
	if (is_one && s->target->names.n_pids > 1)
		return RSP_OK;
	s->is_detached = s->is_extended;
	s->is_closing = !s->is_extended;
	return RSP_OK;
}

static enum rsp_done pkt_detach(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *)
{
	bool has_pid = a->left > 0;
	struct rsp_args copy = *a;

	if (has_pid && s->child && rsp_args_i64(&copy) == s->child && rsp_args_done(&copy)) {
		s->child = 0;
		s->is_in_child = false;
		return RSP_OK;
	}
	if (has_pid)
		take_pid(s, a);
	return rsp_args_done(a) ? leave(s, has_pid) : RSP_BAD;
}

static enum rsp_done pkt_vkill(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *)
{
	take_pid(s, a);
	return rsp_args_done(a) ? leave(s, true) : RSP_BAD;
}

/* gdb expects no reply, lldb that of a killed process. */
static enum rsp_done pkt_kill(struct rsp_session *s, struct rsp_args *, struct rsp_reply *r)
{
	s->is_closing = true;
	if (!s->is_lldb)
		return RSP_CLOSE;
	return rsp_reply_puts(r, "X09");
}

/* Restart, which has no reply. */
static enum rsp_done pkt_restart(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *)
{
	rsp_args_u8(a);
	if (!rsp_args_done(a))
		return RSP_BAD;
	s->is_detached = false;
	rsp_session_go_first(s);
	return RSP_DEFERRED;
}

/*
 * An extended client that has the program requests another one: gdb does this for a second inferior, and is
 * confused by a process that it already has.
 */
static bool is_second(const struct rsp_session *s, struct rsp_reply *r)
{
	if (!s->is_extended || s->is_detached || s->target->names.n_pids > 1)
		return false;
	rsp_reply_error_text(r, "the recording has one process, and it is being debugged already");
	return true;
}

/* Running the program goes to the beginning of the recording; file and arguments are the recorded ones. */
static enum rsp_done pkt_run(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	while (a->left) {
		if (!rsp_args_accept(a, ';'))
			rsp_args_u8(a);
	}
	if (!rsp_args_ok(a))
		return RSP_BAD;
	if (is_second(s, r))
		return RSP_REPLIED;
	s->is_detached = false;
	rsp_session_go_first(s);
	rsp_stop_reply(s, r, 5, NULL);
	return RSP_REPLIED;
}

static enum rsp_done pkt_attach(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	take_pid(s, a);
	if (!rsp_args_done(a))
		return RSP_BAD;
	if (is_second(s, r))
		return RSP_REPLIED;
	s->is_detached = false;
	rsp_stop_reply(s, r, 5, NULL);
	return RSP_REPLIED;
}

/* A packet is answered only when nothing runs. */
static enum rsp_done pkt_ctrl_c(struct rsp_session *, struct rsp_args *, struct rsp_reply *)
{
	return RSP_OK;
}

static const struct rsp_packet packets[] = {
	{ "qSupported", RSP_ARGS, .handler = pkt_supported },
	{ "QStartNoAckMode", RSP_EXACT, pkt_no_ack, .feature = "QStartNoAckMode+" },
	{ "QThreadSuffixSupported", RSP_EXACT, .handler = pkt_thread_suffix },
	{ "QEnableErrorStrings", RSP_EXACT, .handler = pkt_error_strings },
	{ "!", RSP_EXACT, .handler = pkt_extended },

	{ "QNonStop", RSP_ARGS, .handler = pkt_non_stop },
	{ "QThreadEvents", RSP_ARGS, .handler = pkt_thread_events },
	{ "QPassSignals", RSP_ARGS, pkt_pass_signals, .feature = "QPassSignals+" },
	{ "QProgramSignals", RSP_ARGS, pkt_program_signals, .feature = "QProgramSignals+" },
	{ "QCatchSyscalls", RSP_ARGS, pkt_catch_syscalls, .feature = "QCatchSyscalls+" },

	{ "qAttached", RSP_ARGS, .handler = pkt_attached },
	{ "qOffsets", RSP_EXACT, .handler = pkt_offsets },
	{ "qSymbol", RSP_ARGS, .handler = pkt_symbol },
	{ "qExecAndArgs", RSP_EXACT, .handler = pkt_exec_and_args },

	{ "D", RSP_ARGS, pkt_detach, .feature = "fork-events+;vfork-events+" },
	{ "k", RSP_EXACT, .handler = pkt_kill },
	{ "vKill", RSP_ARGS, .handler = pkt_vkill },
	{ "R", RSP_PREFIX, .handler = pkt_restart },
	{ "vRun", RSP_ARGS, .handler = pkt_run },
	{ "vAttach", RSP_ARGS, .handler = pkt_attach },
	{ "vCtrlC", RSP_EXACT, .handler = pkt_ctrl_c },
};
const struct rsp_packets rsp_query_packets = RSP_PACKETS(packets);
