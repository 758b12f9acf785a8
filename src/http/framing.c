#include "http/framing.h"

/* The coding the Transfer-Encoding lines agree on: chunked alone is ERR_OK. */
static enum err
transfer_coding(const struct http_head *head)
{
	bool chunked = false, other = false;

	for (unsigned i = 0; i < head->nfields; i++) {
		struct span list = head->fields[i].value, coding;

		if (head->fields[i].id != FIELD_TRANSFER_ENCODING)
			continue;
		while (span_next_element(&list, &coding)) {
			if (chunked)
				return ERR_AMBIGUOUS;	/* not last */
			chunked = span_equal_nocase(coding, SPAN("chunked"));
			other = other || !chunked;
		}
	}
	if (!chunked)
		return ERR_AMBIGUOUS;
	return other ? ERR_CODING : ERR_OK;
}

/* Transfer-Encoding is there. RFC 9112, 6.1: an HTTP/1.0 message with it is
 * faulty, and one with Content-Length besides smells of smuggling. */
static enum err
coded_framing(const struct http_head *head, bool has_length)
{
	if (head->minor == 0 || has_length)
		return ERR_AMBIGUOUS;
	return transfer_coding(head);
}

enum err
http_request_framing(const struct http_head *head, int64_t *ret_length)
{
	const struct http_field *length = NULL;
	unsigned lengths = 0, codings = 0;
	enum err e;

	if (!(head->seen & (HTTP_FIELD_BIT(FIELD_CONTENT_LENGTH) |
	    HTTP_FIELD_BIT(FIELD_TRANSFER_ENCODING)))) {
		*ret_length = 0;
		return ERR_OK;
	}
	for (unsigned i = 0; i < head->nfields; i++) {
		if (head->fields[i].id == FIELD_CONTENT_LENGTH) {
			length = &head->fields[i];
			lengths++;
		} else if (head->fields[i].id == FIELD_TRANSFER_ENCODING) {
			codings++;
		}
	}
	if (codings > 0) {
		if ((e = coded_framing(head, lengths > 0)) == ERR_OK)
			*ret_length = HTTP_CHUNKED;
		return e;
	}
	if (lengths > 1 || span_to_i64(length->value, 0, INT64_MAX,
	    ret_length) != ERR_OK)
		return ERR_AMBIGUOUS;
	return ERR_OK;
}

enum err
http_content_length(const struct http_head *head, int64_t *ret_length)
{
	int64_t length = -1, n;

	for (unsigned i = 0; i < head->nfields; i++) {
		struct span list = head->fields[i].value, part;

		if (head->fields[i].id != FIELD_CONTENT_LENGTH)
			continue;
		while (span_split(&list, ',', &part)) {
			if (span_to_i64(span_trim(part), 0, INT64_MAX, &n) !=
			    ERR_OK || (length >= 0 && n != length))
				return ERR_AMBIGUOUS;
			length = n;
		}
	}
	if (length < 0)
		return ERR_NOT_FOUND;
	*ret_length = length;
	return ERR_OK;
}

static bool
is_bodiless(const struct http_head *head, enum http_method method)
{
	return method == HTTP_HEAD || head->status < 200 ||
	    head->status == 204 || head->status == 304;
}

enum err
http_response_framing(const struct http_head *head, enum http_method method,
    int64_t *ret_length)
{
	int64_t length;
	enum err e;

	if (is_bodiless(head, method)) {
		*ret_length = 0;
		return ERR_OK;
	}
	e = http_content_length(head, &length);
	if (http_head_find(head, FIELD_TRANSFER_ENCODING) != NULL) {
		e = coded_framing(head, e != ERR_NOT_FOUND);
		length = HTTP_CHUNKED;
	}
	if (e == ERR_NOT_FOUND) {
		length = HTTP_UNTIL_CLOSE;
		e = ERR_OK;
	}
	if (e == ERR_OK)
		*ret_length = length;
	return e;
}

bool
http_is_persistent(const struct http_head *head)
{
	bool keep = head->minor > 0;

	if (!(head->seen & HTTP_FIELD_BIT(FIELD_CONNECTION)))
		return keep;
	for (unsigned i = 0; i < head->nfields; i++) {
		struct span list = head->fields[i].value, option;

		if (head->fields[i].id != FIELD_CONNECTION)
			continue;
		while (span_next_element(&list, &option)) {
			if (span_equal_nocase(option, SPAN("close")))
				return false;
			if (span_equal_nocase(option, SPAN("keep-alive")))
				keep = true;
		}
	}
	return keep;
}
