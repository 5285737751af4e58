/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_analysis.c */
#include "worker.h"

#include "io/thread.h"

#include <stdlib.h>
#include <string.h>

typedef enum worker_state { IDLE, BUSY, ENDING } worker_state;

struct trajectory_worker {
    pthread_t thread;
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t changed;
    worker_state state;
    collet_status status; /* result of the last work */
    collet_error error;
    trajectory_work_fn work;
    void *user;
};

static void *serve(void *argument)
{
    trajectory_worker *w = argument;

    pthread_mutex_lock(&w->lock);
    while (w->state != ENDING) {
        if (w->state == IDLE) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        w->status = w->work(w->user, &w->error);
        pthread_mutex_lock(&w->lock);
        w->state = IDLE;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void wait_until_idle(trajectory_worker *w)
{
    while (w->state == BUSY)
        pthread_cond_wait(&w->changed, &w->lock);
}

static void change(trajectory_worker *w, worker_state state)
{
    pthread_mutex_lock(&w->lock);
    wait_until_idle(w);
    w->state = state;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static void destroy(trajectory_worker *w)
{
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

collet_status trajectory_worker_start(trajectory_work_fn work, void *user, trajectory_worker **out,
                                      collet_error *err)
{
    trajectory_worker *w = calloc(1, sizeof *w);
    int code;

    *out = NULL;
    if (w == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to start a thread");
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->work = work;
    w->user = user;
    code = io_thread_start(&w->thread, serve, w);
    if (code != 0) {
        destroy(w);
        return collet_fail(err, COLLET_FAILED, "a thread cannot be started: %s", strerror(code));
    }
    *out = w;
    return COLLET_OK;
}

collet_status trajectory_worker_wait(trajectory_worker *w, collet_error *err)
{
    pthread_mutex_lock(&w->lock);
    wait_until_idle(w);
    pthread_mutex_unlock(&w->lock);
    if (w->status != COLLET_OK && err != NULL)
        *err = w->error;
    return w->status;
}

void trajectory_worker_go(trajectory_worker *w)
{
    change(w, BUSY);
}

void trajectory_worker_stop(trajectory_worker *w)
{
    if (w == NULL)
        return;
    change(w, ENDING);
    pthread_join(w->thread, NULL);
    destroy(w);
}
