/*
 * Stands in for libFuzzer: gives each file of the folders named to the target
 * once. Arguments that begin with '-' are libFuzzer's own and mean nothing
 * here.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
fail(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* The octets lie in memory of their exact length, so that a sanitizer sees
 * each step over the end. */
static void
replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data;
	long size;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0)
		fail(path);
	size = ftell(file);
	rewind(file);
	data = malloc(size > 0 ? (size_t)size : 1);
	if (size < 0 || data == NULL ||
	    fread(data, 1, (size_t)size, file) != (size_t)size)
		fail(path);
	fclose(file);
	LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
}

static size_t
replay_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[4096];
	size_t n = 0;

	if (dir == NULL)
		fail(folder);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		replay_file(path);
		n++;
	}
	closedir(dir);
	return n;
}

int
main(int argc, char **argv)
{
	size_t n = 0;

	for (int i = 1; i < argc; i++)
		if (argv[i][0] != '-')
			n += replay_folder(argv[i]);
	printf("%zu files replayed\n", n);
	return n > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
