#include "limit/advert.h"

#define TYPE_URI	"https://iana.org/assignments/http-problem-types"
#define SECOND		INT64_C(1000000)

/* ---- fields ---- */

static int64_t
reset_value(const struct headers_conf *conf, const struct decision *d,
    int64_t wall_us)
{
	if (conf->reset == RESET_EPOCH)
		return verdict_seconds(wall_us + d->verdict.reset_in);
	return verdict_seconds(d->verdict.reset_in);
}

void
advert_put(const struct headers_conf *conf, const struct decision *d,
    int64_t wall_us, struct http_out *out)
{
	if (conf->style == HEADERS_NONE || d->policy == NULL ||
	    (d->outcome != OUTCOME_PASS && d->outcome != OUTCOME_LIMITED))
		return;
	http_out_put(out, SPAN("x-ratelimit-limit: "));
	http_out_put_u64(out, (uint64_t)d->verdict.limit);
	http_out_put(out, SPAN("\r\nx-ratelimit-remaining: "));
	http_out_put_u64(out, (uint64_t)d->verdict.remaining);
	http_out_put(out, SPAN("\r\nx-ratelimit-reset: "));
	http_out_put_u64(out, (uint64_t)reset_value(conf, d, wall_us));
	http_out_put(out, SPAN("\r\n"));
	if (conf->policy)
		http_out_field(out, SPAN("x-ratelimit-policy"),
		    span_str(d->policy->name));
}

int64_t
advert_retry_after(const struct headers_conf *conf, const struct decision *d,
    uint32_t random)
{
	int64_t seconds, most;

	if (d->outcome != OUTCOME_LIMITED)
		return 1;
	seconds = verdict_seconds(d->verdict.pass_in);
	most = seconds * conf->retry_after_jitter / 100;
	/* random / 2^32 of 0..most; waits are far below 2^31 seconds */
	return seconds + (int64_t)(((uint64_t)most + 1) * random >> 32);
}

/* ---- bodies ---- */

static bool
is_plain(char c)
{
	return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

static void
put_escape(struct http_out *out, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	const char escape[6] = { '\\', 'u', '0', '0', hex[c >> 4],
	    hex[c & 15] };

	http_out_put(out, span_of(escape, sizeof(escape)));
}

/* Inside a JSON string. Names come out of a checked configuration; the few
 * octets that would break the string are all that is seen to. */
static void
put_json(struct http_out *out, const char *str)
{
	const char *from = str;

	for (; *str != '\0'; str++) {
		if (is_plain(*str))
			continue;
		http_out_put(out, span_of(from, (size_t)(str - from)));
		put_escape(out, (unsigned char)*str);
		from = str + 1;
	}
	http_out_put(out, span_of(from, (size_t)(str - from)));
}

/* "1 s", "10 s", "1 min", "90 s", "500 ms": the coarsest unit that is whole. */
static void
put_period(struct http_out *out, int64_t us)
{
	static const struct {
		int64_t us;
		struct span name;
	} units[] = {
		{ 86400 * SECOND, { " d", 2 } },
		{ 3600 * SECOND, { " h", 2 } },
		{ 60 * SECOND, { " min", 4 } },
		{ SECOND, { " s", 2 } },
		{ 1000, { " ms", 3 } },
	};
	unsigned i = 0;

	/* Periods are whole milliseconds. */
	while (i < sizeof(units) / sizeof(units[0]) - 1 &&
	    us % units[i].us != 0)
		i++;
	http_out_put_u64(out, (uint64_t)(us / units[i].us));
	http_out_put(out, units[i].name);
}

static void
put_limited(const struct decision *d, int64_t retry_after,
    struct http_out *out)
{
	const struct rate *rate = d->rate;
	struct span name;

	http_out_put(out, SPAN("{\"type\":\"" TYPE_URI "#quota-exceeded\","
	    "\"title\":\"Quota exceeded\",\"status\":429,\"detail\":"
	    "\"Policy "));
	name.ptr = out->buf + out->len;
	put_json(out, d->policy->name);
	name.len = (size_t)(out->buf + out->len - name.ptr);
	http_out_put(out, SPAN(" allows "));
	http_out_put_u64(out, (uint64_t)rate->count);
	http_out_put(out, rate->count == 1 ? SPAN(" request per ") :
	    SPAN(" requests per "));
	put_period(out, rate->period_us);
	if (d->verdict.limit != rate->count) {
		http_out_put(out, SPAN(" (burst "));
		http_out_put_u64(out, (uint64_t)d->verdict.limit);
		http_out_put(out, SPAN(")"));
	}
	http_out_put(out, SPAN(". Retry in "));
	http_out_put_u64(out, (uint64_t)retry_after);
	http_out_put(out, SPAN(" s.\",\"violated-policies\":[\""));
	http_out_put(out, name);
	http_out_put(out, SPAN("\"],\"retry-after\":"));
	http_out_put_u64(out, (uint64_t)retry_after);
	http_out_put(out, SPAN("}"));
}

static void
put_store_away(int64_t retry_after, struct http_out *out)
{
	http_out_put(out, SPAN("{\"type\":\"" TYPE_URI
	    "#temporary-reduced-capacity\",\"title\":"
	    "\"Temporary reduced capacity\",\"status\":503,\"detail\":"
	    "\"The rate limiter's store is unavailable. Retry in "));
	http_out_put_u64(out, (uint64_t)retry_after);
	http_out_put(out, SPAN(" s.\",\"retry-after\":"));
	http_out_put_u64(out, (uint64_t)retry_after);
	http_out_put(out, SPAN("}"));
}

/* What a part is called by people who send requests. */
static struct span
part_noun(enum key_source source)
{
	switch (source) {
	case KEY_HEADER:
		return SPAN("header ");
	case KEY_QUERY:
		return SPAN("query parameter ");
	case KEY_COOKIE:
		return SPAN("cookie ");
	case KEY_CALLER:
		return SPAN("the key of its caller class");
	case KEY_CLIENT_IP:
		return SPAN("a client address");
	case KEY_HOST:
		return SPAN("a host");
	default:
		return span_str(key_source_name(source));
	}
}

static void
put_no_key(const struct decision *d, struct http_out *out)
{
	static const struct key_part client_ip = { .source = KEY_CLIENT_IP };
	const struct key_part *part = d->policy->key.n > 0 ?
	    &d->policy->key.parts[d->missing_part] : &client_ip;

	http_out_put(out, SPAN("{\"type\":\"about:blank\",\"title\":"
	    "\"Bad Request\",\"status\":400,\"detail\":"
	    "\"The request lacks "));
	http_out_put(out, part_noun(part->source));
	if (part->name != NULL)
		put_json(out, part->name);
	http_out_put(out, SPAN(", which policy "));
	put_json(out, d->policy->name);
	http_out_put(out, SPAN(" needs.\"}"));
}

void
advert_put_body(const struct decision *d, int64_t retry_after,
    struct http_out *out)
{
	switch (d->outcome) {
	case OUTCOME_LIMITED:
		put_limited(d, retry_after, out);
		break;
	case OUTCOME_STORE_AWAY:
		put_store_away(retry_after, out);
		break;
	case OUTCOME_NO_KEY:
		put_no_key(d, out);
		break;
	case OUTCOME_PASS:
		break;
	}
}
