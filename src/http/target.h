#ifndef WEIR_HTTP_TARGET_H
#define WEIR_HTTP_TARGET_H

#include "base/span.h"
#include "http/head.h"

/* A request-target (RFC 9112, section 3.2), split; views, nothing owned. */
enum http_target_form {
	HTTP_ORIGIN, HTTP_ABSOLUTE, HTTP_AUTHORITY, HTTP_ASTERISK
};

struct http_target {
	enum http_target_form form;
	struct span authority;	/* absolute, authority form; else empty */
	struct span path;	/* "/" when absolute-form has none; "*" */
	struct span query;	/* without "?"; .ptr NULL: no query at all */
};

/*
 * Split and check target for this method. ERR_SYNTAX: not one of the four
 * forms, wrong form for the method, octets that no URI has (RFC 3986), a
 * fragment, a "%" without two hexadecimal digits, userinfo, or a scheme other
 * than http and https. Beyond RFC 3986, "[]^`{|}" and, in the query, a
 * backslash are allowed, because browsers send them unescaped.
 * "OPTIONS http://host" has the path "*" (RFC 9112, 3.2.4).
 */
enum err http_target_parse(struct span target, enum http_method method,
    struct http_target *ret);

/*
 * The one normal form used for matching and keys, never for forwarding:
 * unreserved octets and "[]^`{|}" percent-decoded, remaining escapes in upper
 * case, "." and ".." resolved, runs of slashes merged, encoded slashes ("%2F",
 * "%5C") kept as escapes. Path parameters (";x") stay where they are.
 * Writes at most path.len octets to buf; *ret views buf (or path itself when it
 * is normal already). ERR_SYNTAX: NUL ("%00"), ".." above the root, or no path
 * that http_target_parse gives ("*" is its own normal form).
 */
enum err http_target_normalise(struct span path, char *buf, struct span *ret);

/* Is it a host [":" port], or empty (RFC 9110, 7.2)? Between brackets only an
 * IPv6 address is taken. */
bool http_host_valid(struct span host);

/*
 * Host without port, without trailing dot, in lower case, brackets kept.
 * Writes at most host.len octets to buf. ERR_SYNTAX: not http_host_valid.
 */
enum err http_host_normalise(struct span host, char *buf, struct span *ret);

/* Value of the first parameter of that name, percent- and plus-decoded into
 * buf (at most query.len octets). False: absent. */
bool http_query_find(struct span query, struct span name, char *buf,
    struct span *ret_value);

/* Value of the first cookie of that name (RFC 6265, 4.2.1), on any Cookie
 * line; quotes removed. False: absent. */
bool http_cookie_find(const struct http_head *head, struct span name,
    struct span *ret_value);

#endif
