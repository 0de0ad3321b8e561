/* SPDX-License-Identifier: MIT */
/*
 * The data of a line are, without padding: for each block of TS_VERSION_BLOCK versions but the first, where
 * it begins in these data (32 bits); then the blocks.  The first version of a block is whole, and those of
 * which all bytes were changed; of the others there are the bytes that were changed.  A whole version is a
 * byte that determines what follows (enum form).
 */
#include "versions.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/collections/vec.h"
#include "src/index/index_blocks.h"
#include "src/index/index_write.h"

enum form {
	FULL,    /* all bytes of the line are known: 16 bytes */
	UNIFORM, /* they are all the same: 1 byte */
	PARTIAL, /* which bytes are known (16 bits), and those */
};

/* Link the version that is next. */
static bool add_link(struct ts_changes *c, uint32_t *chain)
{
	if (c->n_links == UINT32_MAX ||
	    !TS_PUSH(c->links, c->n_links, c->cap_links, (struct ts_link){ (uint32_t)c->touches.n, *chain }))
		return false;
	*chain = (uint32_t)c->n_links;
	return true;
}

bool ts_changes_add(struct ts_changes *c, uint32_t page, uint8_t line, uint16_t chunk,
		    const struct ts_version *v, uint32_t *chain)
{
	size_t n = c->touches.n;

	if ((v->lost && !add_link(c, chain)) || !ts_touches_add(&c->touches, page, line, chunk, v->changed))
		return false;
	if (!ts_vec_reserve(&c->items, n, &c->cap, 1, sizeof(*c->items)))
		return false;
	c->items[n] = *v;
	return true;
}

void ts_changes_reset(struct ts_changes *c)
{
	c->touches.n = 0;
	c->n_links = 0;
}

void ts_changes_fini(struct ts_changes *c)
{
	ts_touches_fini(&c->touches);
	free(c->items);
	free(c->links);
	*c = (struct ts_changes){ 0 };
}

/*
 * The bytes that this version's chunk lost leave the mask: before it they were something else.  Returns false
 * if the version has not lost these bytes.
 */
static bool complete(struct ts_version *v, const uint8_t *data, uint16_t *mask)
{
	uint16_t ends = v->known & v->lost & *mask;

	if ((v->lost & *mask) != *mask)
		return false;
	for (unsigned i = 0; i < TS_LINE_LEN; i++) {
		if (*mask >> i & 1)
			v->data[i] = data[i];
	}
	v->known |= *mask;
	v->lost &= (uint16_t)~*mask;
	*mask &= (uint16_t)~ends;
	return true;
}

void ts_changes_complete(struct ts_changes *c, uint32_t chain, const uint8_t *data, uint16_t *mask)
{
	for (; chain && *mask; chain = c->links[chain - 1].prev) {
		bool done = complete(&c->items[c->links[chain - 1].item], data, mask);

		assert(done);
		(void)done;
	}
}

/*
 * The @n versions of a line that stay as they were noted; NULL if it is not such a line, or they are not
 * there.
 */
static struct ts_version *plain_of(const struct ts_versions *set, uint32_t line, uint32_t n)
{
	uint32_t off;

	ts_index_blocks_use(set->file, &set->offs[line], sizeof(*set->offs));
	off = set->offs[line];
	if (!(off & TS_PLAIN_LINE))
		return NULL;
	off &= ~TS_PLAIN_LINE;
	if (__builtin_expect(off > set->n_plain || n > set->n_plain - off, 0)) {
		ts_index_blocks_note_damage(set->file);
		return NULL;
	}
	if (!set->has_own_plain)
		ts_index_blocks_use(set->file, &set->plain[off], n * sizeof(*set->plain));
	return &set->plain[off];
}

/*
 * What is mapped from a file stays as it is.  Returns false if memory is exhausted, or the file is damaged.
 */
static bool own_plain(struct ts_versions *set)
{
	size_t len = set->n_plain * sizeof(*set->plain);
	struct ts_version *p;

	if (!set->file || set->has_own_plain)
		return true;
	p = malloc(len + 1);
	if (!p || !ts_index_blocks_use(set->file, set->plain, len)) {
		free(p);
		return false;
	}
	memcpy(p, set->plain, len);
	set->plain = p;
	set->has_own_plain = true;
	return true;
}

