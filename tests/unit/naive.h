/* SPDX-License-Identifier: MIT */
/*
 * The naive twin of the timeline: the same questions, answered from plain lists by the definitions of the
 * model.
 *
 * For each byte that the script may touch and each byte of each thread's registers it keeps what happened to
 * it, in order.  What is asked "next" or "previous" it finds by walking step by step.  It shares no code with
 * the index.
 */
#ifndef TS_TESTS_NAIVE_H
#define TS_TESTS_NAIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "script.h"
#include "src/query/search/search.h"

enum naive_kind {
	NAIVE_UNKNOWN, /* starts afresh, nobody knows with what */
	NAIVE_ZERO,    /* starts afresh with 0 */
	NAIVE_WRITTEN,
	NAIVE_SEEN,
};

/* Something that happened to a byte. */
struct naive_entry {
	uint32_t seq; /* ordinal of the effect, the initial ones included */
	uint8_t kind;
	uint8_t value;
	bool has_file;  /* UNKNOWN: but a file says file_value */
	uint8_t file_value;
	bool is_lost;   /* UNKNOWN: it was written, and did not start afresh */
	bool is_sudden; /* SEEN: something unseen may have written it since it was lost */
};

struct naive_log {
	struct naive_entry *items; /* owned */
	uint32_t n, cap;
};

/* How a byte of memory is mapped from some effect on. */
struct naive_mapping {
	uint32_t seq;
	bool is_mapped;
	uint32_t prot;
	uint64_t file_off; /* of the byte */
	const char *desc, *file;
};

struct naive_mappings {
	struct naive_mapping *items; /* owned */
	uint32_t n, cap;
};

/* A module and the effects between which it is there. */
struct naive_module {
	uint32_t from, until;
	uint32_t process;
	uint64_t first, last;
	const char *file;
};

struct naive {
	const struct script *s; /* borrowed */
	struct ts_steps steps;  /* owned; its steps, see settle.h */
	uint64_t n_steps;
	uint32_t *first_seq;    /* owned; of each step, and one more */
	struct naive_log *mem;  /* owned; by process, then byte of the script */
	struct naive_log *regs; /* owned; by thread, then byte of the 'g' layout */
	struct naive_mappings *mappings; /* owned; as mem */
	struct naive_module *modules;    /* owned; in the order in which they appeared */
	uint32_t n_modules, cap_modules;
	uint32_t gap_seq;       /* of the end of the last step with unseen changes; 0: none */
	uint64_t n_unexplained; /* reads that contradict */
	uint64_t n_inferred;    /* bytes */
	bool has_image;         /* under everything lies naive_image_byte() */
};

/* Under the recording lies this file, from its byte 0 on at this address. */
#define NAIVE_IMAGE_ADDR (UINT64_C(0x1000) - 30)
#define NAIVE_IMAGE_LEN 60u
uint8_t naive_image_byte(uint64_t off);

/* The twin of a script; @has_file: SCRIPT_FILE is there to be mapped. */
struct naive *naive_new(const struct script *s, bool has_image, bool has_file);
void naive_free(struct naive *nv);

/* Is the byte one of the script's? */
bool naive_is_tracked(const struct naive *nv, uint64_t addr);

/* A tracked byte at a position; returns whether it is known. */
bool naive_mem(const struct naive *nv, uint64_t pos, uint32_t process, uint64_t addr, uint8_t *value);

/* The next position after @pos at which a tracked byte may differ from @pos.  Returns N + 1 if none is found. */
uint64_t naive_next_change(const struct naive *nv, uint64_t pos, uint32_t process, uint64_t addr);

bool naive_reg(const struct naive *nv, uint64_t pos, uint32_t thread, uint32_t off, uint8_t *value);

uint32_t naive_thread(const struct naive *nv, uint64_t pos);
bool naive_pc(const struct naive *nv, uint64_t pos, uint32_t thread, uint64_t *pc);
bool naive_is_alive(const struct naive *nv, uint64_t pos, uint32_t thread);

/* The position of the nearest such step.  Returns TS_NO_POS if none is found. */
uint64_t naive_next_exec(const struct naive *nv, uint32_t process, uint64_t first, uint64_t last,
			 uint64_t pos);
uint64_t naive_prev_exec(const struct naive *nv, uint32_t process, uint64_t first, uint64_t last,
			 uint64_t pos);
uint64_t naive_next_step(const struct naive *nv, uint32_t thread, uint64_t pos);
uint64_t naive_prev_step(const struct naive *nv, uint32_t thread, uint64_t pos);

/* The nearest such event; *step and *thread get its step and thread.  Returns NULL if none is found. */
const struct ts_event *naive_next_event(const struct naive *nv, enum ts_event_kind kind, uint64_t pos,
					uint64_t *step, uint32_t *thread);
const struct ts_event *naive_prev_event(const struct naive *nv, enum ts_event_kind kind, uint64_t pos,
					uint64_t *step, uint32_t *thread);

/* How a tracked byte is mapped; NULL if it is not. */
const struct naive_mapping *naive_mapping(const struct naive *nv, uint64_t pos, uint32_t process,
					  uint64_t addr);

/* The next module after *at that is there at the position; NULL after the last. */
const struct naive_module *naive_next_module(const struct naive *nv, uint64_t pos, uint32_t process,
					     uint32_t *at);

void naive_search(const struct naive *nv, const struct ts_stops *stops, uint64_t from, uint64_t limit,
		  struct ts_found *found);

#endif
