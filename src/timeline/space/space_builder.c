/* SPDX-License-Identifier: MIT */
#include "space_builder.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "space_parts.h"
#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"
#include "src/timeline/world/world_builder.h"

void ts_space_builder_init(struct ts_space_builder *sb, struct ts_space *sp)
{
	*sb = (struct ts_space_builder){ .space = sp,
					 .long_left = TS_LONG_READS,
					 .fresh_left = TS_FRESH_READS,
					 .skipped_left = TS_SKIPPED_READS };
}

void ts_space_builder_fini(struct ts_space_builder *sb)
{
	ts_ordered_fini(&sb->ordered);
	ts_pages_fini(&sb->now);
	ts_changes_fini(&sb->changes);
	ts_touches_fini(&sb->silent);
	ts_touches_fini(&sb->reads);
	for (size_t i = 0; i < sb->cap_touched; i++)
		free(sb->touched[i].marks);
	free(sb->touched);
	free(sb->loose);
	free(sb->holed);
	free(sb->lost);
	free(sb->dirty);
	free(sb->completions);
	ts_space_drop_segment(&sb->packed);
	*sb = (struct ts_space_builder){ 0 };
}

static bool grow_touched(struct ts_space_builder *sb)
{
	size_t last = sb->cap_touched ? sb->cap_touched * 2 - 1 : 63;

	return ts_vec_extend(&sb->touched, &sb->cap_touched, last, sizeof(*sb->touched));
}

/* Give the page its marks for this chunk.  Returns false if memory is exhausted. */
static bool list_page(struct ts_space_builder *sb, struct ts_page *pg)
{
	struct ts_touched *t;

	if (sb->n_touched == sb->cap_touched && !grow_touched(sb)) {
		sb->is_failed = true;
		return false;
	}
	t = &sb->touched[sb->n_touched];
	if (!t->marks)
		t->marks = calloc(1, sizeof(*t->marks));
	if (!t->marks) {
		sb->is_failed = true;
		return false;
	}
	t->page = pg;
	pg->marks = t->marks;
	sb->n_touched++;
	return true;
}

/* Bit i: byte i of the word, counted from its low end, is not 0. */
static inline uint64_t nonzero_bytes(uint64_t x)
{
	x |= x >> 4;
	x |= x >> 2;
	x |= x >> 1;
	return (x & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56;
}

static inline uint64_t load(const uint8_t *p, unsigned len)
{
	uint64_t v = 0;

	memcpy(&v, p, len);
	return le64toh(v);
}

/* What painting makes of a byte that is lost. */
#define LOST 2

/* Bit i: byte i of 64, which are 0, 1 or LOST, is @value. */
static uint64_t bits_of(const uint8_t *known, uint8_t value)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < 64; i += 8)
		bits |= nonzero_bytes(load(known + i, 8) & UINT64_C(0x0101010101010101) * value) << i;
	return bits;
}

/* Bytes of a word of the page are lost.  Returns false if memory is exhausted. */
static bool lose(struct ts_space_builder *sb, struct ts_page *pg, unsigned word, uint64_t bits)
{
	if (!pg->is_holed) {
		if (!TS_PUSH(sb->holed, sb->n_holed, sb->cap_holed, pg))
			return false;
		pg->is_holed = true;
	}
	if (!ts_page_lose(pg, word, bits))
		return false;
	pg->holes->old[word] &= ~bits;
	return true;
}

/* Of the word at @addr, the bytes that were lost since the last gap, as an index file says. */
static uint64_t lost_since_gap(const struct ts_space_builder *sb, uint64_t addr)
{
	size_t at = 0;
	uint64_t bytes = 0;

	TS_BISECT(at, sb->n_lost, i, sb->lost[i].addr < addr);
	for (; at < sb->n_lost && sb->lost[at].addr == addr; at++)
		bytes |= sb->lost[at].bytes;
	return bytes;
}

