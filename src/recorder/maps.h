/* SPDX-License-Identifier: MIT */
/*
 * The program's mapped memory, and changes of it that no instruction made.
 *
 * The emulator's own memory lies between the program's; page_get_flags() distinguishes them.  Contents are read
 * with process_vm_readv(): a page after a file's end is an error then, not a signal.
 */
#ifndef TS_RECORDER_MAPS_H
#define TS_RECORDER_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "out.h"

/*
 * Read the maps, and append their changes to @p as ops, with the contents of new mappings.  The mappings in [@fresh,
 * @fresh + @len) are new even if they look unchanged.  @addr_max is the guest's last address.
 */
void ts_maps_update(struct ts_op_piece *p, uint64_t fresh, uint64_t len, uint64_t addr_max, uint64_t sp);

/*
 * Compare all writable memory with the shadow: append a WRITE for each difference, and update the shadow.
 *
 * Returns false, and does nothing, if more than 256 MiB are resident, because this would take too long.
 */
bool ts_maps_compare(struct ts_op_piece *p);

/*
 * Compare the files that are mapped shared, whatever their size: a call that writes a file changes them.
 */
void ts_maps_compare_shared(struct ts_op_piece *p);

/* Compare the writable memory in [@addr, @addr + @len). */
void ts_maps_compare_range(struct ts_op_piece *p, uint64_t addr, uint64_t len);

/* Compare the memory in [@addr, @addr + @len) that the program can read. */
void ts_maps_compare_readable(struct ts_op_piece *p, uint64_t addr, uint64_t len);

/* Compare all mappings of the file of @fd, also private ones, whose unmodified pages are those of the file. */
void ts_maps_compare_file(struct ts_op_piece *p, int fd);

/* The same, of the file whose path is a text at @path. */
void ts_maps_compare_path(struct ts_op_piece *p, uint64_t path);

/*
 * The kernel wrote [@addr, @addr + @len): append a WRITE of these bytes, even if they are unchanged, and update the
 * shadow.
 */
void ts_maps_note_written(struct ts_op_piece *p, uint64_t addr, uint64_t len);

/* Does @addr belong to a mapped file whose contents were too large to be recorded? */
bool ts_maps_is_unknown(uint64_t addr);

/*
 * Copy @len bytes at @addr.  Returns false if they are not mapped.  Other threads may unmap them at any time.
 */
bool ts_maps_read(uint64_t addr, void *to, size_t len);

/* Is there a mapping of the program at @addr? */
bool ts_maps_is_mapped(uint64_t addr);

/* Can [@addr, @addr + @len) be read? */
bool ts_maps_is_readable(uint64_t addr, uint64_t len);

/* The number of @len bytes at @addr.  Returns 0 if it cannot be read. */
uint64_t ts_maps_word(uint64_t addr, unsigned len);

/* Copy the text at @addr, as far as it can be read, to @to, of @cap bytes with the NUL.  Returns its length. */
size_t ts_maps_text(uint64_t addr, char *to, size_t cap);

#endif
