/* SPDX-License-Identifier: MIT */
/*
 * Prints the tree that src/search/cause finds.  A node has one row, or one for each of its ranges of memory.
 */
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "notes.h"
#include "places.h"
#include "src/ask/grammar/question.h"
#include "src/query/paging.h"
#include "src/search/cause.h"
#include "src/ask/grammar/state.h"
#include "src/arch/syscall_name.h"

#define DEFAULT_DEPTH 8u

/* Limit on the bytes of memory of a question. */
#define MAX_ASKED (1024 * 1024u)

enum column {
	COL_DEPTH,
	COL_POSITION,
	COL_THREAD,
	COL_INSTRUCTION = COL_POSITION + TS_N_PLACE_COLUMNS,
	COL_KIND,
	COL_PLACE,
	COL_VALUE,
	COL_COUNT,
};

static const struct ts_column columns[] = {
	[COL_DEPTH] = { .name = "depth", .type = TS_COLUMN_NUMBER },
	TS_PLACE_COLUMNS(COL_POSITION),
	[COL_INSTRUCTION] = { .name = "instruction", .type = TS_COLUMN_TEXT },
	[COL_KIND] = { .name = "kind", .type = TS_COLUMN_TEXT },
	[COL_PLACE] = { .name = "place", .type = TS_COLUMN_TEXT },
	[COL_VALUE] = { .name = "value", .type = TS_COLUMN_VALUE },
	[COL_COUNT] = { .name = "count", .type = TS_COLUMN_NUMBER },
};

static const char *const kind_names[] = {
	[TS_CAUSE_WRITE] = "write",	    [TS_CAUSE_BRANCH] = "branch",   [TS_CAUSE_SEEN] = "seen",
	[TS_CAUSE_CUT] = "cut",		    [TS_CAUSE_INPUT] = "input",	    [TS_CAUSE_MAP] = "map",
	[TS_CAUSE_START] = "start",	    [TS_CAUSE_CONSTANT] = "constant",
	[TS_CAUSE_PROCESSOR] = "processor", [TS_CAUSE_UNKNOWN] = "unknown",
};

struct why {
	struct ts_rows rows;
	struct ts_location *what; /* owned */
	struct ts_cause *cause;   /* owned */
	const struct ts_cause_node *node; /* whose rows are being made */
	unsigned range;           /* the next one of its ranges */
	uint32_t thread;          /* of the question */
	bool is_over;             /* all rows have been made */
	struct ts_cell_bytes bytes; /* of the value of a row */
};

/* -------------------------------------------------------------------------------------------------- input */

/* A place that was written at a step: bytes [first, last] of memory of a process, or a register of a thread. */
struct input_place {
	bool is_memory;
	bool is_input;    /* of memory: the kernel wrote it */
	uint32_t process; /* of memory */
	uint32_t thread;  /* of a register */
	uint64_t first, last;
};

/* The number of earlier calls that are examined to find the offset in a file. */
#define MAX_CALLS 4096u

/* The number of bytes that are shown. */
#define MAX_INPUT 16u

#define NO_OFFSET UINT64_MAX

/* Calls that fill a buffer, or several one after the other, with as many bytes as they return: their arguments. */
static const struct filler {
	const char *name;
	enum { ONE_BUFFER, VECTOR, MESSAGE } kind; /* the argument is its address, that of struct iovecs, of a struct msghdr */
	int8_t buffer, descriptor; /* -1: it has none */
} fillers[] = {
	{ "getcwd", ONE_BUFFER, 0, -1 },    { "getdents64", ONE_BUFFER, 1, 0 }, { "getrandom", ONE_BUFFER, 0, -1 },
	{ "pread64", ONE_BUFFER, 1, 0 },    { "preadv", VECTOR, 1, 0 },		{ "preadv2", VECTOR, 1, 0 },
	{ "read", ONE_BUFFER, 1, 0 },	    { "readlink", ONE_BUFFER, 1, -1 },	{ "readlinkat", ONE_BUFFER, 2, -1 },
	{ "readv", VECTOR, 1, 0 },	    { "recv", ONE_BUFFER, 1, 0 },	{ "recvfrom", ONE_BUFFER, 1, 0 },
	{ "recvmsg", MESSAGE, 1, 0 },
};

