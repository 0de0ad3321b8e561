/* SPDX-License-Identifier: MIT */
/*
 * Writes a REVEN trace of a small machine, for tests that want a file.
 *
 *	machine_trace LEVELS FILE         LEVELS is 4 or 5
 *
 * A user's program counts in rax and stores it, ROUNDS times:
 *
 *	0x401000  inc %rax
 *	0x401003  mov %eax, 0x600000
 *	0x40100a  jmp 0x401000
 *
 * In round 5 the store faults; the kernel moves the page to another frame, and the store is done.  In round 9
 * a hardware interrupt comes before inc.  The kernel runs at 0xffffffff80001000, two instructions each time.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/rvn_machine.h"

#define CODE_AT		0x401000
#define DATA_AT		0x600000
#define STACK_AT	UINT64_C(0x7ffffffff000)
#define KERNEL_AT	UINT64_C(0xffffffff80000000)
#define ROUNDS		12
#define FAULT_ROUND	5
#define INTERRUPT_ROUND 9

static struct rvn_machine m;

static void map(uint64_t virt, const void *data, size_t len)
{
	uint64_t frame = rvn_machine_frame(&m);

	rvn_machine_write(&m, frame, data, len);
	rvn_machine_map(&m, virt, frame, RVN_PAGE_LEN);
}

static void move_data(void)
{
	uint64_t from, to = rvn_machine_frame(&m);

	if (!rvn_machine_find(&m, DATA_AT, &from))
		return;
	rvn_machine_write(&m, to, rvn_machine_bytes(&m, from), RVN_PAGE_LEN);
	rvn_machine_map(&m, DATA_AT, to, RVN_PAGE_LEN);
	rvn_machine_write(&m, from, "\xff\xff\xff\xff", 4);
}

static void step(uint64_t rip)
{
	rvn_machine_set(&m, "rip", rip);
	rvn_machine_end_event(&m, NULL);
}

/* The way to the kernel, two instructions there, and the way back. */
static void interrupt(const char *what, uint64_t cr2)
{
	uint64_t rip = rvn_machine_get(&m, "rip"), rsp = rvn_machine_get(&m, "rsp");

	rvn_machine_enter(&m, true);
	rvn_machine_set(&m, "rip", KERNEL_AT + 0x1000);
	rvn_machine_set(&m, "rsp", KERNEL_AT + 0x7fd8);
	rvn_machine_write(&m, 0x7fd8, &rip, sizeof(rip));
	if (cr2)
		rvn_machine_set(&m, "cr2", cr2);
	rvn_machine_end_event(&m, what);
	if (cr2)
		move_data();
	step(KERNEL_AT + 0x1001);
	rvn_machine_enter(&m, false);
	rvn_machine_set(&m, "rsp", rsp);
	step(rip);
}

static void record(void)
{
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		if (round == INTERRUPT_ROUND)
			interrupt("hw interrupt 32", 0);
		rvn_machine_set(&m, "rax", round);
		step(CODE_AT + 3);
		if (round == FAULT_ROUND)
			interrupt("page fault", DATA_AT);
		rvn_machine_write_virtual(&m, DATA_AT, &round, sizeof(round));
		step(CODE_AT + 10);
		step(CODE_AT);
	}
}

static bool save(const char *path, const struct ts_buf *file)
{
	FILE *f = fopen(path, "wb");
	bool done = f && fwrite(file->data, 1, file->len, f) == file->len;

	return f && !fclose(f) && done;
}

int main(int argc, char **argv)
{
	struct ts_buf file;
	bool done;

	if (argc != 3)
		return 2;
	rvn_machine_init(&m, *argv[1] == '5' ? RVN_PAGING_5_LEVEL : RVN_PAGING_4_LEVEL, RVN_PANDA);
	map(CODE_AT, "\x48\xff\xc0\x89\x04\x25\x00\x00\x60\x00\xeb\xf4", 12);
	map(DATA_AT, "\0\0\0\0", 4);
	map(STACK_AT - RVN_PAGE_LEN, "", 1);
	rvn_machine_map(&m, KERNEL_AT, 0, 0x200000);
	rvn_machine_write(&m, 0x1000, "\x90\x48\xcf", 3); /* nop, iretq */
	rvn_machine_set(&m, "rip", CODE_AT);
	rvn_machine_set(&m, "rsp", STACK_AT - 16);
	rvn_machine_set(&m, "eflags", 0x202);
	rvn_machine_start(&m);
	record();
	ts_buf_init(&file);
	rvn_machine_finish(&m, &file);
	done = save(argv[2], &file);
	ts_buf_fini(&file);
	rvn_machine_fini(&m);
	return !done;
}
