/* SPDX-License-Identifier: MIT */
/*
 * A packed event is the code of its symbol and, if its steps are STEPS_FOLLOW, numbers (bits.h): its edge if
 * it is a call, then its steps; of a place, how far back the innermost call was made, in calls and switches
 * (0: none), then the number of calls that are open there.
 *
 * Packing is two passes: over the calls, which makes their events and counts them, and over the events, when
 * the codes are known.
 */
#include "call_block.h"

#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "src/base/collections/hash.h"
#include "src/base/collections/hash_table.h"
#include "src/base/collections/vec.h"
#include "src/index/index_blocks.h"
#include "src/index/index_write.h"

enum event_kind {
	EVENT_RETURN = TS_CALL_RETURN,
	EVENT_UNWOUND = TS_CALL_UNWOUND,
	EVENT_CALL = TS_CALL_OPEN,
	EVENT_SWITCH = TS_CALL_SWITCH,
	EVENT_PLACE, /* says which call is the innermost one */
};
#define KIND_BITS    3
#define N_KINDS      (1u << KIND_BITS)
#define STEPS_FOLLOW (UINT32_MAX >> KIND_BITS)

/* An event that comes as often gets a symbol of its own, which has 8 bytes. */
#define MIN_OFTEN 4u

/* The maximum number of events of a call of a block: a place and the call, a place and its end. */
#define MAX_EVENTS    4u
#define MAX_EVENT_LEN ((TS_MAX_CODE_LEN + 2 * TS_BITS_OF_NUMBER) / 8 + 1)

/* Between two events of a block. */
struct place {
	uint64_t pos;
	uint32_t innermost; /* the call; TS_NO_CALL: none */
	uint32_t depth;     /* calls that are open */
	unsigned code;      /* of the next event */
};

struct event {
	uint64_t steps; /* of a place: how far back */
	uint32_t edge;  /* of a place: the depth */
	uint32_t entry;
};

/* A symbol, while it is counted. */
struct entry {
	uint32_t edge, what, n;
	uint32_t symbol; /* its ordinal in its code */
	uint8_t code, len;
	bool is_own; /* else its events have the symbol of their kind */
};

struct ts_call_packer {
	struct ts_call_edges *edges; /* borrowed */
	struct ts_call_block *blocks; /* owned; off: the first event */
	struct event *events; /* owned */
	struct entry *entries; /* owned; the first ones are those of rare events, by code and kind */
	struct ts_hash_table by_event; /* of entries */
	uint32_t n_blocks, n_entries;
	size_t cap_blocks, cap_entries;
	size_t n_events, cap_events;
	bool is_failed; /* memory is exhausted */

	/* of the block that is being added */
	struct place place;
	const struct ts_call *open[TS_CALL_BLOCK]; /* that will end, the last one first */
	unsigned n_open;
};

/* Room for one more item in *@array. */
static bool room(struct ts_call_packer *p, void *array, uint32_t n, size_t *cap, size_t item_len)
{
	p->is_failed = p->is_failed || !ts_vec_reserve(array, n, cap, 1, item_len);
	return !p->is_failed;
}

/* ------------------------------------------------------------------------------------------------ symbols */

static uint64_t hash(uint32_t edge, uint32_t what, unsigned code)
{
	return ts_hash((uint64_t)edge << 32 | what, code);
}

static bool is_entry(const void *user, uint32_t i, const void *key)
{
	const struct entry *x = &((const struct ts_call_packer *)user)->entries[i], *y = key;

	return x->edge == y->edge && x->what == y->what && x->code == y->code;
}

static uint64_t hash_of_entry(const void *user, uint32_t i)
{
	const struct entry *x = &((const struct ts_call_packer *)user)->entries[i];

	return hash(x->edge, x->what, x->code);
}

static uint32_t add_entry(struct ts_call_packer *p, uint32_t edge, uint32_t what, unsigned code)
{
	if (!room(p, &p->entries, p->n_entries, &p->cap_entries, sizeof(*p->entries)))
		return 0;
	p->entries[p->n_entries] = (struct entry){ .edge = edge, .what = what, .code = (uint8_t)code };
	return p->n_entries++;
}

/* The entry of all events of a kind that are rare. */
static uint32_t rare_entry(unsigned code, enum event_kind kind)
{
	return code * N_KINDS + kind;
}

struct ts_call_packer *ts_call_packer_new(struct ts_call_edges *edges)
{
	struct ts_call_packer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->edges = edges;
	for (unsigned i = 0; i < TS_CALL_CODES * N_KINDS; i++)
		add_entry(p, 0, STEPS_FOLLOW << KIND_BITS | i % N_KINDS, i / N_KINDS);
	return p;
}

