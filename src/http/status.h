#ifndef WEIR_HTTP_STATUS_H
#define WEIR_HTTP_STATUS_H

#include "base/span.h"

/* "Too Many Requests"; "Unknown" for a code status.def does not list. */
struct span http_status_phrase(int status);

/* "HTTP/1.1 429 Too Many Requests" and CRLF; that of 500 for a code status.def
 * does not list. */
struct span http_status_line(int status);

/* One plain sentence for people who meet the status in weir's own answer, for
 * example "The request has both Content-Length and Transfer-Encoding." is not
 * here (that is the detail), but "The upstream did not answer in time." is. */
struct span http_status_detail(int status);

#endif
