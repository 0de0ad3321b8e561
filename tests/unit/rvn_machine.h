/* SPDX-License-Identifier: MIT */
/*
 * A machine with page tables that is recorded as a REVEN trace: what happens to its registers and to its
 * physical memory becomes events, as the two real recorders would write them.
 *
 * Frames are given out in no order, so that virtual neighbours are no physical ones.  Table entries have bits
 * set that say nothing about the address.
 */
#ifndef TS_TESTS_RVN_MACHINE_H
#define TS_TESTS_RVN_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rvn_encode.h"

enum rvn_paging {
	RVN_PAGING_OFF,
	RVN_PAGING_32, /* two levels, and pages of 4 MiB */
	RVN_PAGING_PAE,
	RVN_PAGING_4_LEVEL,
	RVN_PAGING_5_LEVEL,
};
#define RVN_N_PAGINGS (RVN_PAGING_5_LEVEL + 1)

enum rvn_recorder {
	RVN_PANDA, /* has a register "top" */
	RVN_BOCHS,
};

#define RVN_PAGE_LEN            4096u
#define RVN_N_FRAMES            512u
#define RVN_FRAMES_AT           UINT64_C(0x100000)
#define RVN_MAX_MACHINE_REGIONS 64u
#define RVN_MAX_MAPPINGS        1024u
#define RVN_MAX_VALUE           64u

struct rvn_value {
	uint8_t now[RVN_MAX_VALUE], before[RVN_MAX_VALUE]; /* the event that is being made */
};

struct rvn_ram {
	uint64_t start, len;
	uint8_t *bytes; /* owned */
};

struct rvn_mapping {
	uint64_t virt, phys, len;
};

struct rvn_machine {
	struct rvn_parts parts;
	struct rvn_event event;
	struct rvn_form form;
	enum rvn_paging paging;
	enum rvn_recorder recorder;
	bool is_started;
	struct rvn_ram regions[RVN_MAX_MACHINE_REGIONS];
	unsigned n_regions;
	struct rvn_mapping mappings[RVN_MAX_MAPPINGS];
	unsigned n_mappings;
	struct rvn_value *values; /* owned; by register of the recorder */
	unsigned n_frames;        /* given out */
	uint64_t root;            /* physical address of the uppermost table */
	uint64_t n_events;
	uint32_t noise;
};

/*
 * A machine whose registers are zeros but for those that choose the mode.  It has 64 KiB of memory at 0, the
 * frames, and a page of a device; rvn_machine_ram() adds more.
 */
void rvn_machine_init(struct rvn_machine *m, enum rvn_paging paging, enum rvn_recorder recorder);
void rvn_machine_fini(struct rvn_machine *m);
void rvn_machine_ram(struct rvn_machine *m, uint64_t start, uint64_t len);

/* The physical address of a frame that nobody has. */
uint64_t rvn_machine_frame(struct rvn_machine *m);

/* Map @len bytes (one page of the mode: 4 KiB, 2 or 4 MiB, 1 GiB), or take the page away. */
void rvn_machine_map(struct rvn_machine *m, uint64_t virt, uint64_t phys, uint64_t len);
void rvn_machine_unmap(struct rvn_machine *m, uint64_t virt);

/*
 * Where a virtual address is: not by the tables, but by what was asked of the functions above.  False:
 * nowhere.
 */
bool rvn_machine_find(const struct rvn_machine *m, uint64_t virt, uint64_t *phys);

/* Memory becomes this. */
void rvn_machine_write(struct rvn_machine *m, uint64_t phys, const void *data, size_t len);
void rvn_machine_write_virtual(struct rvn_machine *m, uint64_t virt, const void *data, size_t len);

/* The machine's bytes at a physical address, NULL where it has no memory. */
const uint8_t *rvn_machine_bytes(const struct rvn_machine *m, uint64_t phys);

/* A register, by its recorded name, becomes this. */
void rvn_machine_set(struct rvn_machine *m, const char *name, uint64_t value);
uint64_t rvn_machine_get(const struct rvn_machine *m, const char *name);

/* Registers that say what code runs: in the kernel or in the user's program. */
void rvn_machine_enter(struct rvn_machine *m, bool is_kernel);

/* What is so now is the start of the recording. */
void rvn_machine_start(struct rvn_machine *m);

/* What happened since the last event is one; @other as in rvn_event_end(). */
void rvn_machine_end_event(struct rvn_machine *m, const char *other);

void rvn_machine_finish(struct rvn_machine *m, struct ts_buf *file);

#endif
