/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h - shared libraries that this plugin opens at run time and keeps for the life of the
 * process.
 *
 * Their functions are taken from the library's own handle, and the library itself is opened with
 * RTLD_DEEPBIND: neither our calls nor the calls within it reach functions of the same names that
 * the host program exports (cblas_sgemm, sgemm_...). Any thread.
 */
#ifndef PLUGINS_CPU_OPENMP_PROVIDERS_LIBRARY_H
#define PLUGINS_CPU_OPENMP_PROVIDERS_LIBRARY_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define LIBRARY_REASON 640

typedef struct library_settings {
    char name[512];  /* of the library, or its path; "": the default */
    char target[32]; /* the core or instruction set that it is set to; "": its choice */
    char refused[LIBRARY_REASON]; /* why it is not opened; "": it is */
} library_settings;

/* The settings of one library of the process; the first library_settle decides them. */
typedef struct library_choice {
    pthread_mutex_t lock;
    int settled;
    library_settings settings;
} library_choice;

/* NULL: those that it has. */
void library_settle(library_choice *c, const library_settings *settings);

/*
 * Opens the library `name` (as for dlopen). While it is opened, its constructors find `variables`
 * ("NAME=value", then NULL; NULL: none) in the environment, instead of variables of the same names
 * that it has. The strings live as long as the process. NULL when it cannot be opened.
 */
void *library_open(const char *name, const char *const *variables);

/*
 * Begin and end a group of calls of any of these libraries. fork() in another thread waits until no
 * group is under way, and groups wait until it returns, so that a child never finds a library's
 * locks held or its threads at work. exit() waits for groups too, because destructors of a library
 * free what its calls use. From then on library_enter returns 0: the caller must not call the
 * library, nor library_leave. Groups of one thread do not nest.
 */
int library_enter(void);
void library_leave(void);

/* Within a group: how often fork() has returned in this process and those that it comes from. */
int64_t library_forks(void);

/* 1 in a child of a process that had opened a library: the library's own threads may be missing. */
int library_forked(void);

/* Makes the first call of a library that is loaded already, within a group (library_enter): fork()
 * waits until it returns, so that a child never finds the library half initialised. */
void library_initialise(void (*first_call)(void));

/* The library's handle when the process has it loaded already, else NULL. */
void *library_loaded(const char *name);

/* Sets *function (a pointer to a function) to the library's function; 0 when there is none. */
int library_find(void *handle, const char *name, void *function);

/* The same for all members of the structure `functions`, called `prefix` and their names; 0 when one
 * is missing. */
typedef struct library_symbol {
    const char *name;
    size_t offset; /* of the member */
} library_symbol;
int library_find_all(void *handle, const char *prefix, const library_symbol *symbols, size_t count,
                     void *functions);

/* The path of the file that contains *function, as library_find set it; "" when unknown. */
void library_path(void *function, char *path, uint64_t capacity);

#endif
