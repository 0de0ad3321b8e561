/* SPDX-License-Identifier: MIT */
#include "xml.h"

void rsp_xml_text(const char *text, struct ts_buf *out)
{
	for (; *text; text++) {
		switch (*text) {
		case '&': ts_buf_puts(out, "&amp;"); break;
		case '<': ts_buf_puts(out, "&lt;"); break;
		case '>': ts_buf_puts(out, "&gt;"); break;
		case '"': ts_buf_puts(out, "&quot;"); break;
		default: ts_buf_putc(out, *text < ' ' || *text > '~' ? '?' : (uint8_t)*text);
		}
	}
}
