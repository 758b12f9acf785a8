#include <ctype.h>

#include "config/nearest.h"

#define WORD_MAX	32
#define PREFIX_MIN	4	/* letters that say enough */

/* Letters and digits in lower case: what a spelling has in common. */
static size_t
fold(struct span word, char out[WORD_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < word.len && n < WORD_MAX; i++)
		if (isalnum((unsigned char)word.ptr[i]))
			out[n++] = (char)tolower((unsigned char)word.ptr[i]);
	return n;
}

static unsigned
least(unsigned a, unsigned b, unsigned c)
{
	const unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Insertions, deletions, replacements and swaps of neighbours between two
 * words. */
static unsigned
distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned rows[3][WORD_MAX + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2], *spare;

	for (unsigned j = 0; j <= nb; j++)
		last[j] = j;
	for (unsigned i = 1; i <= na; i++) {
		row[0] = i;
		for (unsigned j = 1; j <= nb; j++) {
			row[j] = least(last[j] + 1, row[j - 1] + 1,
			    last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && before[j - 2] < row[j])
				row[j] = before[j - 2] + 1;
		}
		spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return last[nb];
}

/* One of them is how the other begins. */
static bool
is_prefix(const char *have, size_t nhave, const char *word)
{
	char want[WORD_MAX];
	const size_t nwant = fold(span_str(word), want);
	const size_t n = nhave < nwant ? nhave : nwant;

	return n >= PREFIX_MIN && memcmp(have, want, n) == 0;
}

const char *
nearest_word(struct span word, const char *const *words, unsigned n)
{
	char have[WORD_MAX], want[WORD_MAX];
	const size_t nhave = fold(word, have);
	unsigned best = (unsigned)nhave / 3 + 1;
	const char *nearest = NULL;

	for (unsigned i = 0; i < n && nhave >= PREFIX_MIN; i++)
		if (is_prefix(have, nhave, words[i]))
			return words[i];
	for (unsigned i = 0; i < n; i++) {
		const size_t nwant = fold(span_str(words[i]), want);
		const unsigned d = distance(have, nhave, want, nwant);

		if (d >= best || d >= nwant)
			continue;
		best = d;
		nearest = words[i];
	}
	return nearest;
}
