/*
 * A chunked body: however the octets are divided, the same body and the same
 * end come out; what came out, written anew, is read back the same.
 */
#include <stdint.h>

#include "../unit/http_feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fed_body whole, parts;
static char written[8192];

static void
require(bool holds)
{
	if (!holds)
		abort();
}

/* In chunks of at most 100 octets. */
static size_t
encode(const struct fed_body *body)
{
	size_t n = 0;

	for (size_t at = 0; at < body->len;) {
		size_t len = body->len - at < 100 ? body->len - at : 100;

		n += http_chunk_put_size(written + n, len);
		memcpy(written + n, body->body + at, len);
		memcpy(written + n + len, "\r\n", 2);
		n += len + 2;
		at += len;
	}
	memcpy(written + n, "0\r\n\r\n", 5);
	return n + 5;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data, size);
	size_t n;

	if (size > sizeof(whole.body))
		return 0;
	feed_chunks(text, size, 1, &whole);
	feed_chunks(text, 0, 1, &parts);
	require(feed_same_body(&whole, &parts));
	for (size_t cut = 1; cut < size; cut += 1 + cut / 16) {
		feed_chunks(text, cut, size, &parts);
		require(feed_same_body(&whole, &parts));
	}
	if (!whole.done)
		return 0;
	n = encode(&whole);
	feed_chunks(span_of(written, n), n, 1, &parts);
	require(parts.done && parts.used == n);
	require(parts.len == whole.len &&
	    memcmp(parts.body, whole.body, whole.len) == 0);
	return 0;
}