/*
 * The page @pg, which is new, holds what its layers hold, and what an index file says of the chunks before.
 * Without the image: a value seen that differs from a file's completes the past, it contradicts nothing.
 */
static bool paint_page(struct ts_space_builder *sb, struct ts_page *pg)
{
	struct ts_painting p = { sb->space, NULL, sb->resumed, UINT64_MAX, LOST };
	uint64_t first = pg->page << TS_PAGE_BITS;
	uint8_t known[TS_PAGE_LEN];

	ts_space_paint(&p, sb->space->layers.n, first, first + (TS_PAGE_LEN - 1), pg->data, known);
	for (unsigned word = 0; word < TS_PAGE_LEN / 64; word++) {
		uint64_t lost = bits_of(known + word * 64, LOST);

		if (lost && !lose(sb, pg, word, lost))
			return false;
		if (lost && sb->gap) {
			pg->holes->saved[word] = lost & lost_since_gap(sb, first + word * 64);
			pg->holes->old[word] |= lost & ~pg->holes->saved[word];
		}
		pg->known[word] |= bits_of(known + word * 64, 1);
	}
	return true;
}

/* The page is to be found in order.  Returns false if memory is exhausted. */
static bool loosen(struct ts_space_builder *sb, struct ts_page *pg)
{
	return TS_PUSH(sb->loose, sb->n_loose, sb->cap_loose, pg);
}

/* A page that no step has touched yet.  Returns NULL if memory is exhausted. */
static struct ts_page *first_touch(struct ts_space_builder *sb, uint64_t page)
{
	struct ts_page *pg = sb->is_failed ? NULL : ts_pages_add(&sb->now, page, 0);

	if (!pg || !paint_page(sb, pg) || !loosen(sb, pg)) {
		sb->is_failed = true;
		return NULL;
	}
	sb->space->n_pages++;
	return pg;
}

/* All of the page starts afresh. */
static void empty_page(struct ts_page *pg, enum ts_fill fill)
{
	memset(pg->data, 0, TS_PAGE_LEN);
	memset(pg->known, fill == TS_FILL_ZERO ? 0xff : 0, sizeof(pg->known));
	if (pg->holes)
		memset(pg->holes->bits, 0, sizeof(pg->holes->bits));
}

/* Nearly always the layer that made the page stale is the last one over it. */
bool ts_space_refresh(struct ts_space_builder *sb, struct ts_page *pg)
{
	uint64_t first = pg->page << TS_PAGE_BITS, last = first + (TS_PAGE_LEN - 1);
	const struct ts_layers *layers = &sb->space->layers;
	struct ts_layer l = { 0 };

	ts_layers_newest(layers, layers->n, first, last, &l);
	pg->is_stale = false;
	if (l.pos && l.first <= first && l.last >= last) {
		empty_page(pg, (enum ts_fill)l.fill);
	} else {
		empty_page(pg, TS_FILL_UNKNOWN);
		sb->is_failed |= !paint_page(sb, pg);
	}
	sb->is_failed |= !loosen(sb, pg);
	return !sb->is_failed;
}

/* A page that is not among the guesses, with its current contents.  Returns NULL if memory is exhausted. */
static __attribute__((noinline)) struct ts_page *find_page(struct ts_space_builder *sb, uint64_t page)
{
	struct ts_page *pg = ts_pages_find(&sb->now, page, 0);

	if (!pg)
		return first_touch(sb, page);
	if (pg->is_stale && !ts_space_refresh(sb, pg))
		return NULL;
	ts_pages_remember(&sb->now, pg);
	return pg;
}

/* A part of a range that lies in one word of a page's bits. */
struct piece {
	struct ts_page *pg;
	unsigned off, len; /* bytes */
	unsigned word;
	uint64_t bits;     /* in that word */
};

/*
 * The piece at @addr of a range with @left bytes left, its page touched.  Returns false if memory is
 * exhausted.
 */
