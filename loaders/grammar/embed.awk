# SPDX-License-Identifier: MIT
# The grammars of dialects/ as strings of C: awk -f embed.awk dialects/*.grammar
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
	print "#include \"loaders/grammar/grammar.h\""
	print "const struct grammar_text grammar_texts[] = {"
}
FNR == 1 {
	if (NR > 1)
		print "\t},"
	printf "\t{ \"%s\",\n", $4
}
{ print "\t\t" quoted($0) }
END { print "\t},\n\t{ 0 },\n};" }
