/*
 * The lines of a forwarding field: what a stranger wrote on their left never
 * changes who the client is, and without trust nothing does.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "http/forward.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct addr proxy = { .family = 4, .bytes = { 10, 0, 0, 1 } };
static const struct addr client = { .family = 4, .bytes = { 192, 0, 2, 7 } };
static struct http_head head;

static void
require(bool holds)
{
	if (!holds)
		abort();
}

static void
add(struct span value, enum http_field_id id)
{
	head.fields[head.nfields++] = (struct http_field){
	    http_field_name(id), value, id };
}

/* Each line of text is a field line; it holds no CR or LF. */
static void
add_lines(struct span text, enum http_field_id id)
{
	struct span line;

	head.nfields = 0;
	while (head.nfields < 40 && span_split(&text, '\n', &line))
		add(span_trim(line), id);
}

static void
check(struct span text, struct http_client_rule *rule, enum http_field_id id,
    const char *appended)
{
	const struct addr stranger = { .family = 4, .bytes = { 192, 0, 2, 9 } };
	char *line = malloc(text.len + 64);
	struct addr got;
	int n;

	add_lines(text, id);
	got = http_client_addr(rule, &head, &stranger);
	require(addr_equal(&got, &stranger));
	got = http_client_addr(rule, &head, &proxy);
	require(got.family == 4 || got.family == 6);

	/* The trusted proxy appends whom it saw: as a line, and to a line. */
	add(span_str(appended), id);
	got = http_client_addr(rule, &head, &proxy);
	require(addr_equal(&got, &client));
	n = snprintf(line, text.len + 64, "%.*s, %s", SPAN_ARG(text),
	    appended);
	head.nfields = 0;
	add(span_of(line, (size_t)n), id);
	got = http_client_addr(rule, &head, &proxy);
	require(addr_equal(&got, &client));
	free(line);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data, size);
	struct cidr ten = { .addr = { .family = 4, .bytes = { 10 } },
	    .bits = 8 };
	struct http_client_rule rule = { .from = HTTP_CLIENT_XFF,
	    .trusted = &ten, .ntrusted = 1 };

	check(text, &rule, FIELD_X_FORWARDED_FOR, "192.0.2.7:99");
	rule.from = HTTP_CLIENT_FORWARDED;
	check(text, &rule, FIELD_FORWARDED,
	    "by=x;For=\"192.0.2.7:99\";host=\"a,\\\"b\"");
	return 0;
}
