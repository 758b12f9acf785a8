/*
 * A response head: however the octets are divided, the outcome is the same; one
 * that is taken is forwarded as a head that parses back to the same response.
 */
#include <stdint.h>

#include "../unit/http_feed.h"
#include "http/forward.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct http_limits limits = {
	.head_bytes = 1024, .target_bytes = 1, .fields = 12
};
static struct fed whole, parts, back;
static char written[4096];

static void
require(bool holds)
{
	if (!holds)
		abort();
}

static void
check_cuts(struct span text)
{
	feed_cut(http_parse_response, text, 0, &limits, &whole);
	feed_octets(http_parse_response, text, &limits, &parts);
	require(text.len == 0 || feed_same(&whole, &parts));
	for (size_t cut = 1; cut < text.len; cut += 1 + cut / 16) {
		feed_cut(http_parse_response, text, cut, &limits, &parts);
		require(feed_same(&whole, &parts));
	}
}

/* What the client will think the body is. */
static void
check_framing(const struct http_forward_response *res)
{
	int64_t length;

	require(http_response_framing(&back.head, res->method, &length) ==
	    ERR_OK);
	if (res->length >= 0)
		require(length == res->length);
	else
		require(length == (res->client_minor > 0 ? HTTP_CHUNKED :
		    HTTP_UNTIL_CLOSE));
	if (back.head.status < 200 || back.head.status == 204)
		require(!http_head_find(&back.head, FIELD_CONTENT_LENGTH) &&
		    !http_head_find(&back.head, FIELD_TRANSFER_ENCODING));
}

static void
forward(enum http_method method, int client_minor)
{
	static const struct http_limits wide = {
		.head_bytes = 4096, .target_bytes = 1, .fields = 64
	};
	struct http_out out = { .buf = written, .cap = sizeof(written) };
	struct http_forward_response res = { .head = &whole.head,
	    .method = method, .client_minor = client_minor,
	    .drop_limit_fields = client_minor > 0, .date = SPAN("now"),
	    .extra = SPAN("X-Extra: 1\r\n") };

	if (http_response_framing(&whole.head, method, &res.length) != ERR_OK)
		return;
	require(http_forward_response(&res, &out) == ERR_OK);
	feed_cut(http_parse_response, span_of(written, out.len), 0, &wide,
	    &back);
	require(back.e == ERR_OK && back.used == out.len);
	require(back.head.minor == 1);
	require(back.head.status == whole.head.status);
	require(span_equal(back.head.reason, whole.head.reason));
	require(http_head_find(&back.head, FIELD_CONNECTION) == NULL);
	if (client_minor > 0)
		require(http_head_find(&back.head, FIELD_X_RATELIMIT_LIMIT) ==
		    NULL);
	check_framing(&res);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_cuts(span_of((const char *)data, size));
	if (whole.e != ERR_OK)
		return 0;
	forward(HTTP_GET, 1);
	forward(HTTP_GET, 0);
	forward(HTTP_HEAD, 1);
	return 0;
}