void ts_call_packer_free(struct ts_call_packer *p)
{
	if (!p)
		return;
	free(p->blocks);
	free(p->events);
	free(p->entries);
	ts_hash_table_fini(&p->by_event);
	free(p);
}

/* The entry of an event, which is added if it is new. */
static uint32_t find_entry(struct ts_call_packer *p, enum event_kind kind, uint32_t edge, uint64_t steps)
{
	unsigned code = p->place.code;
	struct entry wanted = { .edge = edge, .code = (uint8_t)code };
	uint32_t *slot;

	if (kind == EVENT_PLACE || steps >= STEPS_FOLLOW)
		return rare_entry(code, kind);
	if (!ts_hash_table_reserve(&p->by_event, p->n_entries, 1, hash_of_entry, p)) {
		p->is_failed = true;
		return 0;
	}
	wanted.what = (uint32_t)steps << KIND_BITS | kind;
	slot = ts_hash_table_slot(&p->by_event, hash(edge, wanted.what, code), is_entry, p, &wanted);
	if (*slot)
		return *slot - 1;
	*slot = p->n_entries + 1;
	return add_entry(p, edge, wanted.what, code);
}

/* ------------------------------------------------------------------------------------------------- events */

/* There is room for it. */
static void add_event(struct ts_call_packer *p, enum event_kind kind, uint32_t edge, uint64_t steps)
{
	uint32_t entry = p->is_failed ? 0 : find_entry(p, kind, edge, steps);

	if (p->is_failed)
		return;
	p->entries[entry].n++;
	p->events[p->n_events++] = (struct event){ steps, edge, entry };
}

/*
 * The next event is about this innermost call, or is made by it; @next: the ordinal of the next call or
 * switch.
 */
static void be_in(struct ts_call_packer *p, uint32_t innermost, uint32_t depth, uint32_t next)
{
	if (p->place.innermost == innermost && p->place.depth == depth)
		return;
	add_event(p, EVENT_PLACE, depth, innermost == TS_NO_CALL ? 0 : next - innermost);
	p->place.innermost = innermost;
	p->place.depth = depth;
}

/* The call of the block that ends first does; @next: as above. */
static void end_first(struct ts_call_packer *p, uint32_t next)
{
	const struct ts_call *x = p->open[--p->n_open];

	be_in(p, x->ordinal, x->depth, next);
	add_event(p, (enum event_kind)x->kind, 0, x->end - p->place.pos);
	p->place = (struct place){ x->end, x->parent, x->depth - 1, 1 };
}

/* Of calls that end together the last one ends first. */
static void keep_open(struct ts_call_packer *p, const struct ts_call *x)
{
	unsigned i = p->n_open++;

	for (; i && p->open[i - 1]->end < x->end; i--)
		p->open[i] = p->open[i - 1];
	p->open[i] = x;
}

static void begin(struct ts_call_packer *p, const struct ts_call *x)
{
	bool is_switch = x->kind == TS_CALL_SWITCH;
	uint32_t edge = 0;

	be_in(p, x->parent, x->depth - 1, x->ordinal);
	if (!is_switch)
		edge = ts_call_edges_number(p->edges, x->pc, x->target);
	if (edge == TS_NO_EDGE)
		p->is_failed = true;
	add_event(p, is_switch ? EVENT_SWITCH : EVENT_CALL, edge, x->pos - p->place.pos);
	p->place.pos = x->pos;
	p->place.code = 0;
	if (is_switch)
		return;
	p->place.innermost = x->ordinal;
	p->place.depth = x->depth;
	if (x->kind != TS_CALL_OPEN)
		keep_open(p, x);
}

static bool make_room_for_events(struct ts_call_packer *p, unsigned n_calls)
{
	p->is_failed = p->is_failed ||
		       !ts_vec_reserve(&p->events, p->n_events, &p->cap_events, MAX_EVENTS * n_calls, sizeof(*p->events));
	return !p->is_failed;
}

