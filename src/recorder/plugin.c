/* SPDX-License-Identifier: MIT */
/*
 * The functions of the plugin that QEMU calls.
 *
 *     -plugin .../tracestub-record.so,fd=N,size=BYTES,reader=PID
 *
 * Each instruction is a block of its own (-singlestep), so that all registers are in memory when its callback
 * runs, and the previous instruction has been completed.  A thread that does not have the turn waits.  It
 * must not wait long inside a callback, because QEMU may have to stop all threads: then the thread leaves the
 * block, and resumes at the same instruction.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel.h"
#include "loaders/usercorn/op_write.h"
#include "qemu.h"
#include "ring.h"
#include "src/record/shadow.h"
#include "thread.h"

#define MAX_INSN_LEN 16u
#define MAX_ACCESS_LEN 16u

#define EXPORT __attribute__((visibility("default")))

extern EXPORT int qemu_plugin_version;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv);

int qemu_plugin_version = TS_QEMU_API;

#define MAX_RESERVED (UINT64_C(1) << 40)

static __thread struct ts_task *self __attribute__((tls_model("initial-exec")));
static _Atomic unsigned n_threads;
static bool is_begun; /* the first keyframe is written */

/* The argument of an instruction's callbacks: its address, its length, TS_INSN_... */
static void *pack(uint64_t pc, size_t len, unsigned flags)
{
	return (void *)(uintptr_t)(pc << 16 | len << 8 | flags);
}

static _Noreturn void refuse(const char *why)
{
	struct ts_ring *r = ts_out_ring();

	snprintf(r->refusal, sizeof(r->refusal), "%s", why);
	atomic_store(&r->is_refused, 1);
	_exit(EXIT_FAILURE);
}

/* -------------------------------------------------------------------------------- threads */

static struct ts_task *new_thread(void)
{
	struct ts_task *t = calloc(1, sizeof(*t));

	if (!t)
		refuse("memory is exhausted");
	/* cppcheck-suppress nullPointerRedundantCheck; refuse() does not return */
	*t = (struct ts_task){
		.cpu = ts_qemu_current_cpu(),
		.pid = (uint64_t)getpid() << 32 | (uint32_t)syscall(SYS_gettid),
		.is_new = true,
	};
	n_threads++;
	self = t;
	return t;
}

/* The first instruction of the first thread. */
static void begin_recording(struct ts_task *t)
{
	char missing[256] = "";
	const char *why = ts_qemu_begin(t->cpu);

	if (!why)
		why = ts_regs_find(ts_guest, t->cpu, missing, sizeof(missing));
	if (why)
		refuse(why);
	if (*missing)
		ts_out_note(UCIR_NOTE_UNRECORDED, missing, (uint32_t)strlen(missing));
	ts_siginfo_watch();
	atomic_store(&ts_out_ring()->is_started, 1);
}

/* The thread comes to @pc and has the turn: write what has happened since its last instruction began. */
static void arrive(struct ts_task *t, uint64_t pc)
{
	bool is_step = t->has_step, is_expected = !is_step && !t->call.is_over && pc == t->at;
	int num;

	if (t->is_new) {
		if (!is_begun)
			begin_recording(t);
		ts_kernel_begin(t, pc, !is_begun);
		is_begun = true;
		return;
	}
	if (is_expected)
		return;
	num = ts_kernel_signal_at(t, pc);
	if (is_step)
		ts_step_end(t, !num, num ? t->pc + t->len : pc);
	if (t->call.is_over)
		ts_kernel_write_call(t, !num);
	if (num)
		ts_kernel_write_signal(t, num, is_step);
	if (pc != t->at)
		ts_step_jump(t, pc);
}

/*
 * A callback may be called again for an instruction that was begun in vain: it stored into its own block, or
 * has to run alone.
 */
static bool is_begun_again(const struct ts_task *t, uint64_t pc)
{
	return t->has_step && pc == t->pc && !t->n_accesses && !(t->flags & TS_INSN_SELF);
}

/*
 * Wait for the turn.  Where QEMU allows it this leaves the block, and the instruction's callback comes again.
 */
static void take_turn(struct ts_task *t)
{
	while (!ts_turn_try(&t->turn))
		ts_qemu_leave(t->cpu);
}

static void give_up(struct ts_task *t)
{
	if (t && ts_turn_is_of(&t->turn))
		ts_turn_give(&t->turn);
}

static void begin_insn(struct ts_task *t, uint64_t word, bool has_turn)
{
	uint64_t pc = word >> 16;

	if (!has_turn)
		take_turn(t);
	if (ts_kernel_n_leaving)
		ts_kernel_settle();
	if (is_begun_again(t, pc))
		return;
	arrive(t, pc);
	if (ts_turn_is_over(&t->turn)) {
		ts_turn_give(&t->turn);
		take_turn(t);
		arrive(t, pc);
	}
	ts_step_begin(t, pc, (uint8_t)(word >> 8), (uint8_t)word);
}

static void on_insn(unsigned, void *user)
{
	struct ts_task *t = self;

	if (!ts_out_is_on()) {
		give_up(t);
		return;
	}
	if (!t)
		t = new_thread();
	begin_insn(t, (uint64_t)(uintptr_t)user, ts_turn_enter(&t->turn));
	ts_turn_leave(&t->turn);
}

