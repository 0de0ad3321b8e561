/* SPDX-License-Identifier: MIT */
/*
 * What the files hits*.c share: the accesses that were found, and the chunks that may have more.
 */
#ifndef TS_ASK_HITS_PARTS_H
#define TS_ASK_HITS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/buf.h"
#include "src/query/query.h"
#include "src/query/search/read_chunks.h"
#include "src/search/reg_chunks.h"
#include "src/ask/grammar/what.h"

/* In the order of the hits of one step. */
enum ts_hit_kind {
	TS_HIT_READ,
	TS_HIT_WRITE,
	TS_HIT_EXEC,
	TS_HIT_MAP,
	TS_HIT_UNEXPLAINED,
};

struct ts_hit {
	uint64_t pos;         /* the step */
	uint64_t first, last; /* the part of WHAT: addresses, or bytes of the 'g' layout; both inclusive */
	uint64_t seen;        /* READ: the offset of the value and its known flags in the hits' bytes */
	uint64_t pc;
	uint32_t thread;
	uint16_t insn_len;
	enum ts_hit_kind kind;
	/*
	 * all of WHAT before and after the step is known, and is in the hits' bytes at offset values: old,
	 * then new
	 */
	bool has_values;
	uint64_t values;
	bool is_maybe;        /* a read whose value may contradict memory, or was unknown before; the values decide */
};

/* The kinds of hits to find, and their target. */
struct ts_hits {
	struct ts_query *q;     /* borrowed */
	const struct ts_what *what; /* borrowed */
	uint64_t exec_first, exec_last; /* virtual addresses of the executions to find, also for a machine */
	uint64_t end;           /* steps at or after this position are not examined, and have no hits */
	uint32_t process;       /* of memory */
	uint32_t thread;        /* of registers */
	unsigned kinds;         /* mask of 1 << enum ts_hit_kind */
	bool is_whole;          /* the hit of a write or another change covers all of WHAT; else its parts */
	bool only_changes;      /* omit writes of equal values */
	bool is_late_first;     /* a backward search has no row yet: the next chunk's last steps are searched first */
	struct ts_hit *items;   /* owned; by position, kind and address */
	size_t n, cap;
	struct ts_buf bytes;
	uint64_t base;          /* the first address of WHAT, or its first byte of the 'g' layout */
	uint8_t *data, *known;  /* owned; WHAT after the steps so far; NULL: it is too long */
	uint8_t *regs;          /* in the same allocation: space for all registers */
	struct ts_location loc; /* WHAT, if it is a register other than the pc */
	struct ts_does does;    /* the writes of loc */
	struct ts_reg_chunks reg_chunks; /* chunks in which instructions may write it */
	bool has_late;          /* of registers: threads that wait have some of theirs later (src/query/registers.c) */
	bool infers_reads;      /* reads are derived from instructions, because the recording lacks them */
	uint64_t n_taken;       /* of infers_reads: the number of chunks that were taken */
	bool may_read;          /* the chunk that was taken last may have such reads of WHAT */
	bool is_open;           /* the reads of some steps cannot be derived */
	uint16_t parts;         /* those of the chunk that was taken last in which an instruction may write WHAT, a register */
	uint64_t taken_start, taken_end; /* the steps of the chunk that was taken last */
	uint64_t left;          /* those before this one have not been examined */
	uint64_t part;          /* the number of steps of the next part */
	bool is_failed;         /* memory is exhausted */
};

/* Has the chunk steps before those that were listed last? */
static inline bool ts_hits_have_more(const struct ts_hits *h)
{
	return h->left > h->taken_start;
}

/* The first chunk >= @chunk (@is_reverse: the last one <= @chunk) that may have a hit; TS_NO_CHUNK if no chunk may. */
uint64_t ts_hits_find_chunk(struct ts_hits *h, uint64_t chunk, bool is_reverse);

/* Private to hits*.c: the length of WHAT; 0: all of memory. */
static inline uint64_t ts_hits_len(const struct ts_hits *h)
{
	return h->what->kind == TS_WHAT_MEM ? h->what->last - h->what->addr + 1 : h->what->len;
}

/* Private to hits*.c: the search for chunks with reads of WHAT that the recording lacks. */
struct ts_read_search ts_hits_read_search(const struct ts_hits *h, bool is_reverse);

/* Private to hits*.c: are hits of this kind wanted? */
static inline bool ts_hits_want(const struct ts_hits *h, enum ts_hit_kind kind)
{
	return h->kinds >> kind & 1;
}

/*
 * Private to hits*.c: the nearest chunk in which [@first, @last] of WHAT may be accessed so: @accesses is a mask of enum
 * ts_access.
 */
uint64_t ts_hits_find_part(const struct ts_hits *h, unsigned accesses, uint64_t first, uint64_t last, uint64_t chunk,
			   bool is_reverse);

/*
 * Private to hits*.c: set h->data and h->known to WHAT at @pos.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_hits_read_what(struct ts_hits *h, uint64_t pos, struct ts_error *err);

/*
 * Copy the registers of the layout that end with WHAT, which is a register, at @pos to @data, and to @known whether each byte is
 * known.  Registers behind WHAT are not read: a lost one would need the rest of the chunk.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_hits_read_register(const struct ts_hits *h, uint64_t pos, uint8_t *data, uint8_t *known, struct ts_error *err);

/*
 * Private to hits*.c: sort the hits of a chunk; then make rows of them: merge adjacent hits of one step and kind, and remove
 * the bytes that a step wrote from its changes that may be unexplained.  is_failed is set if memory is exhausted.
 */
void ts_hits_sort(struct ts_hits *h);
void ts_hits_make_rows(struct ts_hits *h);

#endif
