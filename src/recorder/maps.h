/* SPDX-License-Identifier: MIT */
/*
 * The program's mapped memory, and changes of it that no instruction made.
 *
 * The emulator's own memory lies between the program's; page_get_flags() tells them apart.  Contents are read
 * with process_vm_readv(): a page after a file's end is an error then, not a signal.
 */
#ifndef TS_RECORDER_MAPS_H
#define TS_RECORDER_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "out.h"

/*
 * Read the maps, and add what is new, gone and different to @p as ops, with the contents of what is new.
 * [@fresh, @fresh + @len) is new even where nothing seems changed.  @addr_max: the guest's last address.
 */
void ts_maps_update(struct ts_op_piece *p, uint64_t fresh, uint64_t len, uint64_t addr_max, uint64_t sp);

/*
 * Add a WRITE for each piece of writable memory that differs from the shadow, and bring that up to date.
 *
 * Returns false, and does nothing, if so much memory is resident (256 MiB) that this would take too long.
 */
bool ts_maps_compare(struct ts_op_piece *p);

/*
 * The same for files that are mapped shared, however large they are: a call that writes a file changes them.
 */
void ts_maps_compare_shared(struct ts_op_piece *p);

/* The same for [@addr, @addr + @len) as far as it is mapped. */
void ts_maps_compare_range(struct ts_op_piece *p, uint64_t addr, uint64_t len);

/* The same, with what the program can only read. */
void ts_maps_compare_readable(struct ts_op_piece *p, uint64_t addr, uint64_t len);

/* The same for all mappings of the file that @fd is open on, private ones too: their untouched pages are the file's. */
void ts_maps_compare_file(struct ts_op_piece *p, int fd);

/*
 * The kernel wrote [@addr, @addr + @len): add a WRITE of it, also where it holds what it held before, and bring
 * the shadow up to date.
 */
void ts_maps_note_written(struct ts_op_piece *p, uint64_t addr, uint64_t len);

/* Is this part of a file that was too large to be recorded, and has not been read since? */
bool ts_maps_is_unknown(uint64_t addr);

/*
 * Copy @len bytes at @addr.  Returns false if they are not mapped: other threads may unmap them at any time.
 */
bool ts_maps_read(uint64_t addr, void *to, size_t len);

/* Is there a mapping of the program at @addr? */
bool ts_maps_is_mapped(uint64_t addr);

/* Can [@addr, @addr + @len) be read? */
bool ts_maps_is_readable(uint64_t addr, uint64_t len);

#endif