static inline bool take_piece(struct ts_space_builder *sb, uint64_t addr, uint64_t left, struct piece *p)
{
	unsigned room = 64 - (unsigned)addr % 64;

	p->off = (unsigned)(addr % TS_PAGE_LEN);
	p->len = left < room ? (unsigned)left : room;
	p->word = p->off / 64;
	p->bits = ts_bit_run(p->off % 64, p->len);
	p->pg = ts_pages_guess(&sb->now, addr >> TS_PAGE_BITS);
	if (__builtin_expect(!p->pg, 0)) {
		p->pg = find_page(sb, addr >> TS_PAGE_BITS);
		if (!p->pg)
			return false;
	}
	return p->pg->marks || list_page(sb, p->pg);
}

static inline void mark_write(const struct piece *p, uint64_t changed)
{
	p->pg->marks->changed[p->word] |= changed;
	p->pg->marks->written[p->word] |= p->bits;
	p->pg->marks->written_words |= UINT64_C(1) << p->word;
}

/* Copy 8 or 4 bytes, a constant.  Bit i of the result: byte i is not what it was. */
static inline uint64_t copy_word(uint8_t *to, const uint8_t *from, unsigned len)
{
	uint64_t was = load(to, len), is = load(from, len);

	memcpy(to, from, len);
#ifdef __SSE2__ /* two instructions for ten */
	return ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_cvtsi64_si128((long long)was),
							   _mm_cvtsi64_si128((long long)is))) &
	       ((1u << len) - 1);
#else
	return nonzero_bytes(was ^ is);
#endif
}

/* Copy at most 64 bytes.  Bit i of the result: byte i is not what it was. */
static inline uint64_t copy_changes(uint8_t *to, const uint8_t *from, unsigned len)
{
	uint64_t changed = 0;
	unsigned i = 0;

	for (; i + 8 <= len; i += 8)
		changed |= copy_word(to + i, from + i, 8) << i;
	if (len - i >= 4) {
		changed |= copy_word(to + i, from + i, 4) << i;
		i += 4;
	}
	for (; i < len; i++) {
		changed |= (uint64_t)(to[i] != from[i]) << i;
		to[i] = from[i];
	}
	return changed;
}

/* @len is that of the piece. */
static inline __attribute__((always_inline)) void write_piece(const struct piece *p, const uint8_t *data,
							      unsigned len)
{
	uint64_t changed = copy_changes(p->pg->data + p->off, data, len) << p->off % 64;

	mark_write(p, changed | (p->bits & ~p->pg->known[p->word]));
	ts_page_know_word(p->pg, p->word, p->bits);
}

static __attribute__((noinline)) void write_pieces(struct ts_space_builder *sb, uint64_t addr,
						   const uint8_t *data, uint64_t len)
{
	struct piece p;

	for (; len && take_piece(sb, addr, len, &p); addr += p.len, data += p.len, len -= p.len)
		write_piece(&p, data, p.len);
}

/*
 * A write of @len bytes, a constant, that is one piece of a page which the chunk has touched already.
 * Returns false, having done nothing, if it is another.
 */
static inline __attribute__((always_inline)) bool write_short(struct ts_space_builder *sb, uint64_t addr,
							      const uint8_t *data, unsigned len)
{
	struct ts_page *pg = ts_pages_guess(&sb->now, addr >> TS_PAGE_BITS);
	unsigned off = (unsigned)(addr % TS_PAGE_LEN), word = off / 64;
	uint64_t bits = ts_bit_run(0, len) << off % 64, changed;

	if (!pg || !pg->marks || off % 64 > 64 - len)
		return false;
	changed = copy_word(pg->data + off, data, len) << off % 64 | (bits & ~pg->known[word]);
	ts_page_know_word(pg, word, bits);
	pg->marks->changed[word] |= changed;
	pg->marks->written[word] |= bits;
	pg->marks->written_words |= UINT64_C(1) << word;
	return true;
}