/* Bytes [from, to] of what a call filled in. */
struct filled {
	const struct filler *by; /* NULL: none of these calls */
	uint64_t from, to;
};

/* The number of struct iovec that a call may have, UIO_MAXIOV. */
#define MAX_VECTORS 1024u

static bool has_failed(const struct ts_query *q, const struct ts_event *e)
{
	uint64_t mask = ts_arch_addr_mask(ts_query_regset(q)->arch);

	return !e->has_ret || (e->ret & mask) > (mask & -UINT64_C(4096));
}

static const char *name_of(const struct ts_query *q, const struct ts_event *e, char *name, size_t size)
{
	const char *known = ts_syscall_name(ts_query_regset(q)->arch, e->number, name, size);

	return known ? known : "";
}

static bool is_any(const char *name, const char *const *names)
{
	for (; *names; names++) {
		if (!strcmp(name, *names))
			return true;
	}
	return false;
}

/*
 * The file offset of @descriptor before the @i-th system call.  It follows from the earlier calls: from open
 * or the last lseek, plus the bytes that were read and written since.
 */
static uint64_t file_offset(const struct ts_query *q, uint64_t i, uint64_t descriptor)
{
	static const char *const openers[] = { "open", "openat", "openat2", "creat", NULL };
	static const char *const movers[] = { "read", "readv", "write", "writev", NULL };
	uint64_t moved = 0;

	for (unsigned n = 0; i-- > 0 && n < MAX_CALLS; n++) {
		const struct ts_event *e = &ts_query_event(q, TS_EV_SYSCALL, i)->event;
		char buf[64];
		const char *name = name_of(q, e, buf, sizeof(buf));

		if (has_failed(q, e))
			continue;
		if (is_any(name, openers) && e->ret == descriptor)
			return moved;
		if (!e->n_args || (e->args[0] & UINT32_MAX) != descriptor)
			continue;
		if (!strcmp(name, "lseek"))
			return e->ret + moved;
		if (is_any(name, movers))
			moved += e->ret;
		else if (!strcmp(name, "close") || !strncmp(name, "dup", 3) || !strncmp(name, "send", 4))
			return NO_OFFSET;
	}
	return NO_OFFSET;
}

static void put_call(const struct ts_query *q, const struct ts_event *e, struct ts_buf *text)
{
	char buf[64];
	const char *name = name_of(q, e, buf, sizeof(buf));

	if (*name)
		ts_buf_printf(text, "%s(", name);
	else
		ts_buf_printf(text, "#%" PRIu64 "(", e->number);
	for (unsigned i = 0; i < e->n_args && i < 3; i++)
		ts_buf_printf(text, "%s0x%" PRIx64, i ? ", " : "", e->args[i]);
	ts_buf_puts(text, ")");
	if (e->has_ret)
		ts_buf_printf(text, " = 0x%" PRIx64, e->ret);
}

/* The bytes as they are after the step, quoted; those that are not known or not printable as \xNN or ?. */
static bool put_input_bytes(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t first, uint64_t last,
			    struct ts_buf *text, struct ts_error *err)
{
	uint8_t data[MAX_INPUT], known[MAX_INPUT];
	size_t len = last - first < MAX_INPUT ? (size_t)(last - first) + 1 : MAX_INPUT;

