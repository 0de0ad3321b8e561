/* SPDX-License-Identifier: MIT */
/*
 * A block's description, checked once, so that its executions need no checks.
 */
#ifndef TS_RECORD_CODE_H
#define TS_RECORD_CODE_H

#include "guest.h"

/* Kinds of events that are prepared: the frequent ones have no conditions. */
enum ts_log_code_event_kind {
	TS_CODE_PUT,       /* any */
	TS_CODE_PUT_WORD,  /* 8 bytes of the record */
	TS_CODE_PUT_CONST, /* 8 bytes that are constant */
	TS_CODE_PUT_HALF,  /* 4 bytes of the record */
	TS_CODE_PUT_HALF_CONST,
	TS_CODE_PUT_MMX,   /* 8 bytes of the x87 unit, which are no double: x87 puts its registers by PUTI */
	TS_CODE_PUTI,
	TS_CODE_LOAD,
	TS_CODE_LOAD_WORD, /* 8 bytes of the record, at an address of the record: a processor of 64 bits */
	TS_CODE_LOAD_HALF, /* 4 bytes */
	TS_CODE_STORE,
	TS_CODE_STORE_WORD,
	TS_CODE_STORE_HALF,
};

struct ts_log_code_event {
	uint8_t kind, flags; /* enum ts_log_code_event_kind; enum ts_log_event_flag */
	uint16_t len, off, guard;
	uint64_t addr, value;
	uint32_t n_elements;
	int32_t bias;
};

/* A register that an instruction writes, by its event @event of the block. */
struct ts_log_code_write {
	uint32_t event;
	uint16_t reg; /* place in the guest's table */
};

struct ts_log_code_insn {
	uint64_t pc;
	uint8_t len, flags;
	uint16_t first_exit;         /* of the block's that are taken in it or later */
	uint32_t events, end_events; /* the block's */
	uint32_t writes, end_writes;
	uint32_t room;               /* bytes that its ops need */
};

struct ts_log_code {
	uint32_t num, len;
	uint64_t addr;
	bool is_elsewhere; /* the caller's: its instructions are not recorded */
	uint32_t n_insns, n_exits, n_events, n_writes;
	struct ts_log_code_insn *insns;       /* owned, as are the others */
	struct ts_log_exit *exits;
	struct ts_log_code_event *events;
	struct ts_log_code_write *writes;
};

/*
 * Parse the description in @bytes, @len of them: the part of a DESCRIBE after its head.
 *
 * Returns false if it is malformed or memory is exhausted; @b needs no ts_log_code_fini() then.
 */
bool ts_log_code_take(struct ts_log_code *b, const struct ts_log_guest *g, const uint8_t *bytes, size_t len);
void ts_log_code_fini(struct ts_log_code *b);

#endif
