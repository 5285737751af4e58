/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of plugins for one test, and the loader's results for it.
 */
#ifndef TESTS_FAULT_LOADER_FIXTURE_H
#define TESTS_FAULT_LOADER_FIXTURE_H

#include <limits.h>

#include "common/test.h"
#include "plugins/loader.h"

typedef struct fixture {
    char directory[64]; /* new, below /tmp, accessible by this user only */
    loader_options options;
    char path[PATH_MAX]; /* options.program_path; default `directory` */
    record_list *records;
    loader_plugin *plugins;
    size_t count;
} fixture;

/* CMocka's setup and teardown; *state is the fixture. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* "<directory>/<name>" in one of several rotating buffers. */
const char *fixture_path(const fixture *f, const char *name);
/* Copies zoo_<zoo>.so into the directory as `name`. */
void fixture_add(fixture *f, const char *zoo, const char *name);
/* fixture_write writes the file `name` of the directory. fixture_read reads any file; the caller
 * frees the result. */
void fixture_write(fixture *f, const char *name, const void *bytes, size_t count);
char *fixture_read(const char *path, size_t *count);
/* Copies zoo_good.so with another manifest (which must fit into its padding) or patched bytes. */
void fixture_add_manifest(fixture *f, const char *name, const char *text);
void fixture_add_patched(fixture *f, const char *name, size_t offset, const void *bytes,
                         size_t count);

/* The number of open descriptors of this process. */
int fixture_descriptors(void);
/* Scans again, with new records; asserts that no descriptor stays open. */
void fixture_scan(fixture *f);
/* The last record for a file (or directory) of this name and stage; fails if there is none. */
const collet_plugin_record *fixture_record(const fixture *f, const char *name, const char *stage);
/* The plugin whose backend has this name, or NULL. */
const loader_plugin *fixture_plugin(const fixture *f, const char *name);
/* Asserts that the file was refused at this stage with this code and a reason that contains
 * `reason`. */
void fixture_assert_refused(const fixture *f, const char *name, const char *stage, const char *code,
                            const char *reason);
/* Asserts that the backend is usable and its probe succeeded. */
void fixture_assert_proven(const fixture *f, const char *name);

extern const collet_host fixture_host;

#endif
