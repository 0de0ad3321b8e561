/* SPDX-License-Identifier: MIT */
#include "qemu7.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"

struct qemu ts_qemu;

const int ts_qemu_insn_flags = QEMU_PLUGIN_CB_NO_REGS;

/* As 7.2 has it; it became another one in version 3. */
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);

static struct qemu_bytes *scratch;

static const char *find(void *slot, const char *name)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);

	memcpy(slot, &symbol, sizeof(symbol));
	return symbol ? NULL : name;
}

const char *ts_qemu_find(const struct ts_guest *guest)
{
	static char names[2][64], why[160];
	const struct {
		void *slot;
		const char *name;
		bool is_needed;
	} wanted[] = {
		{ &ts_qemu.read_register, names[0], true },
		{ &ts_qemu.write_register, names[1], true },
		{ &ts_qemu.bytes_new, "g_byte_array_new", true },
		{ &ts_qemu.bytes_set_size, "g_byte_array_set_size", true },
		{ &ts_qemu.dump_state, "cpu_dump_state", true },
		{ &ts_qemu.page_get_flags, "page_get_flags", true },
		{ &ts_qemu.cpu_exit, "cpu_exit", true },
		{ &ts_qemu.cpu_loop_exit_noexc, "cpu_loop_exit_noexc", true },
		{ &ts_qemu.cpu_exec_start, "cpu_exec_start", true },
		{ &ts_qemu.cpu_exec_end, "cpu_exec_end", true },
		{ &ts_guest_base, "guest_base", true },
		{ &ts_qemu.cc_compute_all, "cpu_cc_compute_all", guest->has_cc },
		{ &ts_qemu.fpu_read, "aarch64_fpu_gdb_get_reg", guest->has_fpu },
		{ &ts_qemu.fpu_write, "aarch64_fpu_gdb_set_reg", guest->has_fpu },
	};
	const char *missing = dlsym(RTLD_DEFAULT, "current_cpu") ? NULL : "current_cpu";

	snprintf(names[0], sizeof(names[0]), "%s_gdb_read_register", guest->prefix);
	snprintf(names[1], sizeof(names[1]), "%s_gdb_write_register", guest->prefix);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && !missing; i++) {
		if (wanted[i].is_needed)
			missing = find(wanted[i].slot, wanted[i].name);
	}
	if (missing) {
		snprintf(why, sizeof(why), "this QEMU has no %s for plugins; QEMU 7.2 of Debian 12 has it",
			 missing);
		return why;
	}
	scratch = ts_qemu.bytes_new();
	return NULL;
}

void ts_qemu_insn_bytes(const struct qemu_plugin_insn *insn, uint8_t *bytes, size_t cap)
{
	size_t n = qemu_plugin_insn_size(insn);

	memcpy(bytes, qemu_plugin_insn_data(insn), n < cap ? n : cap);
}

const uint8_t *ts_qemu_loaded(uint32_t, uint64_t addr, uint8_t [16])
{
	return ts_host(addr);
}

int ts_qemu_page(uint64_t addr, const struct ts_mapping *, uint64_t)
{
	return ts_qemu.page_get_flags(addr);
}

void ts_qemu_leave(void *cpu)
{
	ts_qemu.cpu_exit(cpu);
	ts_qemu.cpu_loop_exit_noexc(cpu);
}

/* The only byte that follows the two functions that begin and end execution. */
const char *ts_qemu_begin(void *cpu)
{
	size_t size = malloc_usable_size(cpu);
	const uint8_t *now = cpu;
	uint8_t *before = malloc(size);
	unsigned n = 0;

	if (!before)
		return "memory is exhausted";
	memcpy(before, now, size);
	ts_qemu.cpu_exec_end(cpu);
	for (uint32_t i = 0; i < size; i++) {
		if (before[i] == now[i])
			continue;
		n += before[i] == 1 && !now[i] ? 1 : 2;
		ts_qemu_executing = i;
	}
	ts_qemu.cpu_exec_start(cpu);
	if (memcmp(before, now, size) != 0)
		n = 0;
	free(before);
	return n == 1 ? NULL : "this QEMU does not report when it executes; QEMU 7.2 of Debian 12 does";
}

/* It is a variable of each thread: dlsym() gives the calling one's. */
void *ts_qemu_current_cpu(void)
{
	return *(void **)dlsym(RTLD_DEFAULT, "current_cpu");
}

static unsigned take(uint8_t *bytes, unsigned cap)
{
	unsigned n = scratch->len < cap ? scratch->len : cap;

	memcpy(bytes, scratch->data, n);
	ts_qemu.bytes_set_size(scratch, 0);
	return n;
}

unsigned ts_qemu_read(void *cpu, int n, uint8_t *bytes, unsigned cap)
{
	ts_qemu.read_register(cpu, scratch, n);
	return take(bytes, cap);
}

unsigned ts_qemu_fpu_read(void *env, int n, uint8_t *bytes, unsigned cap)
{
	ts_qemu.fpu_read(env, scratch, n);
	return take(bytes, cap);
}
