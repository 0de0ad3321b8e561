/* SPDX-License-Identifier: MIT */
/*
 * REVEN's binary traces, written by the format's description: for tests of what reads them.
 *
 * A trace is made of parts, each of which can be spoilt before rvn_assemble() puts them together.
 */
#ifndef TS_TESTS_RVN_ENCODE_H
#define TS_TESTS_RVN_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/buf.h"

enum rvn_container {
	RVN_BARE,
	RVN_OLD_HEADER, /* the older magic */
	RVN_HEADER_0,   /* the newer one, without a tool version */
	RVN_HEADER_1,
};

/* Lists of the machine description. */
struct rvn_list {
	struct ts_buf bytes;
	uint32_t n;
};

struct rvn_parts {
	enum rvn_container container;
	const char *format;   /* version of the format; NULL: 1.0.1 */
	struct ts_buf header; /* contents of the header section */
	char arch[5];
	uint8_t addr_len;
	struct rvn_list regions, regs, ops, statics;
	struct ts_buf padding; /* behind the machine description's fields */
	struct ts_buf memory;
	struct rvn_list initial;
	struct rvn_list events;
	bool is_unfinished; /* length and count of the events are 0 */
	/* where things are, after rvn_assemble(): file offsets of the sections' lengths */
	uint64_t header_at, machine_at, memory_at, initial_at, events_at;
};

/* Empty: bare, architecture "x641", addresses of five bytes. */
void rvn_parts_init(struct rvn_parts *p);
void rvn_parts_fini(struct rvn_parts *p);

/* A number in little-endian; a text behind its length in a byte. */
void rvn_number(struct ts_buf *b, uint64_t n, unsigned len);
void rvn_text(struct ts_buf *b, const char *text);

void rvn_region(struct rvn_parts *p, uint64_t start, uint64_t len);
void rvn_register(struct rvn_parts *p, uint16_t id, uint16_t len, const char *name);
void rvn_operation(struct rvn_parts *p, uint8_t id, uint16_t reg, uint8_t kind, const void *operand,
		   unsigned len);
void rvn_static(struct rvn_parts *p, const char *name, const void *value, uint8_t len);
void rvn_initial(struct rvn_parts *p, uint16_t id, const void *value, unsigned len);

/* How an event's entries may be written; each is legal. */
struct rvn_form {
	bool has_long_ids;       /* two bytes, also where one would do */
	bool has_long_lengths;   /* likewise */
	bool is_split_otherwise; /* not as the library's writer does it */
};

/* An event that is being put together. */
struct rvn_event {
	struct rvn_list memory, regs;     /* entries, one behind the other */
	uint32_t *memory_ends, *reg_ends; /* owned; where each ends */
	uint32_t cap_memory, cap_regs;
};

void rvn_event_init(struct rvn_event *ev);
void rvn_event_fini(struct rvn_event *ev);
void rvn_event_memory(struct rvn_event *ev, const struct rvn_parts *p, const struct rvn_form *form,
		      uint64_t addr, const void *data, size_t len);
void rvn_event_register(struct rvn_event *ev, const struct rvn_form *form, uint16_t id, const void *value,
			unsigned len);

/* Append the event and empty it.  @other: it is none of an instruction, but is called so. */
void rvn_event_end(struct rvn_event *ev, struct rvn_parts *p, const struct rvn_form *form, const char *other);

/*
 * A small trace's machine and start: bare, sixteen bytes 00 01 .. 0f at 0x1000, registers 0 rax, 1 rip
 * (0x401000), 2 eflags, 300 rbx; operations 10 (rip += 1) and 11 (eflags |= 1); a physical address has 40
 * bits.
 */
void rvn_small(struct rvn_parts *p);

/* The file. */
void rvn_assemble(struct rvn_parts *p, struct ts_buf *file);

#endif