	if (!ts_virtual_mem(q, pos + 1, process, first, len, data, known, err))
		return false;
	ts_buf_puts(text, ": \"");
	for (size_t i = 0; i < len; i++) {
		if (!known[i])
			ts_buf_puts(text, "?");
		else if (data[i] >= 0x20 && data[i] < 0x7f && data[i] != '"' && data[i] != '\\')
			ts_buf_printf(text, "%c", data[i]);
		else
			ts_buf_printf(text, "\\x%02x", data[i]);
	}
	ts_buf_puts(text, last - first < MAX_INPUT ? "\"" : "\"...");
	return true;
}

static void put_file_place(const struct ts_query *q, const struct ts_event_at *h, const char *name, int descriptor,
			   uint64_t from, uint64_t to, struct ts_buf *text)
{
	const struct ts_event *e = &h->event;
	uint64_t offset = NO_OFFSET, number = descriptor < 0 ? 0 : e->args[descriptor] & UINT32_MAX;

	if (from == to)
		ts_buf_printf(text, ", byte %" PRIu64, from);
	else
		ts_buf_printf(text, ", bytes %" PRIu64 " to %" PRIu64, from, to);
	if (descriptor < 0)
		return;
	ts_buf_printf(text, " of descriptor %" PRIu64, number);
	if (!strncmp(name, "pread", 5) && e->n_args > 3 && ts_query_regset(q)->arch->addr_bits == 64)
		offset = e->args[3]; /* of preadv2 -1 (NO_OFFSET) is the place in the file; elsewhere it has two registers */
	else if (!strcmp(name, "read") || !strcmp(name, "readv"))
		offset = file_offset(q, ts_query_n_events_below(q, TS_EV_SYSCALL, h->step), number);
	if (offset != NO_OFFSET)
		ts_buf_printf(text, ", from file offset %" PRIu64, offset + from);
}

/* A word of the program's memory as it was when it made the call; false if it is unknown. */
static bool get_word(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t addr, uint64_t *val)
{
	const struct ts_arch *arch = ts_query_regset(q)->arch;
	size_t len = arch->addr_bits / 8;
	uint8_t data[8], known[8];
	struct ts_error ignored = { 0 };

	if (!ts_virtual_mem(q, pos, process, addr, len, data, known, &ignored) || memchr(known, 0, len))
		return false;
	*val = ts_arch_get(arch, data, len);
	return true;
}

/* Does the buffer at @addr, which has the bytes from the @at-th to before @end, have the place? */
static bool is_in_buffer(const struct input_place *place, uint64_t addr, uint64_t at, uint64_t end, struct filled *filled)
{
	if (place->first < addr || place->last < place->first || place->last - addr >= end - at)
		return false;
	filled->from = at + (place->first - addr);
	filled->to = at + (place->last - addr);
	return true;
}

/* Find the place among @n buffers whose struct iovecs are at @vector. */
static bool is_in_vector(struct ts_query *q, const struct ts_event_at *h, const struct input_place *place, uint64_t vector,
			 uint64_t n, struct filled *filled)
{
	unsigned word = ts_query_regset(q)->arch->addr_bits / 8;
	uint64_t at = 0, addr, len, end = h->event.ret;

	for (uint64_t i = 0; i < n && i < MAX_VECTORS && at < end; i++) {
		if (!get_word(q, h->step, place->process, vector + 2 * i * word, &addr) ||
		    !get_word(q, h->step, place->process, vector + (2 * i + 1) * word, &len))
			return false;
		len = len < end - at ? len : end - at;
		if (is_in_buffer(place, addr, at, at + len, filled))
			return true;
		at += len;
	}
	return false;
}

