/* SPDX-License-Identifier: MIT */
/*
 * Usercorn traces from readable text, and steps back to text: what the tests of the loader are written in.
 *
 *      KEY 0 {                              frames: pid, ops (their number is counted; FRAME/5 says 5
 *whatever there is) REG 44 7000                        number, value MAP 1000 1000 5 exe ./prog         addr,
 *len, prot, description, file ("-" for an empty one) WRITE 1000 0f05                    addr, bytes ("-" for
 *none; "8*00" repeats)
 *      }
 *      FRAME 0 { JMP 1000 READ 2000 8 STEP 2 SYSCALL 60 0 15,16 { EXIT } SPREG 122 00112233 RAW ff }
 *
 * Of version 2, whose pids are process:thread:
 *
 *      NOTE 3 =/bin/prog                    key, text after "=", or bytes
 *      FRAME 7:8 { CHANGED 2000 0102 FORGET 3000 10 JMP 1000 STEP 2
 *              SIGNAL 11 1 10 29 { WRITE 6f00 00 REG 44 6f00 }      number, code, addr, flags
 *              GAP 9 { REG 35 1 }      instructions that are not recorded
 *              THREAD_END 0 }
 *      END 1 11                             how, value
 *
 * Addresses, lengths, values and bytes are hex; numbers of registers, system calls and signals, pids, codes,
 * flags, protections, STEP lengths, statuses, keys and counts decimal.
 */
#ifndef TS_TESTS_UCIR_TEXT_H
#define TS_TESTS_UCIR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaders/loader.h"
#include "src/base/collections/buf.h"

struct ucir_form {
	const char *arch;   /* NULL: x86_64 */
	const char *os;     /* NULL: linux */
	uint32_t version;   /* 0, 1 or 2 */
	bool is_version_le; /* the version word little-endian */
	bool is_framed;
	bool is_big_endian; /* both order bytes */
	bool is_stored;     /* chunks of plain bytes */
	size_t first_chunk; /* bytes in the first chunk, 0: as the others */
	size_t chunk;       /* bytes in a chunk, 0: 65536 */
};

/* Version 1 in frames, as the tool writes it. */
extern const struct ucir_form ucir_v1;
/* Version 2 in frames, as tracestub record writes it. */
extern const struct ucir_form ucir_v2;
/* Version 0, plain. */
extern const struct ucir_form ucir_v0;

/* Append the op stream that @text says. */
void ucir_encode_ops(struct ts_buf *out, const char *text, unsigned version);

/* Append a chunk of @len bytes. */
void ucir_encode_chunk(struct ts_buf *out, const uint8_t *bytes, size_t len, bool is_stored);

/* Append a whole trace: header, framing, ops. */
void ucir_encode_stream(struct ts_buf *out, const struct ucir_form *form, const uint8_t *ops, size_t len);
void ucir_encode(struct ts_buf *out, const struct ucir_form *form, const char *text);

/*
 * Append step @i of @b as a line: address/length@thread and its effects in order.
 *
 *      1000/2@0 R2000,8 rax=7000 W2008=0102 M3000,1000,3,brk,- U3000,1000 P1000,1000,5 T1 syscall60(15,16)=0
 *exit21 fault10
 *
 * A signal is signal11, of gdb's numbers, with "+" if it arrived after its step, "/code" and "@addr" if
 * known; the end of a thread is threadend0.  "?=" is a register read, "!" behind an effect says that it is
 * hidden; a write with a length and no bytes (W2008,a) makes them unknown.
 */
void ucir_describe(struct ts_buf *out, const struct ts_recording *rec, const struct ts_steps *b, uint32_t i);

/* The same for effects [@from, @to). */
void ucir_describe_effects(struct ts_buf *out, const struct ts_recording *rec, const struct ts_steps *b,
			   uint32_t from, uint32_t to);

/* A trace in memory that is open. */
struct ucir_trace {
	const char *format; /* its loader; NULL: usercorn */
	const char *grammar; /* of --grammar; NULL: none */
	struct ts_buf bytes;
	struct ts_source *src;
	struct ts_recording *rec; /* NULL: err says why */
	struct ts_reader *reader;
	struct ts_steps steps; /* the last one read */
	struct ts_error err;
};

/* Open what is in t->bytes (zero-initialise or encode into it before); @exec may be NULL. */
bool ucir_open(struct ucir_trace *t, const char *exec);
void ucir_close(struct ucir_trace *t);

/* Read to the end: a line a step to @out (may be NULL).  Returns how it ended; t->err has the error. */
enum ts_next ucir_read_all(struct ucir_trace *t, struct ts_buf *out);

/*
 * Read the at most 255 steps of the open trace to the end, then from each of them on with a reader that was
 * resumed there: it must go on as the one that saved.
 */
void ucir_resume_everywhere(struct ucir_trace *t);

/* Does a warning with that word stand in the recording?  Its count, 0 if not. */
uint64_t ucir_warned(const struct ts_recording *rec, const char *word);

#endif
