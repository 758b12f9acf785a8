/*
 * A request-target and a host: normal forms are no longer than what they come
 * from, are their own normal forms, and hold nothing that leads upwards.
 */
#include <stdint.h>
#include <stdlib.h>

#include "http/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool holds)
{
	if (!holds)
		abort();
}

static void
check_normal(struct span normal)
{
	struct span rest = normal, part;
	char *buf = malloc(normal.len + 1);
	struct span twice;

	require(http_target_normalise(normal, buf, &twice) == ERR_OK);
	require(span_equal(normal, twice));
	free(buf);
	if (span_equal(normal, SPAN("*")))
		return;
	require(normal.ptr[0] == '/');
	rest = span_skip(rest, 1);
	while (span_split(&rest, '/', &part)) {
		require(!span_equal(part, SPAN(".")));
		require(!span_equal(part, SPAN("..")));
		require(part.len > 0 || rest.ptr == NULL);
	}
}

static void
check_path(struct span path)
{
	char *buf = malloc(path.len + (path.len == 0));
	struct span normal;

	if (http_target_normalise(path, buf, &normal) == ERR_OK) {
		require(normal.len <= path.len);
		check_normal(normal);
	}
	free(buf);
}

static void
check_query(struct span query)
{
	char *buf = malloc(query.len + 1);
	struct span value;

	if (http_query_find(query, SPAN("a"), buf, &value))
		require(value.len < query.len);
	free(buf);
}

static void
check_target(struct span text, enum http_method method)
{
	struct http_target t;

	if (http_target_parse(text, method, &t) != ERR_OK)
		return;
	require(t.form != HTTP_ORIGIN || t.path.len + t.query.len +
	    (t.query.ptr != NULL) == text.len);
	require((t.form == HTTP_AUTHORITY) == (method == HTTP_CONNECT));
	require(http_host_valid(t.authority));
	check_path(t.path);
	check_query(t.query);
}

static void
check_host(struct span host)
{
	char *buf = malloc(host.len + (host.len == 0));
	struct span normal;

	if (http_host_normalise(host, buf, &normal) == ERR_OK) {
		require(normal.len <= host.len);
		for (size_t i = 0; i < normal.len; i++)
			require(normal.ptr[i] < 'A' || normal.ptr[i] > 'Z');
		require(http_host_valid(host));
	} else {
		require(!http_host_valid(host));
	}
	free(buf);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data, size), value;
	static struct http_head head = { .nfields = 1 };

	check_target(text, HTTP_GET);
	check_target(text, HTTP_OPTIONS);
	check_target(text, HTTP_CONNECT);
	check_path(text);
	check_query(text);
	check_host(text);
	head.fields[0] = (struct http_field){ SPAN("Cookie"), text,
	    FIELD_COOKIE };
	if (http_cookie_find(&head, SPAN("a"), &value))
		require(value.ptr >= text.ptr &&
		    value.ptr + value.len <= text.ptr + text.len);
	return 0;
}