/* Find out whether the call filled in the place; filled->by stays NULL if it is another call. */
static void find_filler(struct ts_query *q, const struct ts_event_at *h, const struct input_place *place, struct filled *filled)
{
	const struct ts_event *e = &h->event;
	unsigned word = ts_query_regset(q)->arch->addr_bits / 8;
	char buf[64];
	const char *name = name_of(q, e, buf, sizeof(buf));

	for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]) && !has_failed(q, e); i++) {
		const struct filler *f = &fillers[i];
		uint64_t at, n;
		bool is_it;

		if (strcmp(name, f->name) != 0 || e->n_args <= (unsigned)f->buffer + (f->kind == VECTOR))
			continue;
		at = e->args[f->buffer];
		if (f->kind == ONE_BUFFER)
			is_it = is_in_buffer(place, at, 0, e->ret, filled);
		else if (f->kind == VECTOR)
			is_it = is_in_vector(q, h, place, at, e->args[f->buffer + 1], filled);
		else
			is_it = get_word(q, h->step, place->process, at + 3 * word, &n) &&
				get_word(q, h->step, place->process, at + 2 * word, &at) && is_in_vector(q, h, place, at, n, filled);
		if (is_it)
			filled->by = f;
	}
}

/*
 * Returns the system call of the step that wrote @place; NULL if none is found.  Calls of several threads may
 * return at one step.  A register belongs to the call of its thread; memory belongs to the call that filled a
 * buffer there, or to the only call.
 */
static const struct ts_event_at *find_call(struct ts_query *q, uint64_t pos, const struct input_place *place,
					   struct filled *filled)
{
	const struct ts_event_at *h, *found = NULL;
	unsigned n = 0;

	filled->by = NULL;
	for (uint64_t i = ts_query_n_events_below(q, TS_EV_SYSCALL, pos);
	     (h = ts_query_event(q, TS_EV_SYSCALL, i)) && h->step == pos; i++) {
		if (!place->is_memory && h->thread != place->thread)
			continue;
		if (place->is_input)
			find_filler(q, h, place, filled);
		if (filled->by)
			return h;
		found = n++ ? NULL : h;
	}
	return found;
}

/*
 * Did the call map a file at @addr?  *offset is set to the file offset of @addr; mmap2 counts pages of 4,096
 * bytes.
 */
static bool maps_file(const struct ts_query *q, const struct ts_event *e, uint64_t addr, uint64_t *offset)
{
	char buf[64];
	const char *name = name_of(q, e, buf, sizeof(buf));
	bool is_paged = !strcmp(name, "mmap2");

	if ((!is_paged && strcmp(name, "mmap") != 0) || has_failed(q, e) || e->n_args < 6 || (uint32_t)e->args[4] == UINT32_MAX ||
	    addr < e->ret || addr - e->ret >= e->args[1])
		return false;
	*offset = (is_paged ? e->args[5] << 12 : e->args[5]) + (addr - e->ret);
	return true;
}

/*
 * Append the system call of step @pos that wrote @place to @text: "read(0x3, 0x404060, 0x10) = 0x8".  If the bytes are
 * in the buffer that the call filled, their offsets in the buffer follow, with the descriptor, the offset in its file if it
 * follows from earlier calls, and the bytes: ", bytes 0 to 3 of descriptor 3, from file offset 16: \"abcd\"".
 *
 * Returns false if the trace cannot be read (@err).  Nothing is appended if the step has no system call, or has several and
 * the one that wrote the place is unknown.
 */
static bool put_input_text(struct ts_query *q, uint64_t pos, const struct input_place *place, struct ts_buf *text,
			   struct ts_error *err)
{
	struct filled filled;
	const struct ts_event_at *h = find_call(q, pos, place, &filled);
	uint64_t at;

	if (!h)
		return true;
	put_call(q, &h->event, text);
	if (!filled.by && place->is_input && place->is_memory && maps_file(q, &h->event, place->first, &at)) {
		ts_buf_printf(text, ", of descriptor %" PRIu32 ", from file offset %" PRIu64, (uint32_t)h->event.args[4], at);
		return put_input_bytes(q, pos, place->process, place->first, place->last, text, err);
	}
	if (!filled.by)
		return true;
	put_file_place(q, h, filled.by->name, filled.by->descriptor, filled.from, filled.to, text);
	return put_input_bytes(q, pos, place->process, place->first, place->last, text, err);
}