bool ts_versions_complete(struct ts_versions *set, uint64_t addr, const uint8_t *data, uint16_t *mask)
{
	uint32_t line, first, end;
	struct ts_version *plain;

	if (!*mask || !ts_lines_find(&set->lines, addr, &line))
		return true;
	if (!ts_lines_items(&set->lines, line, &first, &end) || !own_plain(set))
		return false;
	plain = plain_of(set, line, end - first);
	if (!plain)
		return false;
	while (*mask && end-- > first) {
		if (!complete(&plain[end - first], data, mask))
			return false;
	}
	return true;
}

void ts_versions_fini(struct ts_versions *set)
{
	ts_lines_fini(&set->lines);
	if (!set->file) {
		free(set->changed);
		free(set->offs);
		free(set->data);
	}
	if (!set->file || set->has_own_plain)
		free(set->plain);
	*set = (struct ts_versions){ 0 };
}

static unsigned count(uint16_t bytes)
{
	return (unsigned)__builtin_popcount(bytes);
}

/* Is the version whole that is the line's @i-th? */
static bool is_whole(uint32_t i, uint16_t changed)
{
	return i % TS_VERSION_BLOCK == 0 || changed == UINT16_MAX;
}

static uint32_t n_blocks(uint32_t n_items)
{
	return (n_items + TS_VERSION_BLOCK - 1) / TS_VERSION_BLOCK;
}

/* ------------------------------------------------------------------------------------------------ sealing */

static enum form form_of(const struct ts_version *v)
{
	if (v->known != UINT16_MAX)
		return PARTIAL;
	return memcmp(v->data, v->data + 1, TS_LINE_LEN - 1) ? FULL : UNIFORM;
}

static uint8_t *put_bytes(uint8_t *p, uint16_t which, const uint8_t *data)
{
	for (unsigned bits = which; bits; bits &= bits - 1)
		*p++ = data[__builtin_ctz(bits)];
	return p;
}

static uint8_t *put_whole(uint8_t *p, const struct ts_version *v)
{
	enum form form = form_of(v);

	*p++ = (uint8_t)form;
	switch (form) {
	case FULL:
		memcpy(p, v->data, TS_LINE_LEN);
		return p + TS_LINE_LEN;
	case UNIFORM:
		*p = v->data[0];
		return p + 1;
	case PARTIAL:
		break;
	}
	memcpy(p, &v->known, sizeof(v->known));
	return put_bytes(p + sizeof(v->known), v->known, v->data);
}

static size_t whole_len(const struct ts_version *v)
{
	switch (form_of(v)) {
	case FULL:
		return 1 + TS_LINE_LEN;
	case UNIFORM:
		return 1 + 1;
	case PARTIAL:
		break;
	}
	return 1 + sizeof(v->known) + count(v->known);
}

/* The data of the line whose versions are [first, end) of @sorted. */
static uint8_t *put_line(uint8_t *start, uint32_t first, uint32_t end, const struct ts_version *const *sorted)
{
	uint8_t *p = start + (size_t)(n_blocks(end - first) - 1) * sizeof(uint32_t);

	for (uint32_t i = first; i < end; i++) {
		const struct ts_version *v = sorted[i];
		uint32_t block = (i - first) / TS_VERSION_BLOCK, off = (uint32_t)(p - start);

		if ((i - first) % TS_VERSION_BLOCK == 0 && block)
			memcpy(start + (size_t)(block - 1) * sizeof(off), &off, sizeof(off));
		p = is_whole(i - first, v->changed) ? put_whole(p, v) : put_bytes(p, v->changed, v->data);
	}
	return p;
}

static size_t line_len(uint32_t first, uint32_t end, const struct ts_version *const *sorted)
{
	size_t len = (size_t)(n_blocks(end - first) - 1) * sizeof(uint32_t);

	for (uint32_t i = first; i < end; i++)
		len += is_whole(i - first, sorted[i]->changed) ? whole_len(sorted[i])
							       : count(sorted[i]->changed);
	return len;
}

static bool is_plain(uint32_t first, uint32_t end, const struct ts_version *const *sorted)
{
	for (uint32_t i = first; i < end; i++) {
		if (sorted[i]->lost || sorted[i]->changed & ~sorted[i]->known)
			return true;
	}
	return false;
}

