/* SPDX-License-Identifier: MIT */
/*
 * An open trace of REVEN's binary format, shared by the files of this folder.  The top of rvnbintrace.c
 * describes the format.
 */
#ifndef LOADERS_RVNBINTRACE_TRACE_H
#define LOADERS_RVNBINTRACE_TRACE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "loaders/kit/warn.h"
#include "loaders/kit/window.h"
#include "src/base/cursor.h"
#include "src/source/source.h"
#include "src/trace/reader.h"

/*
 * Limits that tracestub sets.  Real traces have some 230 registers of at most 64 bytes, 10 regions, and 20
 * bytes that operations change.
 */
#define RVN_MAX_REG_LEN 1024u
#define RVN_MAX_KEPT    16384u
#define RVN_MAX_REGIONS 65536u

#define RVN_LONG_ID     0xff
#define RVN_LONG_LEN    0xff
#define RVN_NO_REG      UINT16_MAX
#define RVN_NOT_KEPT    UINT32_MAX
#define RVN_MAX_TARGETS 255u

/* This many bytes after kept values are readable, and may be written with the same values. */
#define RVN_KEPT_PAD 8u

/* The use of a register's value. */
enum rvn_role {
	RVN_LEFT_OUT,
	RVN_PLAIN, /* the register at off, zero-extended */
	RVN_PC,
	RVN_VECTOR, /* xmm at off, the next part of the register at high, the rest is ignored */
	RVN_X87,    /* one of enum rvn_x87 */
};

/* Recorded registers from which gdb's x87 registers are computed. */
enum rvn_x87 {
	RVN_X87R, /* and seven more: the physical registers */
	RVN_STATUS = RVN_X87R + 8,
	RVN_CONTROL,
	RVN_TAGS,
	RVN_TOP,
	RVN_OPCODE,
	RVN_LASTIP,
	RVN_LASTDP,
	RVN_N_X87,
};

struct rvn_reg {
	const uint8_t *name; /* borrowed from the machine description */
	uint8_t name_len;
	bool is_op_target;
	uint8_t target; /* ordinal among the targets of operations */
	uint16_t id;
	uint16_t len; /* bytes */
	enum rvn_role role;
	uint32_t off, high; /* in the 'g' layout */
	uint16_t g_len;     /* bytes there */
	uint32_t kept;      /* offset of its current value in a reader's kept values; RVN_NOT_KEPT: none */
};

enum rvn_op_kind {
	RVN_SET,
	RVN_ADD,
	RVN_AND,
	RVN_OR,
};

/* An operation on a register's current value. */
struct rvn_op {
	const uint8_t *operand; /* borrowed from the machine description; as long as the register */
	uint16_t reg;           /* ordinal of the register; RVN_NO_REG: no operation has this id */
	uint8_t kind;           /* enum rvn_op_kind */
};

/* The fast processing of the entry of an id (struct rvn_short). */
enum rvn_way {
	RVN_NO_SHORT, /* none: the entry is parsed in the general way */
	RVN_APPEND,     /* append an effect with the value that follows */
	RVN_KEEP,     /* change the kept value */
	RVN_KEEP_NOTE /* change the kept value, and append an effect with it at the end of the event */
};

/*
 * The entry of an id, for registers of at most eight bytes (nearly all), in a form that needs no branch on
 * the kind of the entry.  Of the kept value, the bits in `mask` are replaced by those of (((kept & keep) |
 * set) + add) combined with the bits in `take` of the value of `len` bytes that follows the id.
 */
struct rvn_short {
	uint64_t keep, set, add, take, mask;
	uint32_t kept;    /* offset of the kept value */
	uint32_t off;     /* RVN_APPEND: of the register in the 'g' layout */
	uint16_t ordinal; /* of the register */
	uint8_t len;
	uint8_t way;      /* enum rvn_way */
	uint8_t target;   /* RVN_KEEP_NOTE: ordinal among the targets of operations */
	uint8_t width;    /* RVN_KEEP_NOTE: bytes of the register if the kept value is reported; 0: it is not */
};

/* Physical addresses first to last, both inclusive. */
struct rvn_span {
	uint64_t first, last;
};

struct rvn_region {
	uint64_t start, len;
};

struct rvn {
	struct ts_recording base;
	const struct ts_source *src; /* borrowed */
	uint8_t *machine;            /* owned; the machine description, for names and operands */
	char arch[5];                /* as recorded */
	uint8_t addr_len;            /* bytes of a physical address */
	struct rvn_region *regions;  /* owned; as declared */
	uint32_t n_regions;
	uint64_t memory_len;    /* of all regions together */
	struct rvn_span *spans; /* owned; the union of the regions, ascending, with gaps between them */
	uint32_t n_spans;
	struct rvn_reg *regs; /* owned */
	uint32_t n_regs;
	uint16_t *reg_of_id;         /* owned; by id, ordinal in regs or RVN_NO_REG */
	struct rvn_op ops[256];      /* by id */
	struct rvn_short shorts[256]; /* by id; operations, too */
	uint16_t pc;                 /* ordinal of the program counter */
	uint16_t x87[RVN_N_X87];     /* ordinals of registers; RVN_NO_REG: not recorded */
	uint32_t x87_off;            /* of st0; the other x87 registers follow it */
	uint8_t *kept;               /* owned; values at position 0: operations' targets, x87, a pad */
	uint32_t kept_len;
	uint64_t first, end;         /* file offsets of the events */
	uint64_t n_events;           /* as recorded; UINT64_MAX: not recorded, the events end with the file */
	bool is_unfinished;          /* the recorder ended before it wrote the number of events */
	struct ts_warner warner;     /* places are ordinals of events */
};

/* Returns the little-endian number of @len bytes, at most 8, at @p. */
static inline uint64_t rvn_le(const uint8_t *p, size_t len)
{
	uint64_t n = 0;

	if (len == sizeof(n)) {
		memcpy(&n, p, sizeof(n));
		return le64toh(n);
	}
	while (len--)
		n = n << 8 | p[len];
	return n;
}

/* -------------------------------------------------------------------------------------- machine.c */

/*
 * Read the machine description.  The bytes of @c are those of rec->machine.
 *
 * Returns false if the description is truncated (TS_ETRUNC) or contradicts itself (TS_ECORRUPT).
 * Returns false if it has a kind of machine that tracestub does not support (TS_EUNSUPPORTED).
 * Returns false if it exceeds a limit (TS_ELIMIT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool rvn_read_machine(struct rvn *rec, struct ts_cursor *c);

/*
 * Read the initial registers into the recording's initial effects and into rec->kept.
 *
 * Returns false if a register is missing, listed twice, or not in the machine description (TS_ECORRUPT).
 * Returns false if the bytes end too early (TS_ETRUNC).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool rvn_read_registers(struct rvn *rec, struct ts_cursor *c);

/* --------------------------------------------------------------------------------------- reader.c */

/*
 * A reader at the first event.
 *
 * Returns the reader, which the caller closes with its close().
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_reader *rvn_reader_new(struct rvn *rec, struct ts_error *err);

#endif
