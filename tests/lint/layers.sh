#!/bin/sh
# Fail when an #include disagrees with src/layers.
set -eu

cd "${srcdir:-.}/src"
grep -n '^[[:space:]]*#[[:space:]]*include' ./*/*.[ch] | sed 's,^\./,,' |
awk -v table=layers '
BEGIN {
	while ((getline line < table) > 0) {
		n = split(line, word)
		if (word[1] == "layer") {
			known[word[2]] = 1
			may[word[2], word[2]] = 1
			for (i = 3; i <= n; i++)
				may[word[2], word[i]] = 1
		} else if (word[1] == "library") {
			place[word[2]] = word[3]
		}
	}
}
function complain(why)
{
	print "src/" $0 "\n\t" why
	failed = 1
}
{
	seen++
	split($0, part, ":")
	file = part[1]
	layer = substr(file, 1, index(file, "/") - 1)
	name = part[3]
	sub(/^[^"<]*/, "", name)
	quoted = substr(name, 1, 1) == "\""
	name = substr(name, 2)
	sub(/[">].*/, "", name)
}
!(layer in known) {
	complain("src/layers does not know " layer)
}
quoted && name != "config.h" {
	other = substr(name, 1, index(name, "/") - 1)
	if (!((layer, other) in may))
		complain(layer " may not include " (other ? other : name))
}
!quoted {
	for (library in place)
		if (index(name, library) == 1 &&
		    index(file, place[library]) != 1)
			complain(library " is known to " place[library] " alone")
}
END {
	if (seen == 0)
		complain("nothing was looked at")
	exit failed
}'