/* Find out where each line goes.  Returns false if it is too much. */
static bool measure(struct ts_versions *set, const struct ts_version *const *sorted)
{
	for (size_t line = 0; line < set->lines.n_lines; line++) {
		uint32_t first = set->lines.first[line], end = set->lines.first[line + 1];

		if (is_plain(first, end, sorted)) {
			set->offs[line] = (uint32_t)set->n_plain | TS_PLAIN_LINE;
			set->n_plain += end - first;
		} else {
			set->offs[line] = (uint32_t)set->data_len;
			set->data_len += line_len(first, end, sorted);
		}
		if (set->n_plain >= TS_PLAIN_LINE || set->data_len >= TS_PLAIN_LINE)
			return false;
	}
	return true;
}

static bool pack(struct ts_versions *set, const struct ts_version *const *sorted, size_t n)
{
	set->changed = malloc((n + 1) * sizeof(*set->changed));
	set->offs = malloc((set->lines.n_lines + 1) * sizeof(*set->offs));
	if (!set->changed || !set->offs || !measure(set, sorted))
		return false;
	set->data = malloc(set->data_len + 1);
	set->plain = malloc((set->n_plain + 1) * sizeof(*set->plain));
	if (!set->data || !set->plain)
		return false;
	for (size_t i = 0; i < n; i++)
		set->changed[i] = sorted[i]->changed;
	for (size_t line = 0; line < set->lines.n_lines; line++) {
		uint32_t first = set->lines.first[line], end = set->lines.first[line + 1],
			 off = set->offs[line];

		if (!(off & TS_PLAIN_LINE))
			put_line(set->data + off, first, end, sorted);
		for (uint32_t i = first; off & TS_PLAIN_LINE && i < end; i++)
			set->plain[(off & ~TS_PLAIN_LINE) + (i - first)] = *sorted[i];
	}
	return true;
}

bool ts_versions_seal(struct ts_versions *set, const struct ts_changes *c, const uint64_t *page_addrs,
		      size_t n_pages)
{
	size_t n = c->touches.n;
	const struct ts_version **sorted = malloc((n ? n : 1) * sizeof(const struct ts_version *));
	uint32_t *slots = NULL;
	bool done = false;

	*set = (struct ts_versions){ 0 };
	if (sorted && ts_lines_seal(&set->lines, &c->touches, page_addrs, n_pages, &slots)) {
		for (size_t i = 0; i < n; i++)
			sorted[slots[i]] = &c->items[i];
		done = pack(set, sorted, n);
	}
	free(slots);
	free(sorted);
	if (!done)
		ts_versions_fini(set);
	return done;
}

/* ------------------------------------------------------------------------------------------------ reading */

/* Data of a line that are read; they may come from a file. */
struct data {
	struct ts_index_blocks *file;
	const uint8_t *p;
	size_t left;
	bool is_bad; /* they end too early, or make no sense */
};

/* Take @n bytes; NULL (and is_bad) if there are fewer. */
static const uint8_t *take(struct data *d, size_t n)
{
	const uint8_t *p = d->p;

	if (n > d->left) {
		d->is_bad = true;
		return NULL;
	}
	ts_index_blocks_use(d->file, p, n);
	d->p += n;
	d->left -= n;
	return p;
}

/* Take the bytes @which of a line. */
static void take_bytes(struct data *d, uint16_t which, uint8_t *data)
{
	const uint8_t *p = take(d, count(which));

	for (unsigned bits = p ? which : 0; bits; bits &= bits - 1)
		data[__builtin_ctz(bits)] = *p++;
}

static void take_whole(struct data *d, struct ts_version *v)
{
	const uint8_t *form = take(d, 1), *p;

	v->known = UINT16_MAX;
	switch (form ? *form : UINT8_MAX) {
	case FULL:
		p = take(d, TS_LINE_LEN);
		if (p)
			memcpy(v->data, p, TS_LINE_LEN);
		return;
	case UNIFORM:
		p = take(d, 1);
		if (p)
			memset(v->data, *p, TS_LINE_LEN);
		return;
	case PARTIAL:
		p = take(d, sizeof(v->known));
		if (!p)
			return;
		memcpy(&v->known, p, sizeof(v->known));
		take_bytes(d, v->known, v->data);
		return;
	default:
		d->is_bad = true;
	}
}

/* A block of the data of line @line, which has @n versions, and what follows it. */
static struct data block_data(const struct ts_versions *set, uint32_t line, uint32_t n, uint32_t block)
{
	uint32_t off = set->offs[line];
	struct data d = { set->file, set->data + off, set->data_len - off, off > set->data_len };
	const uint8_t *heads = d.is_bad ? NULL : take(&d, (size_t)(n_blocks(n) - 1) * sizeof(off));

