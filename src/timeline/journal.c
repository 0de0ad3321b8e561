/* SPDX-License-Identifier: MIT */
/*
 * A note is a struct head, then what its kind needs: a struct ts_map, ts_module or ts_event and the texts,
 * each with its terminator, in the order of the struct's fields.  Texts that are not there are not written;
 * their offsets say so.  Zeros follow up to a multiple of the head's length: packed arrays are filtered by items (src/index/index_pack.h),
 * and where the thread changes at each step nearly all notes are heads.
 */
#include "journal.h"

#include <string.h>

#include "event_list.h"

struct head {
	uint64_t pos, addr, len;
	uint32_t thread, item, kind, size; /* size: of what follows, with the zeros */
};
_Static_assert(sizeof(struct head) == TS_JOURNAL_ITEM, "columns of heads are packed together");

static void put_text(struct ts_buf *out, const struct ts_steps *b, uint32_t off)
{
	const char *text = ts_steps_text(b, off);

	if (text)
		ts_buf_put(out, text, strlen(text) + 1);
}

/* Structs without what is in their padding: a file holds the same bytes each time. */

static void put_map(struct ts_buf *out, const struct ts_map *m)
{
	struct ts_map clean;

	memset(&clean, 0, sizeof(clean));
	clean.addr = m->addr;
	clean.len = m->len;
	clean.file_off = m->file_off;
	clean.prot = m->prot;
	clean.desc = m->desc;
	clean.file = m->file;
	clean.fill = m->fill;
	ts_buf_put(out, &clean, sizeof(clean));
}

static void put_module(struct ts_buf *out, const struct ts_module *m)
{
	struct ts_module clean;

	memset(&clean, 0, sizeof(clean));
	clean.addr = m->addr;
	clean.len = m->len;
	clean.file = m->file;
	ts_buf_put(out, &clean, sizeof(clean));
}

static void put_event(struct ts_buf *out, const struct ts_event *ev)
{
	struct ts_event clean;

	ts_event_clean(&clean, ev);
	ts_buf_put(out, &clean, sizeof(clean));
}

static void put_item(struct ts_buf *out, const struct ts_steps *b, const struct ts_effect *e)
{
	switch (e->kind) {
	case TS_FX_MAP:
		put_map(out, &b->maps[e->item]);
		put_text(out, b, b->maps[e->item].desc);
		put_text(out, b, b->maps[e->item].file);
		break;
	case TS_FX_LOAD:
		put_module(out, &b->modules[e->item]);
		put_text(out, b, b->modules[e->item].file);
		break;
	case TS_FX_EVENT:
		put_event(out, &b->events[e->item]);
		break;
	case TS_FX_REG_WRITE:
	case TS_FX_REG_READ:
	case TS_FX_WRITE:
	case TS_FX_READ:
	case TS_FX_UNMAP:
	case TS_FX_PROTECT:
	case TS_FX_FORGET:
	case TS_FX_THREAD:
	case TS_FX_UNLOAD:
	case TS_FX_FORGET_REGS:
	case TS_FX_UNSEEN:
		break;
	}
}

bool ts_journal_has_event(enum ts_event_kind kind)
{
	switch (kind) {
	case TS_EV_EXIT:
	case TS_EV_THREAD_END:
	case TS_EV_GAP: return true;
	case TS_EV_SYSCALL:
	case TS_EV_SIGNAL:
	case TS_EV_FAULT:
	case TS_EV_INTERRUPT: break;
	}
	return false;
}

void ts_journal_effect(struct ts_buf *out, uint64_t pos, uint32_t thread, const struct ts_steps *b,
		       const struct ts_effect *e)
{
	struct head head = { pos, e->addr, e->len, thread, ts_effect_item(e), e->kind, 0 };
	size_t start = out->len;

	ts_buf_put(out, &head, sizeof(head));
	put_item(out, b, e);
	while (ts_buf_ok(out) && (out->len - start) % sizeof(head))
		ts_buf_putc(out, 0);
	if (!ts_buf_ok(out))
		return;
	head.size = (uint32_t)(out->len - start - sizeof(head));
	memcpy(out->data + start, &head, sizeof(head));
}

void ts_journal_run(struct ts_buf *out, uint64_t pos, uint32_t thread)
{
	struct head head = { .pos = pos, .thread = thread, .kind = TS_FX_THREAD };

	ts_buf_put(out, &head, sizeof(head));
}