/*
 * Append the system call or the signal.  If bytes were unknown before it, append that it may have written
 * them.
 */
static bool put_input(const struct why *y, struct ts_row *row, const struct ts_cause_node *n,
		      const struct ts_cause_range *r, struct ts_error *err)
{
	bool is_memory = n->has_place && n->loc.kind == TS_IN_MEMORY, done;
	const struct input_place place = {
		.is_memory = is_memory,
		.is_input = is_memory && n->kind == TS_CAUSE_INPUT,
		.process = n->loc.owner,
		.thread = n->has_place ? n->loc.owner : ts_query_thread(y->rows.ask->q, n->pos),
		.first = r->first,
		.last = r->last,
	};
	struct ts_buf text;
	size_t begin;

	ts_buf_init(&text);
	if (n->kind == TS_CAUSE_UNKNOWN)
		ts_buf_puts(&text, "known only since ");
	begin = text.len;
	done = put_input_text(y->rows.ask->q, n->pos, &place, &text, err);
	if (done && ts_buf_ok(&text) && text.len > begin)
		ts_row_text_len(row, COL_INSTRUCTION, (const char *)text.data, text.len);
	ts_buf_fini(&text);
	return done;
}

/* -------------------------------------------------------------------------------------------------- value */

static bool put_place(struct why *y, const struct ts_cause_node *n, const struct ts_cause_range *r,
		      struct ts_row *row, struct ts_error *err)
{
	const struct ts_cell_place place = { n->loc.kind, n->loc.owner, r->first, r->last, n->loc.mask };
	uint64_t pos = n->pos == TS_NO_POS ? n->before : n->pos + 1;

	if (n->loc.kind == TS_IN_MEMORY && n->count > 1 && n->pos != TS_NO_POS)
		pos = n->last_pos + 1;
	ts_cell_place_name(row, COL_PLACE, y->rows.ask, &place);
	return ts_cell_place_value(row, COL_VALUE, y->rows.ask, pos, &place, &y->bytes, err);
}

/* --------------------------------------------------------------------------------------------------- rows */

static bool put_row(struct why *y, const struct ts_cause_node *n, const struct ts_cause_range *r,
		    struct ts_row *row, struct ts_error *err)
{
	char text[32];

	ts_row_number(row, COL_DEPTH, n->depth);
	if (n->pos != TS_NO_POS && !ts_cell_step(row, COL_POSITION, y->rows.ask, n->pos, n->thread, err))
		return false;
	if (n->pos == TS_NO_POS && n->has_place && n->loc.kind != TS_IN_MEMORY)
		ts_cell_thread(row, COL_THREAD, y->rows.ask, n->loc.owner);
	if ((n->kind == TS_CAUSE_INPUT || (n->kind == TS_CAUSE_UNKNOWN && n->pos != TS_NO_POS)) &&
	    !put_input(y, row, n, r, err))
		return false;
	ts_row_text(row, COL_KIND, kind_names[n->kind]);
	ts_row_number(row, COL_COUNT, n->count);
	if (n->has_place)
		return put_place(y, n, r, row, err);
	if (n->kind == TS_CAUSE_CONSTANT) {
		snprintf(text, sizeof(text), "0x%" PRIx64, n->constant);
		ts_row_text(row, COL_VALUE, text);
	}
	return true;
}

static void set_note(struct why *y)
{
	if (ts_cause_is_cut(y->cause) && !*y->rows.note)
		snprintf(y->rows.note, sizeof(y->rows.note), "more takes part than is shown: see rows of kind cut; depth N goes further");
	y->rows.is_cut = ts_cause_is_cut(y->cause);
	if (!*y->rows.note && !y->rows.qn->is_branch)
		ts_note_unmapped(y->rows.ask->q, &y->rows.qn->what, ts_query_process(y->rows.ask->q, y->thread), y->rows.note,
				 sizeof(y->rows.note));
}

