/* SPDX-License-Identifier: MIT */
/*
 * A note is a struct head, then what its kind needs: of a map a struct ts_map and its two texts, of a module its text, of
 * an event a struct ts_event.  Texts have their terminators; those of a map that are not there are not written, its
 * struct says so.  Zeros follow up to a multiple of the head's length: packed arrays are filtered by items
 * (src/index/index_pack.h), and nearly all notes are heads.
 */
#include "journal.h"

#include <string.h>

#include "src/timeline/world/event_list.h"

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

_Static_assert(sizeof(struct ts_map) == 40, "without padding: a file holds the same bytes each time");

static void put_item(struct ts_buf *out, const struct ts_steps *b, const struct ts_effect *e)
{
	struct ts_event clean;

	if (e->kind == TS_FX_MAP) {
		ts_buf_put(out, &b->maps[e->item], sizeof(b->maps[0]));
		put_text(out, b, b->maps[e->item].desc);
		put_text(out, b, b->maps[e->item].file);
	} else if (e->kind == TS_FX_LOAD) {
		put_text(out, b, b->modules[e->item].file);
	} else if (e->kind == TS_FX_EVENT) {
		ts_event_clean(&clean, &b->events[e->item]);
		ts_buf_put(out, &clean, sizeof(clean));
	}
}

bool ts_journal_has_event(enum ts_event_kind kind)
{
	return kind == TS_EV_EXIT || kind == TS_EV_THREAD_END || kind == TS_EV_GAP;
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

/* The text at *p, NULL if @has is false; *size is what is left. */
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

static bool take_map(const struct head *head, const uint8_t *p, struct ts_steps *b)
{
	uint32_t size = head->size - (uint32_t)sizeof(struct ts_map);
	const char *desc, *file;
	size_t desc_len, file_len;
	struct ts_map map, *m;

	if (head->size < sizeof(map))
		return false;
	memcpy(&map, p, sizeof(map));
	p += sizeof(map);
	if (!head->len || map.prot > PROT_ALL || (unsigned)map.fill > TS_FILL_ZERO)
		return false;
	desc = take_text(&p, &size, map.desc != TS_NO_DATA, &desc_len);
	file = take_text(&p, &size, map.file != TS_NO_DATA, &file_len);
	m = ts_steps_map(b, head->addr, head->len, desc, desc_len, file, file_len);
	if (!m)
		return false;
	m->file_off = map.file_off;
	m->prot = map.prot;
	m->fill = map.fill;
	return true;
}

static bool take_module(const struct head *head, const uint8_t *p, struct ts_steps *b)
{
	uint32_t size = head->size;
	size_t len;
	const char *file = take_text(&p, &size, true, &len);

	return head->len && file && ts_steps_load(b, head->addr, head->len, file, len);
}

static bool take_event(const struct head *head, const uint8_t *p, struct ts_steps *b)
{
	struct ts_event ev, *to;

	if (head->size < sizeof(ev) || !ts_event_is_valid(p))
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

	if (head->len && head->addr > UINT64_MAX - (head->len - 1))
		return false;
	switch ((enum ts_effect_kind)head->kind) {
	case TS_FX_MAP: return take_map(head, p, b);
	case TS_FX_LOAD: return take_module(head, p, b);
	case TS_FX_EVENT: return take_event(head, p, b);
	case TS_FX_UNMAP:
	case TS_FX_PROTECT:
	case TS_FX_FORGET:
	case TS_FX_UNLOAD:
	case TS_FX_FORGET_REGS:
		if (head->kind == TS_FX_PROTECT && head->item > PROT_ALL)
			return false;
		e = ts_steps_effect(b, head->kind, head->addr, head->len);
		if (e && head->kind == TS_FX_PROTECT)
			e->item = head->item;
		return e != NULL;
	default: return false; /* what a step has by itself */
	}
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
