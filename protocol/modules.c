/* SPDX-License-Identifier: MIT */
#include "modules.h"

#include <inttypes.h>
#include <string.h>

#include "session.h"
#include "xml.h"

/* Windows: gdb wants the address of the first section, which lies a page behind the headers. */
#define PE_HEADERS_LEN 0x1000u

static bool is_os(const struct rsp_shared *sh, const char *osabi)
{
	const char *recorded = sh->tl->rec->osabi;

	return recorded && strcmp(recorded, osabi) == 0;
}

bool rsp_has_module_list(const struct rsp_shared *sh)
{
	return sh->tl->world.n_modules && !is_os(sh, "GNU/Linux");
}

static bool is_program(const struct rsp_session *s, const char *file)
{
	const char *recorded = s->sh->tl->rec->exec_path, *given = s->sh->exec_path;

	return (recorded && strcmp(file, recorded) == 0) || (given && strcmp(file, given) == 0);
}

/* The next library after *at, NULL after the last; *file gets its path. */
static const struct ts_loaded *next_library(const struct rsp_session *s, size_t *at, const char **file)
{
	const struct ts_world *w = &s->sh->tl->world;
	const struct ts_loaded *m;

	while ((m = ts_world_next_module(w, rsp_process(s), s->pos, at)) != NULL) {
		*file = ts_world_text(w, m->file);
		if (*file && **file && !is_program(s, *file))
			return m;
	}
	return NULL;
}

void rsp_modules_xml(const struct rsp_session *s, struct ts_buf *out)
{
	uint64_t headers = is_os(s->sh, "Windows") ? PE_HEADERS_LEN : 0;
	const struct ts_loaded *m;
	const char *file;
	size_t at = 0;

	ts_buf_puts(out, "<library-list>\n");
	while ((m = next_library(s, &at, &file)) != NULL) {
		ts_buf_puts(out, "<library name=\"");
		rsp_xml_text(file, out);
		ts_buf_printf(out, "\"><segment address=\"0x%" PRIx64 "\"/></library>\n", m->first + headers);
	}
	ts_buf_puts(out, "</library-list>\n");
}
