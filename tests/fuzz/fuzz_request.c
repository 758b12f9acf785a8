/*
 * A request head: however the octets are divided, the outcome is the same; one
 * that is taken is forwarded as a head that parses back to the same request.
 */
#include <stdint.h>

#include "../unit/http_feed.h"
#include "http/forward.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct http_limits limits = {
	.head_bytes = 1024, .target_bytes = 200, .fields = 12
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
	feed_cut(http_parse_request, text, 0, &limits, &whole);
	feed_octets(http_parse_request, text, &limits, &parts);
	require(text.len == 0 || feed_same(&whole, &parts));
	for (size_t cut = 1; cut < text.len; cut += 1 + cut / 16) {
		feed_cut(http_parse_request, text, cut, &limits, &parts);
		require(feed_same(&whole, &parts));
	}
}

/* Every field that came out came in, in the same order. */
static void
check_fields(const struct http_head *in, const struct http_head *out)
{
	unsigned at = 0;

	for (unsigned i = 0; i < out->nfields; i++) {
		if (out->fields[i].id != FIELD_OTHER)
			continue;
		while (at < in->nfields && !(span_equal(out->fields[i].name,
		    in->fields[at].name) && span_equal(out->fields[i].value,
		    in->fields[at].value)))
			at++;
		require(at++ < in->nfields);
	}
}

static void
check_forwarded(struct span text, const struct http_forward_request *req)
{
	static const struct http_limits wide = {
		.head_bytes = 4096, .target_bytes = 1024, .fields = 64
	};
	const struct http_head *head = &back.head;
	struct http_target target;
	int64_t length;

	feed_cut(http_parse_request, text, 0, &wide, &back);
	require(back.e == ERR_OK && back.used == text.len);
	require(head->minor == 1);
	require(span_equal(head->method, whole.head.method));
	require(http_target_parse(head->target, head->method_id, &target) ==
	    ERR_OK);
	require(span_equal(target.path, req->target->path));
	require(span_equal(target.query, req->target->query));
	require(http_request_framing(head, &length) == ERR_OK);
	require(length == req->length);
	require(http_head_count(head, FIELD_HOST) == 1);
	require(http_head_find(head, FIELD_CONNECTION) == NULL);
	require(http_head_find(head, FIELD_ALIAS) == NULL);
	require(http_head_count(head, FIELD_X_FORWARDED_FOR) == 1);
	require(http_head_count(head, FIELD_X_REAL_IP) == 1);
	require(req->peer_trusted ||
	    http_head_find(head, FIELD_FORWARDED) == NULL);
	check_fields(&whole.head, head);
}

static void
forward(const struct http_client_rule *rule, bool trusted)
{
	struct addr peer = { .family = 4, .bytes = { 10, 0, 0, 1 } };
	struct http_out out = { .buf = written, .cap = sizeof(written) };
	struct http_target target;
	struct http_forward_request req = { .head = &whole.head,
	    .target = &target, .peer = &peer, .peer_trusted = trusted,
	    .rule = rule };

	require(http_request_framing(&whole.head, &req.length) == ERR_OK);
	if (whole.head.method_id == HTTP_CONNECT ||
	    http_target_parse(whole.head.target, whole.head.method_id,
	    &target) != ERR_OK)
		return;
	if (http_forward_request(&req, &out) == ERR_OK)
		check_forwarded(span_of(written, out.len), &req);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cidr ten = { .addr = { .family = 4, .bytes = { 10 } },
	    .bits = 8 };
	struct http_client_rule rule = { .from = HTTP_CLIENT_XFF,
	    .trusted = &ten, .ntrusted = 1 };

	check_cuts(span_of((const char *)data, size));
	if (whole.e != ERR_OK)
		return 0;
	forward(&rule, false);
	forward(&rule, true);
	return 0;
}