static void on_access(unsigned, uint32_t info, uint64_t addr, void *)
{
	struct ts_task *t = self;
	uint32_t len = 1u << qemu_plugin_mem_size_shift(info);
	uint8_t found[MAX_ACCESS_LEN];

	if (!t || !t->has_step || !ts_out_is_on() || !ts_qemu_is_executing(t->cpu))
		return;
	if (!ts_turn_enter(&t->turn))
		take_turn(t);
	if (qemu_plugin_mem_is_store(info))
		ts_step_wrote(t, addr, len);
	else
		ts_step_read(t, addr, ts_qemu_loaded(info, addr, found), len);
	ts_turn_leave(&t->turn);
}

/* -------------------------------------------------------------------------------- system calls */

static void begin_call(struct ts_task *t, int num, const uint64_t args[TS_N_ARGS])
{
	if (t->has_step)
		ts_step_end(t, true, t->pc + t->len);
	ts_kernel_call(t, num, args);
	if (!ts_kernel_is_exit(num)) {
		ts_turn_give(&t->turn);
		return;
	}
	/* The turn is kept: no other thread runs between the call and its effect. */
	t->is_exiting = num == ts_guest->calls->exit && n_threads > 1;
	if (!t->is_exiting)
		ts_kernel_exit(t);
}

/* QEMU has a table of all pages that are reserved: for this number it would take the machine's memory. */
static void check_reservation(int64_t num, uint64_t len)
{
	const int *mmap = ts_guest->calls->mmap;
	char why[160];

	if (ts_guest->word < 8 || (num != mmap[0] && num != mmap[1]) || len < MAX_RESERVED)
		return;
	snprintf(why, sizeof(why), "it reserves %llu TiB of addresses, more than QEMU can carry, as programs do that are built with a sanitizer",
		 (unsigned long long)(len >> 40));
	refuse(why);
}

static void on_call(qemu_plugin_id_t, unsigned, int64_t num, uint64_t a1, uint64_t a2, uint64_t a3,
		    uint64_t a4, uint64_t a5, uint64_t a6, uint64_t, uint64_t)
{
	const uint64_t args[TS_N_ARGS] = { a1, a2, a3, a4, a5, a6 };
	struct ts_task *t = self;

	if (!t || !ts_out_is_on()) {
		give_up(t);
		return;
	}
	if (!ts_turn_enter(&t->turn))
		take_turn(t);
	check_reservation(num, a2);
	begin_call(t, (int)num, args);
	ts_turn_leave(&t->turn);
}

static void on_return(qemu_plugin_id_t, unsigned, int64_t, int64_t ret)
{
	struct ts_task *t = self;

	if (!t || !ts_out_is_on())
		return;
	ts_turn_enter(&t->turn);
	ts_turn_take(&t->turn);
	if (ts_out_is_on())
		ts_kernel_returned(t, ret);
	ts_turn_leave(&t->turn);
}

static void on_thread_exit(qemu_plugin_id_t, unsigned)
{
	struct ts_task *t = self;

	if (!t)
		return;
	if (t->is_exiting && ts_out_is_on()) {
		if (!ts_turn_enter(&t->turn))
			ts_turn_take(&t->turn);
		ts_kernel_thread_end(t);
	}
	give_up(t);
	n_threads--;
	self = NULL;
	ts_op_piece_fini(&t->call.ops);
	free(t);
}

/* -------------------------------------------------------------------------------- translation */

/* Do these bytes of code differ from the recorded ones?  Checked again when they are executed. */
static bool is_unseen(uint64_t pc, const uint8_t *bytes, size_t len)
{
	const uint8_t *shadow = is_begun && ts_shadow_run(pc, len) == len ? ts_shadow_peek(pc) : NULL;

	return shadow && memcmp(shadow, bytes, len) != 0;
}

static void on_translation(qemu_plugin_id_t, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	if (!ts_out_is_on())
		return;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t pc = qemu_plugin_insn_vaddr(insn);
		uint8_t bytes[MAX_INSN_LEN];
		size_t len = qemu_plugin_insn_size(insn);
		unsigned flags;

		len = len < sizeof(bytes) ? len : sizeof(bytes);
		ts_qemu_insn_bytes(insn, bytes, len);
		flags = ts_guest->classify(bytes, len, ts_guest->is_big_endian);
		void *user = pack(pc, len, flags | (is_unseen(pc, bytes, len) ? TS_INSN_UNSEEN : 0));

		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_insn, ts_qemu_insn_flags, user);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
						 NULL);
	}
}

/* -------------------------------------------------------------------------------- start */

static uint64_t number(int argc, char **argv, const char *name)
{
	size_t len = strlen(name);

	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], name, len) && argv[i][len] == '=')
			return strtoull(argv[i] + len + 1, NULL, 10);
	}
	return 0;
}

/* A child is not recorded: it leaves the memory alone that is its parent's. */
static void in_child(void)
{
	ts_out_leave();
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
	const char *missing;
	char why[256];

	if (!ts_out_open((int)number(argc, argv, "fd"), number(argc, argv, "size"),
			 (int)number(argc, argv, "reader")))
		return -1;
	ts_guest = ts_guest_find(info->target_name);
	if (!ts_guest) {
		snprintf(why, sizeof(why), "programs for %s cannot be recorded", info->target_name);
		refuse(why);
	}
	missing = ts_qemu_find(ts_guest);
	if (missing)
		refuse(missing);
	pthread_atfork(NULL, NULL, in_child);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_syscall_cb(id, on_call);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
	qemu_plugin_register_vcpu_exit_cb(id, on_thread_exit);
	return 0;
}
