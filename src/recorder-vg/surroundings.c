/* SPDX-License-Identifier: MIT */
/*
 * The program's environment as its user made it: Valgrind adds variables of its own.
 *
 * At the start the stack has argc, the arguments, NULL, the environment, NULL, the auxiliary vector.
 */
#include "tool.h"

#include <pub_tool_libcbase.h>

static Bool begins(const HChar *text, const HChar *with)
{
	return VG_(strncmp)(text, with, VG_(strlen)(with)) == 0;
}

/* LD_PRELOAD=OWN:USER'S becomes the user's.  Returns False if the user had none. */
static Bool clean_preload(HChar *var)
{
	HChar *list = VG_(strchr)(var, '=') + 1, *own = VG_(strstr)(list, "vgpreload_core"), *end;

	if (!own)
		return True;
	while (own > list && own[-1] != ':')
		own--;
	end = VG_(strchr)(own, ':');
	if (!end)
		return False;
	VG_(memmove)(own, end + 1, VG_(strlen)(end + 1) + 1);
	return True; /* what follows a colon is the user's, also if it is empty */
}

static Bool is_kept(HChar *var)
{
	if (begins(var, "VALGRIND_LAUNCHER=") || begins(var, "VALGRIND_LIB="))
		return False;
	return !begins(var, "LD_PRELOAD=") || clean_preload(var);
}

void ts_clean_environment(Addr sp)
{
	HChar **at = (HChar **)sp + 1 + *(UWord *)sp + 1, **to = at;
	const UWord *aux;
	UWord *new_aux, type;

	for (; *at; at++) {
		if (is_kept(*at))
			*to++ = *at;
	}
	if (to == at)
		return;
	*to++ = NULL;
	/* The new place may overlap the old one. */
	aux = (const UWord *)(at + 1);
	new_aux = (UWord *)to;
	do {
		type = aux[0];
		new_aux[0] = type;
		new_aux[1] = aux[1];
		aux += 2;
		new_aux += 2;
	} while (type);
}
