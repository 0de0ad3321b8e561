/* SPDX-License-Identifier: MIT */
/*
 * The description of a block.  It is checked once; its executions then need no checks.
 */
#ifndef TS_RECORD_CODE_H
#define TS_RECORD_CODE_H

#include "guest.h"

/* Kinds of prepared events.  Frequent events have kinds of their own, which execute.c applies without conditions. */
enum ts_log_code_event_kind {
	TS_CODE_PUT,       /* any */
	TS_CODE_PUT_WORD,  /* 8 bytes of the record */
	TS_CODE_PUT_CONST, /* 8 bytes that are constant */
	TS_CODE_PUT_HALF,  /* 4 bytes of the record */
	TS_CODE_PUT_HALF_CONST,
	TS_CODE_PUT_MMX,   /* an MMX register, 8 bytes of the x87 unit; x87's own registers are written by PUTI */
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
	uint16_t first_exit;         /* the block's first exit in this instruction or a later one */
	uint32_t events, end_events; /* the block's */
	uint32_t writes, end_writes;
	uint32_t room;               /* bytes that its ops need */
};

struct ts_log_code {
	uint32_t num, len;
	uint64_t addr;
	bool is_elsewhere; /* set by the caller: the instructions of this block are not recorded */
	uint32_t n_insns, n_exits, n_events, n_writes;
	struct ts_log_code_insn *insns;       /* owned, as are the others */
	struct ts_log_exit *exits;
	struct ts_log_code_event *events;
	struct ts_log_code_write *writes;
};

/*
 * Parse a description: the @len bytes at @bytes that follow the head of a DESCRIBE record.
 *
 * Returns false if it is malformed.
 * Returns false if memory is exhausted.
 * @b then needs no ts_log_code_fini().
 */
bool ts_log_code_take(struct ts_log_code *b, const struct ts_log_guest *g, const uint8_t *bytes, size_t len);
void ts_log_code_fini(struct ts_log_code *b);

#endif