/* Set the note with the reason why no branch was found, which may be that code is unknown. */
static bool note_no_branch(struct why *y, struct ts_error *err)
{
	uint64_t pos = y->rows.qn->at ? ts_query_prev_step(y->rows.ask->q, y->thread, y->rows.qn->at - 1) : TS_NO_POS;
	const struct ts_decoded *d = pos == TS_NO_POS ? NULL : ts_query_insn(y->rows.ask->q, pos, err);

	if (d && !d->is_insn && ts_query_has_operands(y->rows.ask->q))
		snprintf(y->rows.note, sizeof(y->rows.note),
			 "the bytes of the instruction at 0x%" PRIx64
			 " are not known: --exec or --image may have them",
			 d->pc);
	return d || pos == TS_NO_POS;
}

/* Advance to the next range of memory of the node, or to the next node. */
static bool next_part(struct why *y)
{
	if (y->node && y->range < y->node->n_ranges && y->node->has_place)
		return true;
	if (y->is_over)
		return false;
	y->range = 0;
	y->node = ts_cause_next(y->cause, y->node);
	y->is_over = !y->node;
	return y->node != NULL;
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			 struct ts_error *err)
{
	struct why *y = (struct why *)rows;
	const struct ts_cause_range none = { 0, 0 };
	const struct ts_cause_range *r = &none;
	enum ts_next got = ts_cause_run(y->cause, budget, &y->rows.at, err);

	if (got != TS_END)
		return got;
	set_note(y);
	if (!next_part(y))
		return !y->rows.qn->is_branch || note_no_branch(y, err) ? TS_END : TS_FAIL;
	if (y->range < y->node->n_ranges)
		r = &y->node->ranges[y->range];
	y->range++;
	return put_row(y, y->node, r, row, err) ? TS_ITEM : TS_FAIL;
}

static void close_why(struct ts_rows *rows)
{
	struct why *y = (struct why *)rows;

	ts_cause_close(y->cause);
	free(y->what);
}

static bool open_cause(struct why *y)
{
	const struct ts_question *qn = y->rows.qn;
	struct ts_query *q = y->rows.ask->q;
	struct ts_cause_question question = { .thread = y->thread,
					      .at = qn->at,
					      .max_depth = qn->depth == TS_NO_LIMIT ? DEFAULT_DEPTH : qn->depth,
					      .with_addresses = qn->with_addresses,
					      .only_leaves = qn->only_inputs };

	if (!qn->is_branch && !qn->what.is_pc) {
		y->what = ts_what_locations(&qn->what, ts_query_regset(q), y->thread,
					    ts_query_process(q, y->thread), &question.n_what);
		if (!y->what)
			return false;
		question.what = y->what;
	}
	y->cause = ts_cause_open(q, &question);
	return y->cause != NULL;
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct why *y = (struct why *)rows;
	const struct ts_question *qn = rows->qn;

	if (qn->what.kind == TS_WHAT_MEM && qn->what.last - qn->what.addr >= MAX_ASKED)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "why accepts at most %u bytes of memory", MAX_ASKED);
	y->thread = ts_ask_thread(rows->ask, qn);
	if (!open_cause(y))
		return ts_no_memory(err, "a question");
	ts_note_undecoded(rows, "inputs are what the recording says was read");
	return true;
}

static const struct ts_rows_ops ops = { sizeof(struct why), begin, next, close_why };

const struct ts_verb ts_verb_why = {
	.name = "why",
	.synopsis = "WHAT|branch [depth N] [inputs] [addresses]",
	.help = "Show where a value came from, or what decided the last branch.",
	.example = "why $sp",
	TS_COLUMNS(columns),
	.operand = TS_OPERAND_WHAT,
	.is_of_moment = true,
	.takes = TS_TAKES_THREAD | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_DEPTH | TS_TAKES_BRANCH,
	.rows = &ops,
};
