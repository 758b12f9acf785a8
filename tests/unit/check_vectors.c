#include <check.h>
#include <stdlib.h>

#include "harness/model.h"
#include "harness/vectors.h"

static void
fresh(void *arg)
{
	struct model *m = arg;

	model_fini(m);
	model_init(m);
}

static void
decide(void *arg, struct row *row, int64_t now, bool spend)
{
	struct question q = { .rows = row, .nrows = 1 };

	model_decide(arg, &q, now, spend);
}

START_TEST(vectors)
{
	struct model model;
	const struct vector_player player = { .kind = (enum algo_kind)_i,
	    .fresh = fresh, .decide = decide, .arg = &model };

	model_init(&model);
	vectors_play(&player);
	model_fini(&model);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("vectors");
	TCase *tc = tcase_create("vectors");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_loop_test(tc, vectors, 0, ALGO_COUNT);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