	if (!block || !heads)
		return d;
	memcpy(&off, heads + (size_t)(block - 1) * sizeof(off), sizeof(off));
	d.p = heads;
	d.left = set->data_len - set->offs[line];
	d.is_bad = off > d.left;
	if (!d.is_bad) {
		d.p += off;
		d.left -= off;
	}
	return d;
}

/* The data of a line are wrong: all of it is unknown, and the file is marked as damaged. */
static void note_damage(const struct ts_versions *set, struct ts_version *v)
{
	v->known = v->lost = 0;
	ts_index_blocks_note_damage(set->file);
}

/*
 * The line's @i-th version, of @n, from its data; what is known counts from chunk @from on.  Returns false if
 * the data are wrong.
 */
static bool read_data(const struct ts_versions *set, uint32_t line, uint32_t n, uint32_t i, uint32_t from,
		      struct ts_version *v)
{
	uint32_t first = set->lines.first[line];
	struct data d;

	if (set->offs[line] & TS_PLAIN_LINE)
		return false;
	v->lost = 0;
	d = block_data(set, line, n, i / TS_VERSION_BLOCK);
	ts_index_blocks_use(set->file, &set->changed[first + i - i % TS_VERSION_BLOCK],
		      (i % TS_VERSION_BLOCK + 1) * sizeof(*set->changed));
	for (uint32_t k = i - i % TS_VERSION_BLOCK; k <= i && !d.is_bad; k++) {
		uint16_t changed = set->changed[first + k];

		if (is_whole(k, changed)) {
			take_whole(&d, v);
		} else {
			take_bytes(&d, changed, v->data);
			v->known |= changed;
		}
		if (ts_lines_chunk(&set->lines, first + k) < from)
			v->known = 0;
	}
	return !d.is_bad;
}

bool ts_versions_read(const struct ts_versions *set, uint64_t addr, uint32_t from, uint32_t until,
		      struct ts_version *v)
{
	const struct ts_lines *lines = &set->lines;
	const struct ts_version *plain;
	uint32_t line, first, end, last;

	if (!ts_lines_find(lines, addr, &line) || !ts_lines_items(lines, line, &first, &end))
		return false;
	last = ts_lines_before(lines, first, end, until);
	if (last == end)
		return false;
	plain = plain_of(set, line, end - first);
	if (plain) {
		*v = plain[last - first];
		v->known &= (uint16_t)~v->lost;
		if (ts_lines_chunk(lines, last) < from)
			v->known = v->lost = 0;
	} else if (__builtin_expect(!read_data(set, line, end - first, last - first, from, v), 0)) {
		note_damage(set, v);
	}
	return true;
}

size_t ts_versions_mem(const struct ts_versions *set)
{
	const struct ts_lines *lines = &set->lines;

	if (!set->offs)
		return 0;
	return ts_lines_mem(lines) + lines->n_items * sizeof(*set->changed) +
	       lines->n_lines * sizeof(*set->offs) + set->data_len + set->n_plain * sizeof(*set->plain);
}

/* -------------------------------------------------------------------------------------------- index files */

void ts_versions_save(const struct ts_versions *set, struct ts_index_file *f)
{
	ts_lines_save(&set->lines, f);
	ts_index_put_packed(f, set->changed, set->lines.n_items, sizeof(*set->changed));
	ts_index_put_packed(f, set->offs, set->lines.n_lines, sizeof(*set->offs));
	ts_index_put_packed(f, set->data, set->data_len, 1);
	ts_index_put_packed(f, set->plain, set->n_plain, sizeof(*set->plain));
}

bool ts_versions_load(struct ts_versions *set, struct ts_index_arrays *a, uint32_t n_chunks)
{
	struct ts_versions v = { .file = a->blocks };
	size_t n_changed, n_offs;

	*set = (struct ts_versions){ 0 };
	if (!ts_lines_load(&v.lines, a, n_chunks))
		return false;
	v.changed = ts_index_take_unread(a, sizeof(*v.changed), &n_changed);
	v.offs = ts_index_take_unread(a, sizeof(*v.offs), &n_offs);
	v.data = ts_index_take_unread(a, 1, &v.data_len);
	v.plain = ts_index_take_unread(a, sizeof(*v.plain), &v.n_plain);
	if (a->is_bad || n_changed != v.lines.n_items || n_offs != v.lines.n_lines)
		return false;
	*set = v;
	return true;
}
