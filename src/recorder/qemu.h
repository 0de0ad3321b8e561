/* SPDX-License-Identifier: MIT */
/*
 * What the plugin uses of the emulator it is loaded into: QEMU's user mode, 7.2, plugin API 1.
 *
 * The declarations are written from the documentation of the interface and from the names that the program
 * exports; nothing of QEMU's headers or structs is here.  Exported functions that are no part of the plugin API
 * are looked up by name at the start (qemu.c): one that is missing is a reason to refuse, not to crash.
 */
#ifndef TS_RECORDER_QEMU_H
#define TS_RECORDER_QEMU_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---------------------------------------------------------------- the plugin API, version 1 */

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

/* Only the member that is used; the version numbers between are not. */
struct qemu_info_t {
	const char *target_name;
};

enum { QEMU_PLUGIN_CB_NO_REGS };
enum { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void (*qemu_tb_trans_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_insn_cb)(unsigned vcpu, void *user);
typedef void (*qemu_mem_cb)(unsigned vcpu, uint32_t info, uint64_t addr, void *user);
typedef void (*qemu_vcpu_cb)(qemu_plugin_id_t id, unsigned vcpu);
typedef void (*qemu_call_cb)(qemu_plugin_id_t id, unsigned vcpu, int64_t num, uint64_t a1, uint64_t a2, uint64_t a3,
			     uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
typedef void (*qemu_call_ret_cb)(qemu_plugin_id_t id, unsigned vcpu, int64_t num, int64_t ret);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_tb_trans_cb cb);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_insn_cb cb, int flags, void *user);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_mem_cb cb, int flags, int rw, void *user);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_vcpu_cb cb);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_call_cb cb);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id, qemu_call_ret_cb cb);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);

/* ---------------------------------------------------------------- exported, but no interface */

/* glib's, which QEMU brings along. */
struct qemu_bytes {
	uint8_t *data;
	unsigned len;
};

struct qemu {
	/* Registers by the numbers of the gdb stub: in the order of bytes of the target. */
	int (*read_register)(void *cpu, struct qemu_bytes *to, int n);
	int (*write_register)(void *cpu, uint8_t *from, int n);
	struct qemu_bytes *(*bytes_new)(void);
	struct qemu_bytes *(*bytes_set_size)(struct qemu_bytes *bytes, unsigned len);
	void (*dump_state)(void *cpu, FILE *to, int flags);
	int (*page_get_flags)(uint64_t addr);
	void (*cpu_exit)(void *cpu);
	void (*cpu_loop_exit_noexc)(void *cpu);
	uintptr_t *guest_base;
	/* x86: the condition codes of its env; AArch64: vector registers of its env. */
	uint32_t (*cc_compute_all)(void *env, int op);
	int (*fpu_read)(void *env, struct qemu_bytes *to, int n);
	int (*fpu_write)(void *env, uint8_t *from, int n);
};

extern struct qemu ts_qemu;

#define QEMU_DUMP_FPU 0x20000
#define QEMU_PAGE_R 1
#define QEMU_PAGE_W 2
#define QEMU_PAGE_X 4
#define QEMU_PAGE_VALID 8

/*
 * Look everything up; @prefix is that of the register functions ("x86_cpu"), @has_cc and @has_fpu tell whether
 * those of x86 and AArch64 are wanted.
 *
 * Returns NULL, or the name that is missing.
 */
const char *ts_qemu_find(const char *prefix, bool has_cc, bool has_fpu);

/* The processor of the calling thread. */
void *ts_qemu_current_cpu(void);

/* The bytes of register @n as the gdb stub gives them, up to @cap.  Returns their number, 0 if there is no such register. */
unsigned ts_qemu_read(void *cpu, int n, uint8_t *bytes, unsigned cap);
unsigned ts_qemu_fpu_read(void *env, int n, uint8_t *bytes, unsigned cap);

/* Where guest memory lies in this process. */
static inline uint8_t *ts_host(uint64_t addr)
{
	return (uint8_t *)(*ts_qemu.guest_base + addr);
}

#endif
