/* SPDX-License-Identifier: MIT */
#include "tool.h"

#include <pub_tool_debuginfo.h>
#include <pub_tool_libcbase.h>

static const struct {
	const HChar *name;
	enum ts_place_kind kind;
} kinds[] = {
	{ "addr:", TS_PLACE_ADDR }, { "func:", TS_PLACE_FUNC }, { "line:", TS_PLACE_LINE }, { "signal:", TS_PLACE_NEVER },
};

Bool ts_take_number(const HChar **at, ULong *n)
{
	HChar *end;

	*n = VG_(strtoull10)(*at, &end);
	if (end == *at || *end != ':')
		return False;
	*at = end + 1;
	return True;
}

Bool ts_place_take(struct ts_place *p, const HChar *text)
{
	ULong line = 0;

	for (UInt i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		SizeT len = VG_(strlen)(kinds[i].name);

		if (VG_(strncmp)(text, kinds[i].name, len) != 0)
			continue;
		p->kind = kinds[i].kind;
		text += len;
		break;
	}
	if (p->kind == TS_PLACE_NONE || !ts_take_number(&text, &p->count) || !p->count)
		return False;
	if (p->kind == TS_PLACE_LINE && !ts_take_number(&text, &line))
		return False;
	p->line = (UInt)line;
	p->addr = p->kind == TS_PLACE_ADDR ? VG_(strtoull10)(text, NULL) : 0;
	p->name = text;
	return True;
}

/* A C++ name may come with its arguments, one of a shared library with its version. */
static Bool is_function(const struct ts_place *p, Addr addr)
{
	SizeT len = VG_(strlen)(p->name);
	const HChar *name;

	if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), addr, &name) || VG_(strncmp)(name, p->name, len) != 0)
		return False;
	return name[len] == '\0' || name[len] == '(' || name[len] == '@';
}

static const HChar *last_part(const HChar *path)
{
	const HChar *slash = VG_(strrchr)(path, '/');

	return slash ? slash + 1 : path;
}

static Bool is_of_line(const struct ts_place *p, Addr addr)
{
	const HChar *file, *folder;
	UInt line;

	return VG_(get_filename_linenum)(VG_(current_DiEpoch)(), addr, &file, &folder, &line) && line == p->line &&
	       VG_(strcmp)(last_part(file), last_part(p->name)) == 0;
}

Bool ts_place_is_at(const struct ts_place *p, Addr addr)
{
	switch (p->kind) {
	case TS_PLACE_ANY:
		return True;
	case TS_PLACE_ADDR:
		return addr == p->addr;
	case TS_PLACE_FUNC:
		return is_function(p, addr);
	case TS_PLACE_LINE:
		return is_of_line(p, addr) && !is_of_line(p, addr - 1);
	default:
		return False;
	}
}