/* The text at *p, NULL if @has says that there is none; *size is what is left. */
static const char *take_text(const uint8_t **p, uint32_t *size, bool has, size_t *len)
{
	const char *text = (const char *)*p;

	*len = 0;
	if (!has || !memchr(text, '\0', *size))
		return NULL;
	*len = strlen(text);
	*p += *len + 1;
	*size -= (uint32_t)*len + 1;
	return text;
}

#define PROT_ALL (TS_PROT_READ | TS_PROT_WRITE | TS_PROT_EXEC)

/* Is it a range of at least a byte that does not pass the end of the space? */
static bool is_range(uint64_t addr, uint64_t len)
{
	return len && addr <= UINT64_MAX - (len - 1);
}

static bool take_map(const uint8_t *p, uint32_t size, struct ts_steps *b)
{
	const char *desc, *file;
	size_t desc_len, file_len;
	struct ts_map map, *m;

	if (size < sizeof(map))
		return false;
	memcpy(&map, p, sizeof(map));
	if (!is_range(map.addr, map.len) || map.prot > PROT_ALL || (unsigned)map.fill > TS_FILL_ZERO)
		return false;
	p += sizeof(map);
	size -= (uint32_t)sizeof(map);
	desc = take_text(&p, &size, map.desc != TS_NO_DATA, &desc_len);
	file = take_text(&p, &size, map.file != TS_NO_DATA, &file_len);
	m = ts_steps_map(b, map.addr, map.len, desc, desc_len, file, file_len);
	if (!m)
		return false;
	m->file_off = map.file_off;
	m->prot = map.prot;
	m->fill = map.fill;
	return true;
}

static bool take_module(const uint8_t *p, uint32_t size, struct ts_steps *b)
{
	struct ts_module m;
	const char *file;
	size_t len;

	if (size < sizeof(m))
		return false;
	memcpy(&m, p, sizeof(m));
	if (!is_range(m.addr, m.len))
		return false;
	p += sizeof(m);
	size -= (uint32_t)sizeof(m);
	file = take_text(&p, &size, true, &len);
	return file && ts_steps_load(b, m.addr, m.len, file, len);
}

static bool take_event(const uint8_t *p, uint32_t size, struct ts_steps *b)
{
	struct ts_event ev, *to;

	if (size < sizeof(ev) || !ts_event_is_valid(p))
		return false;
	memcpy(&ev, p, sizeof(ev));
	to = ts_steps_event(b, ev.kind);
	if (to)
		*to = ev;
	return to != NULL;
}

static bool take_effect(const struct head *head, const uint8_t *p, struct ts_steps *b)
{
	struct ts_effect *e;

	switch ((enum ts_effect_kind)head->kind) {
	case TS_FX_MAP:
		return take_map(p, head->size, b);
	case TS_FX_LOAD:
		return take_module(p, head->size, b);
	case TS_FX_EVENT:
		return take_event(p, head->size, b);
	case TS_FX_THREAD:
		return true;
	case TS_FX_UNMAP:
	case TS_FX_PROTECT:
	case TS_FX_FORGET:
	case TS_FX_UNLOAD:
	case TS_FX_FORGET_REGS:
		if ((head->len && !is_range(head->addr, head->len)) ||
		    (head->kind == TS_FX_PROTECT && head->item > PROT_ALL))
			return false;
		e = ts_steps_effect(b, head->kind, head->addr, head->len);
		if (e && head->kind == TS_FX_PROTECT)
			e->item = head->item;
		return e != NULL;
	case TS_FX_REG_WRITE:
	case TS_FX_REG_READ:
	case TS_FX_WRITE:
	case TS_FX_READ:
	case TS_FX_UNSEEN:
		break;
	}
	return false;
}

bool ts_journal_next(const uint8_t **p, size_t *len, struct ts_note *note, struct ts_steps *batch)
{
	struct head head;

	if (*len < sizeof(head))
		return false;
	memcpy(&head, *p, sizeof(head));
	if (head.size > *len - sizeof(head))
		return false;
	ts_steps_reset(batch);
	*note = (struct ts_note){ head.pos, head.thread, head.kind };
	if (!take_effect(&head, *p + sizeof(head), batch))
		return false;
	*p += sizeof(head) + head.size;
	*len -= sizeof(head) + head.size;
	return true;
}