/* Nearly all writes are those of registers: their lengths are known here. */
void ts_space_write(struct ts_space_builder *sb, uint64_t addr, const uint8_t *data, uint64_t len)
{
	if (!(len == 8 && write_short(sb, addr, data, 8)) && !(len == 4 && write_short(sb, addr, data, 4)))
		write_pieces(sb, addr, data, len);
}

static void note_pieces(struct ts_space_builder *sb, uint64_t addr, uint64_t len)
{
	struct piece p;

	for (; len && take_piece(sb, addr, len, &p); addr += p.len, len -= p.len) {
		p.pg->marks->read[p.word] |= p.bits;
		p.pg->marks->read_words |= UINT64_C(1) << p.word;
	}
}

/* May a long read note these bytes of one page? */
static bool may_note(struct ts_space_builder *sb, uint64_t addr, uint64_t len)
{
	if (sb->long_left < len)
		return false;
	if (!ts_pages_find(&sb->now, addr >> TS_PAGE_BITS, 0)) {
		if (!sb->fresh_left) {
			sb->skipped_left--;
			return false;
		}
		sb->fresh_left--;
	}
	sb->long_left -= len;
	return true;
}

static __attribute__((noinline)) void note_long_read(struct ts_space_builder *sb, uint64_t addr, uint64_t len)
{
	while (len && sb->long_left >= TS_PAGE_LEN && sb->skipped_left) {
		uint64_t room = TS_PAGE_LEN - addr % TS_PAGE_LEN, n = len < room ? len : room;

		if (may_note(sb, addr, n))
			note_pieces(sb, addr, n);
		else
			sb->n_left_out += n;
		addr += n;
		len -= n;
	}
	sb->n_left_out += len;
}

void ts_space_note_read(struct ts_space_builder *sb, uint64_t addr, uint64_t len)
{
	if (__builtin_expect(len > TS_PAGE_LEN, 0))
		note_long_read(sb, addr, len);
	else
		note_pieces(sb, addr, len);
}

/* Note that lines of a base page, those with bytes [off, off + len), are to be saved. */
static bool note_dirty(struct ts_space_builder *sb, struct ts_page *pg, unsigned off, unsigned len)
{
	if (!pg->is_dirty && !TS_PUSH(sb->dirty, sb->n_dirty, sb->cap_dirty, pg->id))
		return false;
	pg->is_dirty = true;
	for (unsigned line = off / TS_LINE_LEN; line <= (off + len - 1) / TS_LINE_LEN; line++)
		pg->dirty[line / 64] |= UINT64_C(1) << (line % 64);
	return true;
}

/* Bytes within one page were there since @layer, which governs them all, began. */
static void infer(struct ts_space_builder *sb, uint32_t layer, uint64_t addr, const uint8_t *data,
		  unsigned len)
{
	struct ts_space *sp = sb->space;
	struct ts_page *pg = ts_pages_get(&sp->base, addr >> TS_PAGE_BITS, layer);

	if (!pg)
		pg = ts_pages_add(&sp->base, addr >> TS_PAGE_BITS, layer);
	if (!pg || !note_dirty(sb, pg, (unsigned)(addr % TS_PAGE_LEN), len)) {
		sb->is_failed = true;
		return;
	}
	memcpy(pg->data + addr % TS_PAGE_LEN, data, len);
	ts_page_know(pg, (unsigned)(addr % TS_PAGE_LEN), len);
}

static uint32_t governing_layer(const struct ts_space_builder *sb, uint64_t addr)
{
	const struct ts_space *sp = sb->space;
	struct ts_layer l;

	return ts_layers_newest(&sp->layers, sp->layers.n, addr, addr, &l);
}

bool ts_space_complete(struct ts_space *sp, size_t n_segments, const struct ts_completion *c)
{
	uint16_t mask = (uint16_t)c->mask;

	while (mask && n_segments-- > 0) {
		if (!ts_versions_complete(&sp->segments[n_segments].versions, c->addr, c->data, &mask))
			return false;
	}
	return !mask;
}

