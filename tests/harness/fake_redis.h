#ifndef WEIR_TESTS_FAKE_REDIS_H
#define WEIR_TESTS_FAKE_REDIS_H

#include "base/addr.h"
#include "base/text.h"
#include "net/loop.h"

/*
 * A Redis that does what a test says, in the test's own loop: it reads commands
 * and hands them to `on_command`; what that leaves alone is answered as a sound
 * server would (decisions: passed).
 */
struct fake_redis;
struct fake_conn;

#define FAKE_WORDS_MAX 16

struct fake_command {
	struct span words[FAKE_WORDS_MAX];	/* further ones are not kept */
	size_t n;
};

struct fake_redis {
	/* True: handled, or deliberately left unanswered. */
	bool (*on_command)(struct fake_redis *f, struct fake_conn *c,
	    const struct fake_command *command);
	/* The text for on_command to use, if it wants one. */
	struct span text;
	bool deaf;			/* accepts, but reads nothing */
	bool drop;			/* closes what it accepts */
	unsigned connects, evals, evalshas;
	struct endpoint address;

	struct loop *loop;		/* private from here */
	struct loop_io io;
	struct list conns;
	char folder[64], path[96];
};

void fake_redis_begin(struct fake_redis *f, struct loop *loop);
void fake_redis_end(struct fake_redis *f);

/* Octets to the client, at once. */
void fake_send(struct fake_conn *c, struct span octets);
/* What a sound server would say to this command. */
void fake_answer(struct fake_redis *f, struct fake_conn *c,
    const struct fake_command *command);
/* After what was sent. */
void fake_close(struct fake_conn *c);
/* The newest one, or NULL. */
struct fake_conn *fake_newest(struct fake_redis *f);
/* No more deaf: read what has come meanwhile. */
void fake_listen_again(struct fake_redis *f);

bool fake_is_decision(const struct fake_command *command);

#endif
