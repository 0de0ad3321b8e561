# SPDX-License-Identifier: MIT
# The grammars of dialects/ as strings of C, and a loader for each: awk -f embed.awk dialects/*.grammar
function quoted(text, i, c, out) {
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == "\\" || c == "\"")
			out = out "\\"
		out = out c
	}
	return "\"" out "\\n\""
}
BEGIN {
	print "/* Made by embed.awk from dialects/. */"
	print "#include \"loaders/grammar/dialects.h\""
	print "const struct grammar_text grammar_texts[] = {"
}
FNR == 1 {
	if (NR > 1)
		print "\t},"
	printf "\t{ \"%s\",\n", $4
	names[++n] = $4
}
$1 == "summary" { summaries[n] = substr($0, 9) }
{ print "\t\t" quoted($0) }
END {
	print "\t},\n\t{ 0 },\n};"
	for (i = 1; i <= n; i++) {
		id = names[i]
		gsub("-", "_", id)
		printf "GRAMMAR_DIALECT(%s, \"%s\", \"%s\")\n", id, names[i], summaries[i]
		list = list "\t&" id "_loader,\n"
	}
	print "extern const struct ts_loader *const grammar_loaders[];"
	print "const struct ts_loader *const grammar_loaders[] = {\n" list "\tNULL,\n};"
}
