/* SPDX-License-Identifier: MIT */
/*
 * Interface of the emulator that loads the plugin: QEMU's user mode.
 *
 * The declarations are written from the documentation of the interface; nothing of QEMU's headers or structs
 * is here. The plugin is built twice: for QEMU 7.2, whose interface (version 1) gives no registers (qemu7.c,
 * regs7.c), and for 9.2 and later (version 4), which exports nothing but its interface (qemu9.c, regs9.c).
 * TS_QEMU_API is the version.
 */
#ifndef TS_RECORDER_QEMU_H
#define TS_RECORDER_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---------------------------------------------------------------- the plugin API, versions 1 to 4 */

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

/* Only the member that is used; the version numbers between are not. */
struct qemu_info_t {
	const char *target_name;
};

enum { QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_CB_R_REGS };
enum { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void (*qemu_tb_trans_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_insn_cb)(unsigned vcpu, void *user);
typedef void (*qemu_mem_cb)(unsigned vcpu, uint32_t info, uint64_t addr, void *user);
typedef void (*qemu_vcpu_cb)(qemu_plugin_id_t id, unsigned vcpu);
typedef void (*qemu_call_cb)(qemu_plugin_id_t id, unsigned vcpu, int64_t num, uint64_t a1, uint64_t a2,
			     uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
typedef void (*qemu_call_ret_cb)(qemu_plugin_id_t id, unsigned vcpu, int64_t num, int64_t ret);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_tb_trans_cb cb);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_insn_cb cb, int flags,
					    void *user);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_mem_cb cb, int flags, int rw,
				      void *user);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_vcpu_cb cb);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_call_cb cb);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id, qemu_call_ret_cb cb);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);

/* ---------------------------------------------------------------- what differs between the builds */

/* glib's, which QEMU brings along. */
struct qemu_bytes {
	uint8_t *data;
	unsigned len;
};

struct ts_guest;

/* For the callbacks of instructions: QEMU_PLUGIN_CB_... */
extern const int ts_qemu_insn_flags;

/*
 * Find what @guest needs of QEMU.
 *
 * Returns NULL on success.  Returns the reason, a sentence in static memory, if @guest cannot be recorded.
 */
const char *ts_qemu_find(const struct ts_guest *guest);

/* Returns the processor of the calling thread, which QEMU owns. */
void *ts_qemu_current_cpu(void);

/*
 * Find the flag in @cpu, the processor of the calling thread, that is set while QEMU executes an instruction.  Called
 * before the program's first instruction.
 *
 * Returns NULL on success.  Returns the reason, a sentence in static memory, if nothing can be recorded.
 */
const char *ts_qemu_begin(void *cpu);

/* QEMU 7.2: the offset of that flag in the processor's object. */
extern uint32_t ts_qemu_executing;

/*
 * Does @cpu execute an instruction?  If not, an access is QEMU's own: QEMU writes signal frames with the same functions,
 * which run the callbacks of the last instruction.
 */
static inline bool ts_qemu_is_executing(const void *cpu)
{
	return TS_QEMU_API > 1 || ((const uint8_t *)cpu)[ts_qemu_executing];
}

/* The bytes of an instruction that is translated: up to @cap. */
void ts_qemu_insn_bytes(const struct qemu_plugin_insn *insn, uint8_t *bytes, size_t cap);

/*
 * Returns the bytes that an instruction loaded from @addr: a pointer into the guest's memory, or @bytes.  QEMU 9 reports the
 * load of an atomic instruction after the store, with the loaded value.
 */
const uint8_t *ts_qemu_loaded(uint32_t info, uint64_t addr, uint8_t bytes[16]);

#define QEMU_PAGE_R 1
#define QEMU_PAGE_W 2
#define QEMU_PAGE_X 4
#define QEMU_PAGE_VALID 8

/* A mapping of this process. */
struct ts_mapping {
	uint64_t off;        /* in the file */
	char perms[5];       /* of the host: "rw-p" */
	const char *file;    /* "": none */
};

/*
 * The flags QEMU_PAGE_... of the program's page at @addr, which is @from bytes after the beginning of @m.  Returns 0 if
 * the page does not belong to the program.
 */
int ts_qemu_page(uint64_t addr, const struct ts_mapping *m, uint64_t from);

/*
 * Leave the block, so that the instruction's callback is called again.  Returns if a callback cannot leave a block in
 * this QEMU.
 */
void ts_qemu_leave(void *cpu);

/* The address of guest memory in this process. */
extern uintptr_t *ts_guest_base;

/* Returns the guest's byte at @addr in this process; valid while the guest maps it. */
static inline uint8_t *ts_host(uint64_t addr)
{
	return (uint8_t *)(*ts_guest_base + addr);
}

#endif
