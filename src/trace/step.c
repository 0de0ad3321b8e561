/* SPDX-License-Identifier: MIT */
#include "step.h"

#include <assert.h>
#include <stdlib.h>

#include "src/base/bytes.h"

void ts_steps_init(struct ts_steps *b)
{
	*b = (struct ts_steps){ 0 };
}

void ts_steps_fini(struct ts_steps *b)
{
	free(b->steps);
	free(b->effects);
	free(b->data);
	free(b->maps);
	free(b->modules);
	free(b->events);
	ts_steps_init(b);
}

void ts_steps_reset(struct ts_steps *b)
{
	b->n_steps = b->n_effects = b->n_data = b->n_maps = b->n_modules = b->n_events = b->n_closed = 0;
	b->is_failed = b->is_limited = false;
}

/* What is there for any steps, however little memory is allowed. */
#define MIN_ARRAY (UINT64_C(4) << 20)

/* Of the memory, the share of one array, of which two are long and double. */
#define SHARES 4u

void ts_steps_bound(struct ts_steps *b, uint64_t max_memory)
{
	b->max = max_memory && max_memory / SHARES < MIN_ARRAY ? MIN_ARRAY : max_memory / SHARES;
}

/*
 * Double @cap until it holds @need items of @item_len bytes; counts are 32 bits, and UINT32_MAX means "none".
 */
static bool grow(struct ts_steps *b, void **array, uint32_t *cap, uint64_t need, size_t item_len)
{
	uint64_t n = *cap ? *cap : 64;
	void *p;

	while (n < need)
		n *= 2;
	b->is_limited |= b->max && n * item_len > b->max;
	p = n < UINT32_MAX && !b->is_limited ? realloc(*array, (size_t)n * item_len) : NULL;
	if (!p) {
		b->is_failed = true;
		return false;
	}
	*array = p;
	*cap = (uint32_t)n;
	return true;
}

bool ts_steps_grow_effects(struct ts_steps *b)
{
	return grow(b, (void **)&b->effects, &b->cap_effects, (uint64_t)b->n_effects + 1,
		    sizeof(*b->effects));
}

bool ts_steps_grow_data(struct ts_steps *b, size_t len)
{
	if (len > UINT32_MAX) {
		b->is_failed = true;
		return false;
	}
	return grow(b, (void **)&b->data, &b->cap_data, (uint64_t)b->n_data + len, 1);
}

bool ts_steps_grow_room(struct ts_steps *b, uint32_t n, size_t len)
{
	return (b->cap_effects - b->n_effects >= n ||
		grow(b, (void **)&b->effects, &b->cap_effects, (uint64_t)b->n_effects + n,
		     sizeof(*b->effects))) &&
	       (b->cap_data - b->n_data >= len || ts_steps_grow_data(b, len));
}

bool ts_steps_grow_steps(struct ts_steps *b)
{
	return grow(b, (void **)&b->steps, &b->cap_steps, (uint64_t)b->n_steps + 1, sizeof(*b->steps));
}

/* Make the @n @items an array of @to. */
static bool copy(struct ts_steps *to, void **array, uint32_t *cap, const void *items, uint32_t n,
		 size_t item_len)
{
	if (*cap < n && !grow(to, array, cap, n, item_len))
		return false;
	if (n)
		ts_copy_away(*array, items, n * item_len);
	return true;
}

