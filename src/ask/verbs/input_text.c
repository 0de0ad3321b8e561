/* SPDX-License-Identifier: MIT */
#include "input_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/arch/syscall_name.h"
#include "src/query/paging.h"

/* So many earlier calls are looked at for the offset in a file. */
#define MAX_CALLS 4096u

/* So many bytes are shown. */
#define MAX_SHOWN 16u

#define NO_OFFSET UINT64_MAX

/* Calls that fill a buffer with as many bytes as they return: which arguments are the buffer and the descriptor. */
static const struct filler {
	const char *name;
	int8_t buffer, descriptor; /* -1: it has none */
} fillers[] = {
	{ "getcwd", 0, -1 },	{ "getdents64", 1, 0 }, { "getrandom", 0, -1 }, { "pread64", 1, 0 },
	{ "read", 1, 0 },	{ "readlink", 1, -1 },	{ "readlinkat", 2, -1 }, { "recv", 1, 0 },
	{ "recvfrom", 1, 0 },
};

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
 * The offset in its file at which @descriptor stood before the @i-th system call, by those before it: from its
 * opening or the last lseek on, moved by what was read and written.
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
static bool put_bytes(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t first, uint64_t last,
		      struct ts_buf *text, struct ts_error *err)
{
	uint8_t data[MAX_SHOWN], known[MAX_SHOWN];
	size_t len = last - first < MAX_SHOWN ? (size_t)(last - first) + 1 : MAX_SHOWN;

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
	ts_buf_puts(text, last - first < MAX_SHOWN ? "\"" : "\"...");
	return true;
}

static void put_place(const struct ts_query *q, const struct ts_event_at *h, const char *name, int descriptor,
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
	if (!strcmp(name, "pread64") && e->n_args > 3)
		offset = e->args[3];
	else if (!strcmp(name, "read"))
		offset = file_offset(q, ts_query_n_events_below(q, TS_EV_SYSCALL, h->step), number);
	if (offset != NO_OFFSET)
		ts_buf_printf(text, ", from file offset %" PRIu64, offset + from);
}

/* Of a call that filled a buffer which has the byte at @addr: what it is in fillers; NULL if it is none. */
static const struct filler *find_filler(const struct ts_query *q, const struct ts_event *e, uint64_t addr)
{
	char buf[64];
	const char *name = name_of(q, e, buf, sizeof(buf));

	for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]) && !has_failed(q, e); i++) {
		uint64_t at = e->n_args > fillers[i].buffer ? e->args[fillers[i].buffer] : 0;

		if (!strcmp(name, fillers[i].name) && e->n_args > fillers[i].buffer && addr >= at && addr - at < e->ret)
			return &fillers[i];
	}
	return NULL;
}

/*
 * The system call of the step that @place is about; NULL if there is none.  Calls of several threads may return at one
 * step: a register has that of its thread, memory the one that filled a buffer there, or the only one.
 */
static const struct ts_event_at *find_call(struct ts_query *q, uint64_t pos, const struct ts_input_place *place,
					   const struct filler **filler)
{
	const struct ts_event_at *h, *found = NULL;
	unsigned n = 0;

	*filler = NULL;
	for (uint64_t i = ts_query_n_events_below(q, TS_EV_SYSCALL, pos);
	     (h = ts_query_event(q, TS_EV_SYSCALL, i)) && h->step == pos; i++) {
		if (!place->is_memory && h->thread != place->thread)
			continue;
		*filler = place->is_input ? find_filler(q, &h->event, place->first) : NULL;
		if (*filler)
			return h;
		found = n++ ? NULL : h;
	}
	return found;
}

/*
 * Did the call map a file at @addr?  *offset gets the offset there: mmap2 counts pages of 4,096 bytes.
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

bool ts_input_text(struct ts_query *q, uint64_t pos, const struct ts_input_place *place, struct ts_buf *text,
		   struct ts_error *err)
{
	const struct filler *f;
	const struct ts_event_at *h = find_call(q, pos, place, &f);
	uint64_t at;

	if (!h)
		return true;
	put_call(q, &h->event, text);
	if (!f && place->is_input && place->is_memory && maps_file(q, &h->event, place->first, &at)) {
		ts_buf_printf(text, ", of descriptor %" PRIu32 ", from file offset %" PRIu64, (uint32_t)h->event.args[4], at);
		return put_bytes(q, pos, place->process, place->first, place->last, text, err);
	}
	if (!f)
		return true;
	at = h->event.args[f->buffer];
	put_place(q, h, f->name, f->descriptor, place->first - at, place->last - at, text);
	return put_bytes(q, pos, place->process, place->first, place->last, text, err);
}
