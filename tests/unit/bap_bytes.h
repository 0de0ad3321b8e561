/* SPDX-License-Identifier: MIT */
/*
 * Files of BAP's frames, made byte by byte, and loaded.
 */
#ifndef TESTS_BAP_BYTES_H
#define TESTS_BAP_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaders/loader.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"

extern const struct ts_loader bap_loader;

struct loaded {
	struct ts_source *src;
	struct ts_recording *rec;
	struct ts_timeline *tl;
	struct ts_query *q;
	struct ts_error err;
};

void varint(struct ts_buf *b, uint64_t n);
void number(struct ts_buf *b, unsigned field, uint64_t n);
void bytes(struct ts_buf *b, unsigned field, const void *data, size_t len);

/* A message as a field of another; empties it. */
void message(struct ts_buf *b, unsigned field, struct ts_buf *m);
void u64(struct ts_buf *b, uint64_t n);
void frame(struct ts_buf *file, unsigned kind, struct ts_buf *m);

/* Operands have a field that nobody knows. */
extern bool has_unknown_fields;

/* An operand; @name NULL: memory at @addr.  @bits as stored, zig-zag comes on top. */
void operand(struct ts_buf *list, const char *name, uint64_t addr, int64_t bits, bool is_read,
	     bool is_written, const void *value, size_t len);
void reg_op(struct ts_buf *list, const char *name, uint64_t value, size_t len, bool is_written);
void mem_op(struct ts_buf *list, uint64_t addr, const void *data, size_t len, bool is_written);

/* A std frame; the lists are emptied. */
void std_frame(struct ts_buf *file, uint64_t pc, uint64_t tid, const char *raw, size_t raw_len,
	       struct ts_buf *pre, struct ts_buf *post);
void nop_frame(struct ts_buf *file, uint64_t pc, uint64_t tid);
void header(struct ts_buf *file, uint64_t version, uint64_t arch, uint64_t machine);
void meta(struct ts_buf *file, const char *tracer, const char *version, const char *path);

/* Version 3, x86-64, as tracewrap writes it. */
struct ts_buf start(void);
bool load(struct loaded *l, const struct ts_buf *file);
void unload(struct loaded *l);
struct loaded loaded(struct ts_buf *file);
bool has_warning(const struct loaded *l, const char *words);

/* The value of a register at a position in thread @thread: false if it is unknown. */
bool reg_at(const struct loaded *l, uint64_t pos, uint32_t thread, const char *name, uint64_t *value);
void check_reg(const struct loaded *l, uint64_t pos, uint32_t thread, const char *name, uint64_t want);
void check_no_reg(const struct loaded *l, uint64_t pos, uint32_t thread, const char *name);

/* What is known of four bytes of memory, "01020304" or "....0304". */
void check_mem(const struct loaded *l, uint64_t pos, uint64_t addr, const char *want);
void modload(struct ts_buf *file, const char *name, uint64_t low, uint64_t high);

/* All steps are served, with a warning. */
void check_warned(struct ts_buf *file, uint64_t n_steps, const char *words);

/* Effects and steps of the same number. */
void check_same_step(const struct ts_steps *a, uint32_t i, const struct ts_steps *b);

/* A reader that is put at each step in turn goes on as one that reads on. */
void check_resuming(const struct ts_buf *file, uint32_t n_steps);

#endif
