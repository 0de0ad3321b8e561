/* SPDX-License-Identifier: MIT */
#include "folder_json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json.h"

static json_t *arguments_as_json(const char *text)
{
	json_t *list = json_array();
	char *arg = malloc(4 * strlen(text) + 1);

	while (arg && *text) {
		const char *end = strchrnul(text, ' ');
		size_t n = 0;

		while (text < end) {
			unsigned char c = ts_process_byte(&text);

			/* bytes beyond ASCII as they are in Latin-1: JSON has no bytes */
			if (c >= 0x80)
				arg[n++] = (char)(0xc0 | c >> 6);
			arg[n++] = (char)(c >= 0x80 ? 0x80 | (c & 0x3f) : c);
		}
		json_array_append_new(list, json_stringn(arg, n));
		text = *end ? end + 1 : end;
	}
	free(arg);
	return list;
}

static json_t *process_as_json(const struct ts_process *p)
{
	static const char *const began[] = { "start", "fork", "exec" }, *const ends[] = { "exited", "killed", "became", "unknown" };
	char name[64];

	ts_process_file(p, name);
	return json_pack("{s:s, s:i, s:i, s:s, s:s, s:I, s:o}", "file", name, "pid", p->pid, "parent", p->parent, "began",
			 began[p->began], "end", ends[p->end], "value", (json_int_t)p->value, "arguments",
			 arguments_as_json(p->arguments));
}

bool ts_folder_put_json(struct ts_buf *to, const struct ts_processes *all, const char *path)
{
	json_t *list = json_array(), *object = json_pack("{s:s?, s:o}", "folder", path, "recordings", list);

	for (size_t i = 0; object && i < all->n; i++)
		json_array_append_new(list, process_as_json(&all->at[i]));
	if (object)
		ts_json_put(to, object, JSON_INDENT(2));
	json_decref(object);
	ts_buf_putc(to, '\n');
	return object && ts_buf_ok(to);
}
