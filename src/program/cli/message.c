/* SPDX-License-Identifier: MIT */
#include "message.h"

#include <stdarg.h>
#include <stdlib.h>

#include "src/base/text/utf8.h"

void ts_message(FILE *to, const char *format, ...)
{
	char *text;
	va_list ap;
	int len;

	va_start(ap, format);
	len = vasprintf(&text, format, ap);
	va_end(ap);
	if (len < 0)
		return;
	ts_utf8_make_shown(text, (size_t)len, false);
	fprintf(to, "%s\n", text);
	free(text);
}