void ts_call_packer_add(struct ts_call_packer *p, const struct ts_call *calls, unsigned n)
{
	struct ts_call_block *b;

	if (!room(p, &p->blocks, p->n_blocks, &p->cap_blocks, sizeof(*p->blocks)) ||
	    !make_room_for_events(p, n))
		return;
	b = &p->blocks[p->n_blocks++];
	*b = (struct ts_call_block){
		.pos = calls->pos,
		.ordinal = calls->ordinal,
		.thread = calls->thread,
		.off = (uint32_t)p->n_events,
		.n = (uint16_t)n,
	};
	p->place = (struct place){ .pos = calls->pos, .innermost = TS_NO_CALL };
	for (unsigned i = 0; i < n; i++) {
		while (p->n_open && p->open[p->n_open - 1]->end <= calls[i].pos)
			end_first(p, calls[i].ordinal);
		begin(p, &calls[i]);
		b->n_ends += calls[i].kind == TS_CALL_RETURN || calls[i].kind == TS_CALL_UNWOUND;
	}
	while (p->n_open)
		end_first(p, calls->ordinal + n);
}

/* -------------------------------------------------------------------------------------------------- codes */

/* Rare events have the symbol of their kind.  Returns how many events a code has. */
static uint32_t gather_rare(struct ts_call_packer *p, unsigned code)
{
	uint32_t total = 0;

	for (uint32_t i = TS_CALL_CODES * N_KINDS; i < p->n_entries; i++) {
		struct entry *x = &p->entries[i];

		if (x->code != code)
			continue;
		x->is_own = x->n >= MIN_OFTEN;
		if (x->is_own)
			total += x->n;
		else
			p->entries[rare_entry(code, x->what % N_KINDS)].n += x->n;
	}
	for (unsigned i = 0; i < N_KINDS; i++) {
		struct entry *x = &p->entries[rare_entry(code, i)];

		total += x->n;
		x->is_own = x->n;
	}
	return total;
}

/* Give the symbols of a code their places in it.  Returns false if memory is exhausted. */
static bool make_code(struct ts_call_packer *p, unsigned code, struct ts_call_pack *pack)
{
	uint32_t total = gather_rare(p, code), n_of_len[TS_MAX_CODE_LEN + 1] = { 0 },
		 next[TS_MAX_CODE_LEN + 1];
	struct ts_call_symbol *symbols;
	size_t n = 0;

	for (uint32_t i = 0; i < p->n_entries; i++) {
		struct entry *x = &p->entries[i];

		if (x->code != code || !x->is_own)
			continue;
		x->len = (uint8_t)ts_code_len(x->n, total);
		n_of_len[x->len]++;
		n++;
	}
	ts_prefix_code_init(&pack->codes[code], n_of_len);
	memcpy(next, pack->codes[code].first, sizeof(next));
	symbols = malloc((n + 1) * sizeof(*symbols));
	if (!symbols)
		return false;
	for (uint32_t i = 0; i < p->n_entries; i++) {
		struct entry *x = &p->entries[i];

		if (x->code != code || !x->is_own)
			continue;
		x->symbol = next[x->len]++;
		symbols[x->symbol] = (struct ts_call_symbol){ x->edge, x->what };
	}
	pack->symbols[code] = pack->own_symbols[code] = symbols;
	pack->n_symbols[code] = n;
	return true;
}

static void put_event(const struct ts_call_packer *p, const struct ts_call_pack *pack, const struct event *e,
		      struct ts_bit_writer *w)
{
	const struct entry *x = &p->entries[e->entry];
	enum event_kind kind = x->what % N_KINDS;

	if (!x->is_own)
		x = &p->entries[rare_entry(x->code, kind)];
	ts_bits_put(w, ts_prefix_code_of(&pack->codes[x->code], x->symbol, x->len), x->len);
	if (x->what >> KIND_BITS != STEPS_FOLLOW)
		return;
	if (kind == EVENT_CALL)
		ts_bits_put_number(w, e->edge);
	ts_bits_put_number(w, e->steps);
	if (kind == EVENT_PLACE)
		ts_bits_put_number(w, e->edge);
}

/* The events of a block to bytes.  Returns false if memory is exhausted. */
static bool put_block(const struct ts_call_packer *p, struct ts_call_pack *pack, uint32_t at)
{
	struct ts_call_block *b = &p->blocks[at];
	size_t first = b->off, end = at + 1 < p->n_blocks ? b[1].off : p->n_events;
	uint8_t *start = ts_buf_room(&pack->own_bytes, (end - first) * MAX_EVENT_LEN + sizeof(uint32_t));
	struct ts_bit_writer w = { .p = start };

	if (!start || pack->own_bytes.len >= UINT32_MAX)
		return false;
	b->off = (uint32_t)pack->own_bytes.len;
	for (size_t i = first; i < end; i++)
		put_event(p, pack, &p->events[i], &w);
	ts_bits_flush(&w);
	pack->own_bytes.len += (size_t)(w.p - start);
	return true;
}

