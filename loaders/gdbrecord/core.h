/* SPDX-License-Identifier: MIT */
/*
 * The container of a recording: an ELF core file of the moment at position 0, with the log as a segment.
 *
 * Only program headers are used, because section headers are at the end of the file and a truncated file has
 * none.  gdb reads the log from the first PT_NULL segment.  Sources: the ELF specification; gdb 13.1,
 * record-full.c (record_full_base_target::save_record), gcore.c.
 */
#ifndef GDBRECORD_CORE_H
#define GDBRECORD_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/arch/arch.h"
#include "src/base/cursor.h"
#include "src/base/error.h"
#include "src/source/source.h"

/* A PT_LOAD segment. */
struct core_load {
	uint64_t addr;     /* of its first byte; addr + mem_len does not wrap */
	uint64_t mem_len;  /* bytes in memory, not 0 */
	uint64_t off;      /* of its first byte in the file */
	uint64_t file_len; /* bytes in the file, at most mem_len; the others are unknown */
	uint32_t prot;     /* enum ts_prot bits */
};

/* A PT_NOTE segment, as far as the file has it. */
struct core_notes {
	uint64_t off, len;
};

struct core {
	const struct ts_source *src; /* borrowed */
	const struct ts_arch *arch;  /* a constant table */
	unsigned word;               /* bytes of an address: 4 or 8 */
	bool is_big_endian;
	struct core_load *loads; /* owned; by address, without overlaps */
	size_t n_loads;
	struct core_notes *notes; /* owned */
	size_t n_notes;
	size_t n_notes_ignored; /* PT_NOTE segments that overlap the one before them, or lie before it */
	uint64_t log_off, log_end; /* of the log, in the file; log_end is at most the file's length */
	bool is_log_short;         /* the file ends before the log does */
	bool is_load_short;        /* the file ends before some PT_LOAD segment does; the missing bytes are unknown */
};

/*
 * Read the headers of @src (borrowed until core_fini()).
 *
 * Returns true on success.
 * Returns false if the file is not an ELF core file, has no log, or is of a processor that gdb does not
 * record (TS_EUNSUPPORTED).
 * Returns false if a header is outside of the file (TS_ETRUNC).
 * Returns false if headers contradict each other (TS_ECORRUPT).
 * Returns false if the file cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 * The caller calls core_fini() in all cases.
 */
bool core_init(struct core *core, const struct ts_source *src, struct ts_error *err);
void core_fini(struct core *core);

/* A note.  Its bytes are valid until the next call. */
struct core_note {
	uint32_t type;
	char name[8];          /* "CORE", "LINUX", "GDB"; longer ones are truncated; terminated */
	struct ts_cursor desc; /* with offsets of the file */
};

/*
 * Call @take for each note, in the order of the file.
 *
 * Returns true after the last note.
 * Returns false as soon as @take does.
 * Returns false if a note passes the end of its segment (TS_ECORRUPT).
 * Returns false if the notes are larger than those of a real core file (TS_ELIMIT).
 * Returns false if the file cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool core_each_note(const struct core *core, bool (*take)(void *user, struct core_note *note), void *user,
		    struct ts_error *err);

/*
 * The segment that contains @addr.  *room is set to the number of bytes from @addr on, at least one, for
 * which the result is the same: up to the end of the segment, or up to the next segment; UINT64_MAX if none
 * follows.
 *
 * Returns the segment, borrowed until core_fini().
 * Returns NULL if no segment contains @addr.
 */
const struct core_load *core_find(const struct core *core, uint64_t addr, uint64_t *room);

/*
 * Read a number of @len bytes, 1 to 8, in the target's byte order.  Returns it; 0 after a failure of the
 * cursor.
 */
uint64_t core_take(const struct core *core, struct ts_cursor *c, size_t len);

#endif
