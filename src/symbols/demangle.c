/* SPDX-License-Identifier: MIT */
#include "demangle.h"

#include <setjmp.h>
#include <stddef.h>
#include <string.h>

#include <libiberty/demangle.h>

/*
 * A name of 100 bytes can represent gigabytes, since it may refer to parts of itself.  libiberty bounds its
 * recursion, and its memory by the length of the mangled name.
 */
#define MAX_MANGLED 2048u

struct room {
	char *text; /* borrowed */
	size_t n;
	jmp_buf full;
};

/* libiberty has all that it needs on the stack: it may be left at any time. */
static void take(const char *text, size_t len, void *user)
{
	struct room *room = user;

	if (len >= TS_MAX_DEMANGLED - room->n)
		longjmp(room->full, 1);
	if (len) /* a piece without bytes may be no text at all */
		memcpy(room->text + room->n, text, len);
	room->n += len;
}

static bool is_rust(const char *name, struct room *room)
{
	room->n = 0;
	return rust_demangle_callback(name, DMGL_RUST, take, room) && room->n;
}

static bool is_cplus(const char *name, int options, struct room *room)
{
	room->n = 0;
	return cplus_demangle_v3_callback(name, options, take, room) && room->n;
}

bool ts_is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/*
 * GCC's tags of a new ABI, which users do not write: bank[abi:cxx11] is declared as bank.  A name that is nothing but such a tag
 * keeps it, because a symbol without a name could not be seen.
 */
static void drop_tags(char *text)
{
	static const char tag[] = "[abi:";
	char *to = text, *end;

	for (const char *p = text; *p;) {
		end = to == text || to[-1] == ':' || strncmp(p, tag, sizeof(tag) - 1) ? NULL : strchr(p, ']');
		if (end)
			p = end + 1;
		else
			*to++ = *p++;
	}
	*to = 0;
}

static bool demangle(const char *name, int options, char *text)
{
	struct room room;

	if (!ts_is_mangled(name) || strnlen(name, MAX_MANGLED + 1) > MAX_MANGLED)
		return false;
	room.text = text;
	if (setjmp(room.full) || !(is_rust(name, &room) || is_cplus(name, options, &room)))
		return false;
	text[room.n] = 0;
	return true;
}

static bool demangle_shown(const char *name, int options, char *text)
{
	if (!demangle(name, options, text))
		return false;
	drop_tags(text);
	return true;
}

bool ts_demangle(const char *name, char *text)
{
	return demangle_shown(name, DMGL_ANSI, text);
}

bool ts_demangle_whole(const char *name, char *text)
{
	return demangle_shown(name, DMGL_ANSI | DMGL_PARAMS, text);
}
