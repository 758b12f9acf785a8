#include <check.h>
#include <stdlib.h>

#include "proxy/buf.h"

START_TEST(sizes_and_reuse)
{
	struct buf_pool pool = { 0 };
	struct buf *a = buf_new(&pool, 1), *b = buf_new(&pool, 1025), *kept;

	ck_assert_uint_eq(a->cap, 1024);
	ck_assert_uint_eq(b->cap, 2048);
	kept = a;
	buf_drop(&pool, &a);
	ck_assert_ptr_null(a);
	buf_drop(&pool, &a);
	/* Of that size, and of no other, it comes back. */
	a = buf_new(&pool, 2000);
	ck_assert_ptr_ne(a, kept);
	buf_drop(&pool, &a);
	a = buf_new(&pool, 1024);
	ck_assert_ptr_eq(a, kept);
	ck_assert_uint_eq(a->len, 0);
	buf_drop(&pool, &a);
	buf_drop(&pool, &b);
	buf_pool_fini(&pool);
}
END_TEST

START_TEST(larger_than_any_class)
{
	struct buf_pool pool = { 0 };
	struct buf *a = buf_new(&pool, (1u << 19) + 1);

	ck_assert_uint_eq(a->cap, (1u << 19) + 1);
	buf_drop(&pool, &a);
	for (unsigned i = 0; i < BUF_CLASSES; i++)
		ck_assert_uint_eq(pool.nfree[i], 0);
	buf_pool_fini(&pool);
}
END_TEST

/* A queue of octets, compared with a plain array, over many random steps. */
START_TEST(as_a_queue)
{
	struct buf_pool pool = { 0 };
	struct buf *q = NULL;
	static char in[200000];
	size_t put = 0, taken = 0;

	srand(7);
	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (char)rand();
	while (taken < sizeof(in)) {
		size_t n = (size_t)rand() % 3000;

		if (n > sizeof(in) - put)
			n = sizeof(in) - put;
		buf_append(&pool, &q, span_of(in + put, n));
		put += n;
		if (q == NULL)
			continue;
		n = (size_t)rand() % (q->len + 1);
		ck_assert_uint_eq(q->len, put - taken);
		ck_assert_mem_eq(buf_span(q).ptr, in + taken, q->len);
		buf_skip(&pool, &q, n);
		taken += n;
		ck_assert((q == NULL) == (taken == put));
	}
	buf_pool_fini(&pool);
}
END_TEST

START_TEST(reserve_keeps_the_octets)
{
	struct buf_pool pool = { 0 };
	struct buf *q = NULL;

	buf_append(&pool, &q, SPAN("0123456789"));
	buf_skip(&pool, &q, 4);
	buf_reserve(&pool, &q, 100000);
	ck_assert_uint_ge(q->cap - q->off - q->len, 100000);
	ck_assert(span_equal(buf_span(q), SPAN("456789")));
	buf_drop(&pool, &q);
	buf_pool_fini(&pool);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("buf");
	TCase *tc = tcase_create("buf");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, sizes_and_reuse);
	tcase_add_test(tc, larger_than_any_class);
	tcase_add_test(tc, as_a_queue);
	tcase_add_test(tc, reserve_keeps_the_octets);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
