/* SPDX-License-Identifier: MIT */
#include "qemu.h"

#include <dlfcn.h>
#include <string.h>

struct qemu ts_qemu;

static struct qemu_bytes *scratch;

static const char *find(void *slot, const char *name)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);

	memcpy(slot, &symbol, sizeof(symbol));
	return symbol ? NULL : name;
}

const char *ts_qemu_find(const char *prefix, bool has_cc, bool has_fpu)
{
	static char names[2][64];
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
		{ &ts_qemu.guest_base, "guest_base", true },
		{ &ts_qemu.cc_compute_all, "cpu_cc_compute_all", has_cc },
		{ &ts_qemu.fpu_read, "aarch64_fpu_gdb_get_reg", has_fpu },
		{ &ts_qemu.fpu_write, "aarch64_fpu_gdb_set_reg", has_fpu },
	};
	const char *missing = dlsym(RTLD_DEFAULT, "current_cpu") ? NULL : "current_cpu";

	snprintf(names[0], sizeof(names[0]), "%s_gdb_read_register", prefix);
	snprintf(names[1], sizeof(names[1]), "%s_gdb_write_register", prefix);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && !missing; i++) {
		if (wanted[i].is_needed)
			missing = find(wanted[i].slot, wanted[i].name);
	}
	if (!missing)
		scratch = ts_qemu.bytes_new();
	return missing;
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
