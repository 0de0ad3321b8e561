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
# Texts of which each line has one that begins a step or a state, is refused, or begins or ends what is skipped: of
# each such pattern the most telling text that is not optional.
function add_tell(text) {
	if (text == "")
		is_any = 1
	if (!((n, text) in has_tell))
		tells = tells text "\\n"
	has_tell[n, text] = 1
}
function add_tells(statement, i, c, depth, text, best) {
	for (i = 1; i <= length(statement); i++) {
		c = substr(statement, i, 1)
		if (c == "|" && !depth) {
			add_tell(best)
			best = ""
		} else if (c == "\"") {
			text = text_at(statement, i)
			i += length(text) + 1
			best = !depth && (best == "" || weight(text) > weight(best)) ? text : best
		}
		depth += (c == "[") - (c == "]")
	}
	add_tell(best)
}
# Digits of numbers are everywhere.
function weight(text) {
	gsub(/[0-9a-fx]/, "", text)
	return length(text)
}
# The text in the quotes that begin at @i, as it is written: C reads it in the same way.
function text_at(line, i, c, text) {
	while ((c = substr(line, ++i, 1)) != "\"" && c != "")
		text = text c (c == "\\" ? substr(line, ++i, 1) : "")
	return text
}
function end_statement() {
	if (statement ~ /^(step|state|join|refuse|skip|take)[ \t]/)
		add_tells(statement)
	statement = ""
}
function end_grammar() {
	end_statement()
	if (sign != "")
		tells = sign "\\n"
	else if (is_any)
		tells = ""
	if (tells != "" && begins != "")
		tells = tells begins "\\n"
	print "\t\t,\n\t\t\"" tells "\"\n\t},"
	tells = sign = begins = ""
	is_any = 0
}
BEGIN {
	print "/* Made by embed.awk from dialects/. */"
	print "#include \"loaders/grammar/language/grammar.h\""
	print "const struct grammar_text grammar_texts[] = {"
}
FNR == 1 {
	if (NR > 1)
		end_grammar()
	printf "\t{ \"%s\",\n", $4
	n++
}
$1 == "sign" { sign = text_at($0, index($0, "\"")) }
$1 == "begin" { begins = text_at($0, index($0, "\"")) }
/^[^ \t]/ || NF == 0 { end_statement() }
{ statement = statement " " $0 }
/^[^ \t]/ { statement = $0 }
{ print "\t\t" quoted($0) }
END {
	end_grammar()
	print "\t{ 0 },\n};"
}