bool ts_call_packer_finish(struct ts_call_packer *p, struct ts_call_pack *pack)
{
	*pack = (struct ts_call_pack){ 0 };
	for (unsigned i = 0; i < TS_CALL_CODES && !p->is_failed; i++)
		p->is_failed = !make_code(p, i, pack);
	for (uint32_t i = 0; i < p->n_blocks && !p->is_failed; i++)
		p->is_failed = !put_block(p, pack, i);
	pack->blocks = pack->own_blocks = p->blocks;
	pack->n_blocks = p->n_blocks;
	p->blocks = NULL;
	pack->bytes = pack->own_bytes.data;
	pack->n_bytes = pack->own_bytes.len;
	return !p->is_failed && ts_buf_ok(&pack->own_bytes);
}

void ts_call_pack_fini(struct ts_call_pack *pack)
{
	free(pack->own_blocks);
	for (unsigned i = 0; i < TS_CALL_CODES; i++)
		free(pack->own_symbols[i]);
	ts_buf_fini(&pack->own_bytes);
	*pack = (struct ts_call_pack){ 0 };
}

/* ---------------------------------------------------------------------------------------------- unpacking */

/* A block that is being unpacked; its bytes may be anything. */
struct unpacking {
	const struct ts_call_pack *pack;
	const struct ts_call_edges *edges;
	const struct ts_call_block *block;
	struct ts_bit_reader bits;
	struct place place;
	struct ts_call *calls;
	unsigned n, n_ends; /* that were unpacked */
};

static void unpack_place(struct unpacking *u)
{
	uint32_t next = u->block->ordinal + u->n;
	uint64_t back = ts_bits_take_number(&u->bits);

	u->place.innermost = back && back <= next ? next - (uint32_t)back : TS_NO_CALL;
	u->place.depth = (uint32_t)ts_bits_take_number(&u->bits);
}

/* A call or switch at u->place.pos. */
static void unpack_begin(struct unpacking *u, bool is_switch, uint32_t edge)
{
	struct ts_call *x = &u->calls[u->n];

	*x = (struct ts_call){
		.pos = u->place.pos,
		.end = TS_NO_END,
		.thread = u->block->thread,
		.ordinal = u->block->ordinal + u->n++,
		.parent = u->place.innermost,
		.depth = u->place.depth + 1,
		.kind = is_switch ? TS_CALL_SWITCH : TS_CALL_OPEN,
	};
	u->place.code = 0;
	if (is_switch)
		return;
	x->pc = u->edges->items[edge].pc;
	x->target = u->edges->items[edge].target;
	u->place.innermost = x->ordinal;
	u->place.depth++;
}

/* The innermost call ends.  Returns false if it is not of this block. */
static bool unpack_end(struct unpacking *u, enum ts_call_kind kind)
{
	uint32_t at = u->place.innermost - u->block->ordinal;
	struct ts_call *x;

	if (at >= u->n)
		return false;
	x = &u->calls[at];
	x->end = u->place.pos;
	x->kind = kind;
	u->n_ends++;
	u->place = (struct place){ x->end, x->parent, x->depth - 1, 1 };
	return true;
}

/* Returns false if the bits are not those of an event that may come here. */
static bool unpack_event(struct unpacking *u)
{
	unsigned len = 0, code = u->place.code;
	uint32_t ordinal = ts_prefix_code_find(&u->pack->codes[code], ts_bits_peek(&u->bits), &len);
	struct ts_call_symbol s;
	enum event_kind kind;
	uint64_t steps;

	if (ordinal >= u->pack->n_symbols[code])
		return false;
	u->bits.at += len;
	s = u->pack->symbols[code][ordinal];
	kind = s.what % N_KINDS;
	steps = s.what >> KIND_BITS;
	if (kind == EVENT_PLACE) {
		unpack_place(u);
		return true;
	}
	if (steps == STEPS_FOLLOW) {
		if (kind == EVENT_CALL)
			s.edge = (uint32_t)ts_bits_take_number(&u->bits);
		steps = ts_bits_take_number(&u->bits);
	}
	u->place.pos += steps;
	if (kind < EVENT_CALL)
		return unpack_end(u, (enum ts_call_kind)kind);
	if (kind > EVENT_PLACE || u->n == u->block->n || (kind == EVENT_CALL && s.edge >= u->edges->n))
		return false;
	unpack_begin(u, kind == EVENT_SWITCH, s.edge);
	return true;
}

