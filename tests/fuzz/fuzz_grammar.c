/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a text trace: of the dialect that the first lines are of, or of one that their number chooses.
 */
#include "fuzz.h"
#include "fuzz_reader.h"

#include "loaders/grammar/language/grammar.h"
#include "loaders/loader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const struct grammar_text *text = grammar_texts;
	size_t n = 0;

	while (grammar_texts[n].name)
		n++;
	for (const struct grammar_text *t = grammar_texts; t->name; t++) {
		if (ts_loader_find(t->name)->probe(bytes, len, len))
			text = t;
	}
	fuzz_reader(text == grammar_texts ? grammar_texts[len % n].name : text->name, bytes, len);
	return 0;
}
