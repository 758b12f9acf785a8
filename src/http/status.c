#include "http/status.h"

struct span
http_status_phrase(int status)
{
	switch (status) {
#define STATUS(code, phrase, detail) case code: return SPAN(phrase);
#include "http/status.def"
#undef STATUS
	default:
		return SPAN("Unknown");
	}
}

struct span
http_status_line(int status)
{
	switch (status) {
#define STATUS(code, phrase, detail) \
	case code: \
		return SPAN("HTTP/1.1 " #code " " phrase "\r\n");
#include "http/status.def"
#undef STATUS
	default:
		return SPAN("HTTP/1.1 500 Internal Server Error\r\n");
	}
}

struct span
http_status_detail(int status)
{
	switch (status) {
#define STATUS(code, phrase, detail) case code: return SPAN(detail);
#include "http/status.def"
#undef STATUS
	default:
		return SPAN_EMPTY;
	}
}
