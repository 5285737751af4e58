/* SPDX-License-Identifier: Apache-2.0 */
#include "choice_parts.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Of one trial: what the slowest way that is right takes a few times over, on a busy machine. */
#define TRIAL_MS 2500

/* Libraries that hang cost the probe no more than so many trials' time. */
#define MOST_HANGS 2

/* Capabilities are asked twice; trials are made once. Only a probe has trials, and it has but one
 * thread: the lock is for the other processes, where nothing is ever found. */
static int found;
static int hangs;
static pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;

static int can_try(const collet_host *host)
{
    return host->struct_size >= offsetof(collet_host, trial) + sizeof host->trial && host->trial;
}

static int was_late(const collet_error *err)
{
    return err->status == COLLET_FAILED && strncmp(err->text, "not done", 8) == 0;
}

static collet_status trial_time(const collet_host *host, int32_t *milliseconds, collet_error *err)
{
    const char *word = host->config(host, "cpu_openmp.trial_ms");
    char *end = NULL;
    long given = word ? strtol(word, &end, 10) : TRIAL_MS;
    if (word && (end == word || *end || given < 1 || given > INT32_MAX))
        return host->fail(err, COLLET_INVALID,
                          "cpu_openmp.trial_ms is a number of milliseconds above 0, not '%s'",
                          word);
    *milliseconds = (int32_t)given;
    return COLLET_OK;
}

collet_status choice_try(const collet_host *host, void (*body)(void *argument, void *result),
                         void *argument, void *result, uint64_t bytes, collet_error *err)
{
    int32_t milliseconds = 0;
    if (hangs >= MOST_HANGS)
        return host->fail(err, COLLET_UNAVAILABLE, "not tried after %d trials that hung", hangs);
    collet_status status = trial_time(host, &milliseconds, err);
    if (status == COLLET_OK)
        status = host->trial(host, body, argument, result, bytes, milliseconds, err);
    if (status != COLLET_OK && was_late(err))
        hangs++;
    return status;
}

int choice_was_short(const collet_error *err)
{
    return err->status == COLLET_UNAVAILABLE || was_late(err);
}

void choice_add(text *choices, const char *word, const char *value)
{
    text_add(choices, "%s\"%s\": ", choices->used ? ", " : "", word);
    text_quote(choices, value);
}

void choice_describe(const collet_host *host, const isa_level *level, text *json)
{
    char room[4096];
    text choices = {.at = room, .capacity = sizeof room};
    int tries = can_try(host);
    (void)pthread_mutex_lock(&finding);
    if (tries && !found) {
        choice_openblas_find(host, level);
        choice_onednn_find(host, level);
        found = 1;
    }
    (void)pthread_mutex_unlock(&finding);
    if (!tries)
        (void)choice_settle(host, level);
    text_add(json, "\"blas\": ");
    if (tries)
        choice_openblas_found(host, json, &choices);
    else
        choice_openblas_opened(json);
    text_add(json, ", \"onednn\": ");
    if (tries)
        choice_onednn_found(json, &choices);
    else
        choice_onednn_opened(json);
    if (tries)
        text_add(json, ", \"choices\": {%s}", room);
    /* On a machine that is busy enough a sound library seems to hang. */
    if (hangs)
        text_add(json, ", \"provisional\": true");
}

uint32_t choice_settle(const collet_host *host, const isa_level *level)
{
    choice_openblas_settle(host, level);
    return choice_onednn_settle(host, level);
}
