/* SPDX-License-Identifier: MIT */
#include "access_addr.h"

#include "insns.h"
#include "paging.h"

/* Is @virtual mapped to the page of @phys?  Then *addr gets the address of that byte in it. */
static bool try_page(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t virtual, uint64_t phys, uint64_t *addr,
		     bool *is_found, struct ts_error *err)
{
	struct ts_translation t;

	if (!ts_translate_at(q, pos, process, virtual, &t, err))
		return false;
	if (t.mapping == TS_MAPPED && (t.phys ^ phys) < t.page_len) {
		*addr = (virtual & ~(t.page_len - 1)) | (phys & (t.page_len - 1));
		*is_found = true;
	}
	return true;
}

bool ts_query_access_addr(struct ts_query *q, uint64_t pos, uint64_t phys, uint64_t *addr, bool *is_found,
			  struct ts_error *err)
{
	uint32_t thread = ts_query_thread(q, pos), process = ts_query_process(q, thread);
	struct ts_op_state state;
	struct ts_decoded *d;

	*is_found = false;
	if (!ts_paging_is_known(q))
		return true;
	if (!ts_query_has_operands(q))
		return ts_untranslate_at(q, pos, process, phys, addr, is_found, err);
	d = ts_query_insn(q, pos, err);
	if (!d || !ts_query_op_state(q, pos, thread, &state, err))
		return false;
	for (unsigned i = 0; d->is_insn && i < d->ops.n_mem && !*is_found; i++) {
		const struct ts_op_mem *m = &d->ops.mem[i];
		uint64_t first, last;

		if (!ts_operands_addr(&d->ops, i, &state, &first))
			continue;
		last = first + (m->size ? m->size - 1u : 0);
		if (!try_page(q, pos, process, first, phys, addr, is_found, err) ||
		    (!*is_found && !try_page(q, pos, process, last, phys, addr, is_found, err)))
			return false;
	}
	return *is_found || ts_untranslate_at(q, pos, process, phys, addr, is_found, err);
}