/* The same now, and to be saved. */
static void complete_sealed(struct ts_space_builder *sb, const struct ts_completion *c)
{
	bool done = ts_space_complete(sb->space, sb->n_sealed, c);

	assert(done);
	(void)done;
	sb->is_failed |= !TS_PUSH(sb->completions, sb->n_completions, sb->cap_completions, *c);
}

/*
 * The lost bytes @mask of a line, of which @data are the bytes now, were so since they were lost.  A chunk
 * that lost them itself has no version yet.
 */
static void complete_line(struct ts_space_builder *sb, const struct ts_page *pg, unsigned line,
			  const uint8_t *data, uint16_t mask)
{
	struct ts_completion c = { .addr = (pg->page << TS_PAGE_BITS) + line * TS_LINE_LEN };

	mask &= (uint16_t)~ts_page_line_bits(pg->marks->lost, line);
	ts_changes_complete(&sb->changes, pg->holes->chain[line], data, &mask);
	if (!mask)
		return;
	memcpy(c.data, data, TS_LINE_LEN);
	c.mask = mask;
	complete_sealed(sb, &c);
}

/* Bytes of a word that were lost are seen. */
static void complete_piece(struct ts_space_builder *sb, const struct piece *p, const uint8_t *data,
			   uint64_t lost)
{
	uint8_t bytes[64] = { 0 }; /* whole lines of it go to index files */

	memcpy(bytes + p->off % 64, data, p->len);
	for (unsigned i = 0; i < 4; i++) {
		uint16_t mask = (uint16_t)(lost >> i * 16);

		if (mask)
			complete_line(sb, p->pg, p->word * 4 + i, bytes + i * TS_LINE_LEN, mask);
	}
}

/* May something unseen have changed bytes since the layer began, if they are no code? */
static bool is_before_gap(const struct ts_space_builder *sb, uint32_t layer)
{
	return sb->space->layers.items[layer].pos < sb->gap;
}

/* Bytes within one page, all of @layer: they were so since it began, or since the last gap after that. */
static void infer_since(struct ts_space_builder *sb, uint32_t layer, bool is_code, uint64_t addr,
			const uint8_t *data, unsigned len)
{
	uint64_t pos = sb->space->layers.items[layer].pos;
	struct ts_inferred range = { sb->gap, addr, len, layer };

	infer(sb, layer, addr, data, len);
	if (is_before_gap(sb, layer) && !is_code &&
	    !(sb->world && ts_world_is_constant(sb->world, sb->space->id, pos, addr)) &&
	    !ts_inferred_add(&sb->space->inferred, &range))
		sb->is_failed = true;
}

/*
 * Infer the past of the unknown bytes of a piece: of all together where one layer governs them and none is
 * known or lost.
 *
 * Returns those of p->bits whose past is not known: they were lost, and may have changed in a gap since then.
 */
static uint64_t infer_piece(struct ts_space_builder *sb, const struct piece *p, bool is_code, uint64_t addr,
			    const uint8_t *data)
{
	struct ts_space *sp = sb->space;
	uint64_t last = addr + (p->len - 1), unknown = p->bits & ~p->pg->known[p->word];
	uint64_t lost = p->pg->holes ? unknown & p->pg->holes->bits[p->word] : 0;
	uint64_t sudden = lost ? lost & p->pg->holes->old[p->word] : 0;
	struct ts_layer l = { 0 };
	uint32_t layer;

	sp->n_inferred += (unsigned)__builtin_popcountll(unknown & ~sudden);
	if (lost & ~sudden)
		complete_piece(sb, p, data, lost & ~sudden);
	unknown = (unknown & ~lost) >> p->off % 64;
	if (!unknown)
		return sudden;
	layer = ts_layers_newest(&sp->layers, sp->layers.n, addr, last, &l);
	if (l.first <= addr && l.last >= last && unknown == p->bits >> p->off % 64 &&
	    (is_code || !is_before_gap(sb, layer))) {
		infer_since(sb, layer, is_code, addr, data, p->len);
		return sudden;
	}
	for (; unknown; unknown &= unknown - 1) {
		unsigned i = (unsigned)__builtin_ctzll(unknown);

		infer_since(sb, governing_layer(sb, addr + i), is_code, addr + i, data + i, 1);
	}
	return sudden;
}