unsigned ts_call_unpack(const struct ts_call_pack *pack, const struct ts_call_edges *edges, size_t at,
			struct ts_call calls[TS_CALL_BLOCK])
{
	const struct ts_call_block *b = &pack->blocks[at];
	size_t len = (at + 1 < pack->n_blocks ? b[1].off : pack->n_bytes) - b->off;
	bool is_good = ts_index_blocks_use(pack->file, pack->bytes + b->off, len);
	struct unpacking u = {
		.pack = pack,
		.edges = edges,
		.block = b,
		.bits = { pack->bytes + b->off, len, 0 },
		.place = { .pos = b->pos, .innermost = TS_NO_CALL },
		.calls = calls,
	};

	while (is_good && (u.n < b->n || u.n_ends < b->n_ends))
		is_good = unpack_event(&u) && !ts_bits_is_over(&u.bits);
	if (!is_good)
		ts_index_blocks_note_damage(pack->file);
	while (u.n < b->n)
		unpack_begin(&u, true, 0);
	return u.n;
}

/* -------------------------------------------------------------------------------------------- index files */

/* How many symbols of a code have each length, from 0 on; returns how many lengths that are. */
static size_t count_lens(const struct ts_prefix_code *code, uint32_t n_of_len[TS_MAX_CODE_LEN + 1])
{
	size_t n = 1;

	n_of_len[0] = 0;
	for (unsigned len = 1; len <= TS_MAX_CODE_LEN; len++) {
		n_of_len[len] =
			(uint32_t)((code->limit[len] - code->limit[len - 1]) >> (TS_MAX_CODE_LEN - len));
		if (n_of_len[len])
			n = len + 1;
	}
	return n;
}

void ts_call_pack_save(const struct ts_call_pack *pack, struct ts_index_file *f)
{
	ts_index_put(f, pack->blocks, pack->n_blocks, sizeof(*pack->blocks));
	ts_index_put_packed(f, pack->bytes, pack->n_bytes, 1);
	for (unsigned i = 0; i < TS_CALL_CODES; i++) {
		uint32_t n_of_len[TS_MAX_CODE_LEN + 1];
		size_t n = count_lens(&pack->codes[i], n_of_len);

		ts_index_put(f, n_of_len, n, sizeof(*n_of_len));
		ts_index_put(f, pack->symbols[i], pack->n_symbols[i], sizeof(*pack->symbols[i]));
	}
}

/* Are the bytes of each block within those of the segment, and its calls not too many? */
static bool are_blocks_good(const struct ts_call_pack *pack)
{
	for (size_t i = 0; i < pack->n_blocks; i++) {
		const struct ts_call_block *b = &pack->blocks[i];

		if (!b->n || b->n > TS_CALL_BLOCK || b->n_ends > b->n || b->off >= pack->n_bytes ||
		    (i && b->off <= b[-1].off))
			return false;
	}
	return true;
}

/* A code and its symbols.  Returns false if the arrays contradict each other. */
static bool load_code(struct ts_call_pack *pack, unsigned code, struct ts_index_arrays *a)
{
	uint32_t n_of_len[TS_MAX_CODE_LEN + 1] = { 0 };
	size_t n_lens, n = 0;
	const uint32_t *saved = ts_index_take(a, sizeof(*saved), &n_lens);

	pack->symbols[code] = ts_index_take(a, sizeof(*pack->symbols[code]), &pack->n_symbols[code]);
	if (a->is_bad || n_lens > TS_MAX_CODE_LEN + 1)
		return false;
	memcpy(n_of_len, saved, n_lens * sizeof(*n_of_len));
	for (unsigned len = 1; len <= TS_MAX_CODE_LEN; len++)
		n += n_of_len[len];
	return n == pack->n_symbols[code] && ts_prefix_code_init(&pack->codes[code], n_of_len);
}

bool ts_call_pack_load(struct ts_call_pack *pack, struct ts_index_arrays *a)
{
	*pack = (struct ts_call_pack){ .file = a->blocks };
	pack->blocks = ts_index_take(a, sizeof(*pack->blocks), &pack->n_blocks);
	pack->bytes = ts_index_take_unread(a, 1, &pack->n_bytes);
	for (unsigned i = 0; i < TS_CALL_CODES; i++) {
		if (!load_code(pack, i, a))
			return false;
	}
	return are_blocks_good(pack);
}

uint64_t ts_call_pack_saved_len(const struct ts_call_pack *pack)
{
	uint64_t sum = pack->n_blocks * sizeof(*pack->blocks) + pack->n_bytes;

	for (unsigned i = 0; i < TS_CALL_CODES; i++)
		sum += pack->n_symbols[i] * sizeof(*pack->symbols[i]);
	return sum;
}