#define COPY(name)                                                                        \
	copy(to, (void **)&to->name, &to->cap_##name, from->name, from->n_##name, sizeof(*from->name))

void ts_steps_copy(struct ts_steps *to, const struct ts_steps *from)
{
	ts_steps_reset(to);
	to->is_failed = from->is_failed;
	if (!COPY(steps) || !COPY(effects) || !COPY(data) || !COPY(maps) || !COPY(modules) || !COPY(events))
		return;
	to->n_steps = from->n_steps;
	to->n_effects = from->n_effects;
	to->n_data = from->n_data;
	to->n_maps = from->n_maps;
	to->n_modules = from->n_modules;
	to->n_events = from->n_events;
	to->n_closed = from->n_closed;
}

static uint32_t add_text(struct ts_steps *b, const char *text, size_t len)
{
	uint32_t off = b->n_data;

	if (!text)
		return TS_NO_DATA;
	if (b->cap_data - b->n_data <= len && !ts_steps_grow_data(b, len + 1))
		return TS_NO_DATA;
	memcpy(b->data + off, text, len);
	b->data[off + len] = '\0';
	b->n_data += (uint32_t)len + 1;
	return off;
}

/* Is there room for one more item? */
#define ROOM(b, name) \
	((b)->n_##name < (b)->cap_##name || \
	 grow(b, (void **)&(b)->name, &(b)->cap_##name, (uint64_t)(b)->n_##name + 1, sizeof(*(b)->name)))

struct ts_map *ts_steps_map(struct ts_steps *b, uint64_t addr, uint64_t len, const char *desc,
			    size_t desc_len, const char *file, size_t file_len)
{
	struct ts_effect *e = ts_steps_effect(b, TS_FX_MAP, addr, len);
	struct ts_map *m;

	if (!e)
		return NULL;
	if (!ROOM(b, maps))
		return NULL;
	e->item = b->n_maps;
	m = &b->maps[b->n_maps++];
	*m = (struct ts_map){ .addr = addr, .len = len };
	m->desc = add_text(b, desc, desc_len);
	m->file = add_text(b, file, file_len);
	return b->is_failed ? NULL : m;
}

bool ts_steps_load(struct ts_steps *b, uint64_t addr, uint64_t len, const char *file, size_t file_len)
{
	struct ts_effect *e = ts_steps_effect(b, TS_FX_LOAD, addr, len);

	if (!e)
		return false;
	if (!ROOM(b, modules))
		return false;
	e->item = b->n_modules;
	b->modules[b->n_modules++] = (struct ts_module){ addr, len, add_text(b, file, file_len) };
	return !b->is_failed;
}

struct ts_event *ts_steps_event(struct ts_steps *b, enum ts_event_kind kind)
{
	struct ts_effect *e = ts_steps_effect(b, TS_FX_EVENT, 0, 0);
	struct ts_event *ev;

	if (!e)
		return NULL;
	if (!ROOM(b, events))
		return NULL;
	e->item = b->n_events;
	ev = &b->events[b->n_events++];
	*ev = (struct ts_event){ .kind = kind };
	return ev;
}

/* Does @e go on where @last ends, in memory and in the batch's data? */
static bool is_continued(const struct ts_effect *last, const struct ts_effect *e)
{
	return e->kind == last->kind && (e->kind == TS_FX_WRITE || e->kind == TS_FX_READ) &&
	       e->is_hidden == last->is_hidden && e->is_code == last->is_code && e->data != TS_NO_DATA &&
	       last->data != TS_NO_DATA && e->data == last->data + last->len && last->addr + last->len == e->addr && e->addr;
}

void ts_steps_join(struct ts_steps *b)
{
	struct ts_effect *last = &b->effects[b->n_closed];

	for (uint32_t i = b->n_closed + 1; i < b->n_effects; i++) {
		if (is_continued(last, &b->effects[i]))
			last->len += b->effects[i].len;
		else
			*++last = b->effects[i];
	}
	b->n_effects = (uint32_t)(last - b->effects) + 1;
}

void ts_steps_extend_last(struct ts_steps *b)
{
	assert(b->n_steps > 0);
	b->steps[b->n_steps - 1].n_effects += b->n_effects - b->n_closed;
	b->n_closed = b->n_effects;
}

void ts_steps_rollback(struct ts_steps *b, uint32_t n)
{
	assert(n >= b->n_closed && n <= b->n_effects);
	for (uint32_t i = b->n_effects; i-- > n && !b->is_failed;) {
		const struct ts_effect *e = &b->effects[i];

		if (e->kind == TS_FX_MAP)
			b->n_maps = e->item;
		else if (e->kind == TS_FX_LOAD)
			b->n_modules = e->item;
		else if (e->kind == TS_FX_EVENT)
			b->n_events = e->item;
	}
	b->n_effects = n;
}