/* Do 1 to 16 bytes differ?  The first and the last ones of a length may overlap; there is no call. */
static inline bool differ(const uint8_t *a, const uint8_t *b, unsigned len)
{
	if (len >= 8)
		return load(a, 8) != load(b, 8) || load(a + len - 8, 8) != load(b + len - 8, 8);
	if (len >= 4)
		return load(a, 4) != load(b, 4) || load(a + len - 4, 4) != load(b + len - 4, 4);
	return a[0] != b[0] || a[len / 2] != b[len / 2] || a[len - 1] != b[len - 1];
}

/*
 * Are the few bytes that are seen known?  Nearly all are, those of instructions above all, and then they add nothing.
 */
static inline bool is_known(struct ts_space_builder *sb, uint64_t addr, const uint8_t *data, uint64_t len)
{
	const struct ts_page *pg = ts_pages_guess(&sb->now, addr >> TS_PAGE_BITS);
	unsigned off = (unsigned)(addr % TS_PAGE_LEN);
	uint64_t bits;

	if (!pg || len - 1 >= 16 || off % 64 + len > 64)
		return false;
	bits = ts_bit_run(off % 64, (unsigned)len);
	return (pg->known[off / 64] & bits) == bits && !differ(pg->data + off, data, (unsigned)len);
}

static __attribute__((noinline)) void see_pieces(struct ts_space_builder *sb, bool is_code, uint64_t addr,
						 const uint8_t *data, uint64_t len)
{
	bool is_contradiction = false;
	struct piece p;

	for (; len && take_piece(sb, addr, len, &p); addr += p.len, data += p.len, len -= p.len) {
		uint64_t *known = &p.pg->known[p.word], changed, sudden = 0;

		if (__builtin_expect((*known & p.bits) != p.bits, 0))
			sudden = infer_piece(sb, &p, is_code, addr, data);
		changed = copy_changes(p.pg->data + p.off, data, p.len) << p.off % 64 & *known;
		ts_page_know_word(p.pg, p.word, p.bits);
		is_contradiction |= changed != 0;
		if (__builtin_expect((changed | sudden) != 0, 0)) {
			p.bits = changed | sudden;
			mark_write(&p, p.bits);
		}
	}
	sb->space->n_unexplained += is_contradiction;
}

void ts_space_see(struct ts_space_builder *sb, uint64_t addr, const uint8_t *data, uint64_t len)
{
	if (!is_known(sb, addr, data, len))
		see_pieces(sb, false, addr, data, len);
}

void ts_space_see_code(struct ts_space_builder *sb, uint64_t addr, const uint8_t *data, uint64_t len)
{
	if (!is_known(sb, addr, data, len))
		see_pieces(sb, true, addr, data, len);
}

void ts_space_initial(struct ts_space_builder *sb, uint64_t addr, const uint8_t *data, uint64_t len)
{
	struct ts_space *sp = sb->space;

	while (len && !sb->is_failed) {
		uint64_t room = TS_PAGE_LEN - addr % TS_PAGE_LEN;
		unsigned n = (unsigned)(len < room ? len : room);
		struct ts_layer l = { 0 };
		uint32_t layer = ts_layers_newest(&sp->layers, sp->layers.n, addr, addr + (n - 1), &l);

		if (l.first > addr || l.last < addr + (n - 1)) {
			n = 1;
			layer = governing_layer(sb, addr);
		}
		infer(sb, layer, addr, data, n);
		addr += n;
		data += n;
		len -= n;
	}
}

