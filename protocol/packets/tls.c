/* SPDX-License-Identifier: MIT */
/*
 * Thread-local storage: qGetTLSAddr.
 *
 * The program's own block is where the ABI says, on x86-64: it ends where fs_base points (Drepper, "ELF
 * Handling for Thread-Local Storage", variant II).  The others' are where the dynamic linker says in recorded
 * memory.
 */
#include "packets.h"

#include <inttypes.h>
#include <string.h>

#include "protocol/session/documents/modules.h"
#include "protocol/session/session.h"
#include "protocol/session/documents/threads.h"
#include "src/object/elf_image.h"
#include "src/query/files/tls.h"

/*
 * The distance of the program's block below the thread pointer; 0 if the program has no block, or if it is unknown.
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

/*
 * The object that the client means by @map: a link map of its own finding, or an address in our list of
 * libraries.
 */
static struct ts_tls_object object_of(const struct rsp_session *s, uint64_t map, struct ts_tls_facts *facts)
{
	bool is_program = !map || map == rsp_modules_program(s);
	struct ts_tls_object object = { .is_program = is_program, .link_map = map };
	struct rsp_library library;
	size_t at = 0;

	while (rsp_modules_next_library(s, &at, &library)) {
		const struct ts_source *file =
			ts_tls_is_of_glibc(library.file) ? rsp_target_file(s->target, library.file) : NULL;

		if (library.first == map)
			object = (struct ts_tls_object){ .moved = library.moved, .dynamic = library.dynamic };
		if (file)
			ts_tls_learn(facts, file, library.moved);
	}
	return object;
}

/* On x86-64 the ABI determines where the program's block lies, with a dynamic linker or without. */
static bool program_by_abi(const struct rsp_session *s, uint32_t thread, uint64_t *addr, struct ts_error *err)
{
	uint64_t below = block_of_program(s);

	if (!below)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
			       "the program's thread-local segment is not known (--exec FILE)");
	if (!ts_tls_pointer(s->target->q, s->pos, thread, addr))
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "fs_base is not known at position %" PRIu64,
			       s->pos);
	*addr -= below;
	return true;
}

/* "thread,offset,link map".  gdb before 17 has no link map for the program: 0; later ones have its main-lm. */
static enum rsp_done pkt_tls(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct rsp_tid tid = rsp_args_tid(a);
	struct ts_tls_facts facts = { 0 };
	struct ts_error err = { 0 };
	struct ts_tls_object object;
	uint64_t offset, map, block;
	uint32_t thread;
	bool is_found;

	rsp_args_expect(a, ',');
	offset = rsp_args_u64(a);
	rsp_args_expect(a, ',');
	map = rsp_args_u64(a);
	if (!rsp_args_done(a))
		return RSP_BAD;
	thread = rsp_session_find_thread(s, tid);
	if (thread == TS_NO_THREAD || !rsp_thread_exists(s, thread))
		return RSP_BAD;
	object = object_of(s, map, &facts);
	if (object.is_program && !strcmp(ts_query_regset(s->target->q)->arch->name, "x86_64"))
		is_found = program_by_abi(s, thread, &block, &err);
	else
		is_found = ts_tls_block(s->target->q, s->pos, thread, &facts, &object, &block, &err);
	if (is_found)
		rsp_reply_num(r, block + offset);
	else
		rsp_reply_error_text(r, "%s", err.text);
	return RSP_REPLIED;
}

static const struct rsp_packet packets[] = {
	{ "qGetTLSAddr", RSP_ARGS, .handler = pkt_tls },
};
const struct rsp_packets rsp_tls_packets = RSP_PACKETS(packets);
