/* SPDX-License-Identifier: MIT */
/*
 * Thread-local storage: qGetTLSAddr.
 *
 * Only what the ABI defines is answered: on x86-64 the program's own block ends where fs_base points
 * (Drepper, "ELF Handling for Thread-Local Storage", variant II).  Only the dynamic linker knows the address
 * of a library's block.
 */
#include "packets.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/session/session.h"
#include "protocol/session/threads.h"
#include "src/trace/elf.h"

/* The value of fs_base of @thread at the session's position; returns false if it is not known. */
static bool thread_pointer(const struct rsp_session *s, uint32_t thread, uint64_t *value)
{
	const struct ts_regset *set = ts_query_regset(s->target->q);
	int i = ts_regset_find(set, "fs_base");
	struct ts_error ignored = { 0 };
	bool is_known = i >= 0 && set->regs[i].len == 8;
	uint8_t *room;

	if (!is_known)
		return false;
	room = malloc(2 * (size_t)set->g_len);
	is_known = room && ts_query_regs(s->target->q, s->pos, thread, room, room + set->g_len, &ignored);
	*value = 0;
	for (unsigned k = 0; is_known && k < 8; k++) {
		is_known = room[set->g_len + set->regs[i].off + k];
		*value |= (uint64_t)room[set->regs[i].off + k] << 8 * k;
	}
	free(room);
	return is_known;
}

/*
 * The distance of the program's block below the thread pointer; 0 if there is no block, or it is not known.
 */
static uint64_t block_of_program(const struct rsp_session *s)
{
	const struct rsp_target *target = s->target;
	const struct ts_source *program = target->exec ? target->exec : rsp_target_file(target, target->exec_path);
	struct ts_error ignored = { 0 };
	struct ts_elf elf;
	uint64_t below = 0;

	if (!program || !ts_elf_init(&elf, program, &ignored))
		return 0;
	if (elf.tls_len && elf.tls_align && !(elf.tls_align & (elf.tls_align - 1)) &&
	    elf.tls_len <= UINT64_MAX - elf.tls_align)
		below = (elf.tls_len + elf.tls_align - 1) & ~(elf.tls_align - 1);
	ts_elf_fini(&elf);
	return below;
}

/* "thread,offset,link map".  gdb has no link map for the program: 0. */
static enum rsp_done pkt_tls(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct rsp_tid tid = rsp_args_tid(a);
	uint64_t offset, map, pointer, below;
	uint32_t thread;

	rsp_args_expect(a, ',');
	offset = rsp_args_u64(a);
	rsp_args_expect(a, ',');
	map = rsp_args_u64(a);
	if (!rsp_args_done(a))
		return RSP_BAD;
	thread = rsp_session_find_thread(s, tid);
	if (thread == TS_NO_THREAD || !rsp_thread_exists(s, thread))
		return RSP_BAD;
	if (strcmp(ts_query_regset(s->target->q)->arch->name, "x86_64"))
		return RSP_UNSUPPORTED;
	below = block_of_program(s);
	if (map && map != s->target->located.first)
		rsp_reply_error_text(r, "the recording does not tell where this library's thread-local storage lies");
	else if (!below)
		rsp_reply_error_text(r, "the program's thread-local segment is not known (--exec FILE)");
	else if (!thread_pointer(s, thread, &pointer))
		rsp_reply_error_text(r, "fs_base is not known at position %" PRIu64, s->pos);
	else
		rsp_reply_num(r, pointer - below + offset);
	return RSP_REPLIED;
}

static const struct rsp_packet packets[] = {
	{ "qGetTLSAddr", RSP_ARGS, pkt_tls, NULL },
};
const struct rsp_packets rsp_tls_packets = RSP_PACKETS(packets);
