/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h - shared libraries that this plugin opens at run time and keeps for the life of the
 * process.
 *
 * The functions of a library are taken from its own handle, and the library is opened with RTLD_DEEPBIND. So
 * neither our calls nor the calls within the library reach functions of the same names that
 * the host program exports (cblas_sgemm, sgemm_...). Any thread may call the functions of this header.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define LIBRARY_REASON 640

typedef struct library_settings {
    char name[512];  /* the library's name or path; "": the default */
    char target[32]; /* the core type or instruction set to set; "": the library chooses */
    char refused[LIBRARY_REASON]; /* why the library must not be opened; "": it may be opened */
} library_settings;

/* The settings of one library of the process; the first library_settle decides them. */
typedef struct library_choice {
    pthread_mutex_t lock;
    int settled;
    library_settings settings;
} library_choice;

/* The first call decides c's settings: *settings or, if `settings` is NULL, the settings that c already has. */
void library_settle(library_choice *c, const library_settings *settings);

/* Opens the library `name` (as for dlopen). Its constructors find `variables` in the environment, instead
 * of existing variables of the same names. `variables` is an array of "NAME=value" that ends with NULL, or
 * NULL for none; the strings must live as long as the process. Returns NULL if the library cannot be opened. */
void *library_open(const char *name, const char *const *variables);

/* Begin and end a group of calls of any of these libraries. fork() in another thread waits until no group
 * is in progress, and new groups wait until fork() returns, so that a child never finds a library's locks
 * held or its threads at work. exit() waits for groups too, because destructors of a library free memory
 * that its calls use. After exit() has begun, library_enter returns 0: the caller must then call neither
 * the library nor library_leave. Groups of one thread do not nest. */
int library_enter(void);
void library_leave(void);

/* How often fork() has returned in this process and in its ancestors. Call it only within a group. */
int64_t library_forks(void);

/* 1 in a child of a process that had opened a library: the library's own threads may be missing. */
int library_forked(void);

/* Makes the first call of a library that is already loaded. fork() waits until the call returns, so that a child never
 * finds the library half initialised. */
void library_initialise(void (*first_call)(void));

/* The library's handle if the process has already loaded the library, else NULL. */
void *library_loaded(const char *name);

/* Sets *function (a pointer to a function) to the library's function; 0 when there is none. */
int library_find(void *handle, const char *name, void *function);

/* The same for all `symbols`, whose names begin with `prefix` in the library: sets the members of the structure
 * `functions`. Returns 0 if one is missing. */
typedef struct library_symbol {
    const char *name;
    size_t offset; /* the offset of the member */
} library_symbol;
int library_find_all(void *handle, const char *prefix, const library_symbol *symbols, size_t count,
                     void *functions);

/* The path of the file that contains *function, as library_find set it; "" when unknown. */
void library_path(void *function, char *path, uint64_t capacity);
