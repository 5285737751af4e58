/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of plugins for one test, and what the loader makes of it.
 */
#ifndef COLLET_TEST_LOADER_FIXTURE_H
#define COLLET_TEST_LOADER_FIXTURE_H

#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "plugins/loader.h"

typedef struct fixture {
    char directory[64]; /* fresh, below /tmp, open to this user only */
    loader_options options;
    char path[PATH_MAX]; /* options.program_path: `directory`, unless a test says otherwise */
    record_list *records;
    loader_plugin *plugins;
    size_t count;
} fixture;

/* CMocka's setup and teardown; *state is the fixture. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* "<directory>/<name>" in one of a few buffers that are used in turn. */
const char *fixture_path(const fixture *f, const char *name);
/* Copies zoo_<zoo>.so into the directory as `name`. */
void fixture_add(fixture *f, const char *zoo, const char *name);
/* Writes bytes there; reads a file's, which the caller frees. */
void fixture_write(fixture *f, const char *name, const void *bytes, size_t count);
char *fixture_read(const char *path, size_t *count);
/* Copies zoo_good.so with another manifest (shorter than the room it has) and writes over bytes. */
void fixture_add_manifest(fixture *f, const char *name, const char *text);
void fixture_add_patched(fixture *f, const char *name, size_t offset, const void *bytes,
                         size_t count);

/* Scans anew, with fresh records. */
void fixture_scan(fixture *f);
/* The last record of a file (or directory) of that name and stage; fails when there is none. */
const record_entry *fixture_record(const fixture *f, const char *name, const char *stage);
/* The plugin of that backend name, or NULL. */
const loader_plugin *fixture_plugin(const fixture *f, const char *name);
/* The file was refused there, with that code and that in its reason. */
void fixture_assert_refused(const fixture *f, const char *name, const char *stage, const char *code,
                            const char *reason);
/* The backend can be used and its probe said so. */
void fixture_assert_proven(const fixture *f, const char *name);

extern const collet_host fixture_host;

#endif