/* The part of a touched page that lies in [first, last] starts afresh; one that is stale follows its layers. */
static void refill_page(struct ts_space_builder *sb, uint64_t page, uint64_t first, uint64_t last, enum ts_fill fill)
{
	struct ts_page *pg = ts_pages_find(&sb->now, page, 0);
	uint64_t start = page << TS_PAGE_BITS, end = start + (TS_PAGE_LEN - 1);
	unsigned off = first > start ? (unsigned)(first - start) : 0;
	unsigned len = (unsigned)((last < end ? last : end) - start) + 1 - off;

	if (!pg || pg->is_stale)
		return;
	memset(pg->data + off, 0, len);
	if (fill == TS_FILL_ZERO)
		ts_page_know(pg, off, len);
	else
		ts_page_forget(pg, off, len);
}

/* Returns false if memory is exhausted. */
static bool order_pages(struct ts_space_builder *sb)
{
	for (; sb->n_loose; sb->n_loose--) {
		if (!ts_ordered_add(&sb->ordered, sb->loose[sb->n_loose - 1]->page))
			return false;
	}
	return true;
}

/* All of the page starts afresh, which shows when it is touched again. */
static void outdate(struct ts_space_builder *sb, struct ts_page *pg)
{
	pg->is_stale = true;
	ts_pages_unguess(&sb->now, pg);
	if (pg->holes)
		memset(pg->holes->bits, 0, sizeof(pg->holes->bits));
}

/* A range of fewer pages is examined page by page. */
#define FEW_PAGES 16u

/*
 * The touched pages follow a new layer over [first, last].  In a long range those that it covers become stale, once
 * for each time that they were touched: many long ranges over many pages cost their sum.
 */
static void refill_touched(struct ts_space_builder *sb, uint64_t first, uint64_t last, enum ts_fill fill)
{
	uint64_t page = first >> TS_PAGE_BITS, end = last >> TS_PAGE_BITS, number;

	if (end - page < FEW_PAGES) {
		for (; page <= end; page++)
			refill_page(sb, page, first, last, fill);
		return;
	}
	if (first % TS_PAGE_LEN)
		refill_page(sb, page++, first, last, fill);
	if (last % TS_PAGE_LEN != TS_PAGE_LEN - 1)
		refill_page(sb, end--, first, last, fill);
	sb->is_failed |= !order_pages(sb);
	while (ts_ordered_take(&sb->ordered, page, end, &number))
		outdate(sb, ts_pages_find(&sb->now, number, 0));
}

uint64_t ts_space_next_map(const struct ts_space_builder *sb)
{
	return ts_space_map_of_layer(sb->space, sb->space->layers.n);
}

void ts_space_fill(struct ts_space_builder *sb, uint64_t pos, uint64_t addr, uint64_t len, enum ts_fill fill)
{
	if (!len)
		return;
	if (!ts_layers_add(&sb->space->layers, pos, addr, addr + (len - 1), fill))
		sb->is_failed = true;
	else
		refill_touched(sb, addr, addr + (len - 1), fill);
}

void ts_space_gap(struct ts_space_builder *sb, uint64_t pos)
{
	sb->gap = pos;
	sb->n_lost = 0;
	for (; sb->n_holed; sb->n_holed--) {
		struct ts_page *pg = sb->holed[sb->n_holed - 1];

		pg->is_holed = false;
		memcpy(pg->holes->old, pg->holes->bits, sizeof(pg->holes->old));
		memset(pg->holes->saved, 0, sizeof(pg->holes->saved));
	}
}

void ts_space_lose(struct ts_space_builder *sb, uint64_t addr, uint64_t len)
{
	struct piece p;

	for (; len && take_piece(sb, addr, len, &p); addr += p.len, len -= p.len) {
		if (!lose(sb, p.pg, p.word, p.bits))
			sb->is_failed = true;
		p.pg->marks->lost[p.word] |= p.bits;
		mark_write(&p, p.bits);
	}
}
