/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces collet-worker and violates the protocol. The name of the backend is a letter, which
 * selects the violation, and a number, the seed of random bytes:
 *   g  random messages of random sizes from the first on
 *   v  another version
 *   r  random kernel rows
 *   a  random replies
 *   s  random bytes in the shared memory of queues, again and again
 *   f  a flood of messages for the log
 *   m  shrinks the shared memory that it gets, and writes beyond the end of texts
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/wire.h"

static uint64_t state;

static uint32_t chance(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static void noise(void *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)to)[i] = (unsigned char)(chance() >> 3);
}

static void send_bytes(const void *bytes, size_t count)
{
    if (wire_send(WIRE_CONTROL, bytes, count, NULL, 0))
        _exit(0);
}

static void send_noise(void)
{
    static unsigned char bytes[WIRE_MAX];
    size_t count = 1 + chance() % (chance() % 2 ? 64 : sizeof bytes);
    noise(bytes, count);
    send_bytes(bytes, count);
}

static void open_well(char mode)
{
    wire_opened opened = {.version = WIRE_VERSION,
                          .status = COLLET_OK,
                          .memory = COLLET_MEMORY_HOST,
                          .order = COLLET_ORDER_SYNCHRONOUS,
                          .threads = COLLET_THREADS_ANY,
                          .row_count = 1};
    wire_row row = {COLLET_OP_NEG, 0, COLLET_SIG(COLLET_F32, COLLET_F32)};
    if (mode == 'v')
        opened.version[0] = 'x';
    if (mode == 'r')
        noise(&row, sizeof row);
    if (mode == 'r' && chance() % 2)
        opened.row_count = chance() % 70000;
    memset(opened.text, 'x', sizeof opened.text); /* no terminating NUL */
    send_bytes(&opened, sizeof opened);
    send_bytes(&row, sizeof row);
}

static wire_queue *queue;

/* Writes random bytes to the queue. Often the counter then says that all work is done, or that some
 * failed. */
static void scribble(void)
{
    if (!queue)
        return;
    noise(queue, sizeof *queue - sizeof queue->staging);
    if (chance() % 4)
        atomic_store(&queue->done, UINT64_MAX);
    if (chance() % 2)
        atomic_store(&queue->failed, chance() % 4);
    memset(queue->text, 'y', sizeof queue->text);
    atomic_fetch_add(&queue->changed, 1);
    wire_futex_wake(&queue->changed);
}

static void flood(void)
{
    struct {
        int32_t level;
        char text[WIRE_TEXT];
    } message;
    for (int i = 0; i < 50; i++) {
        noise(&message, sizeof message);
        message.level = (int32_t)(chance() % 9) - 2;
        send(WIRE_EVENTS, &message, 1 + chance() % sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

static void answer(char mode, const wire_call *m, const int *fds, int fd_count)
{
    wire_reply reply = {.status = COLLET_OK};
    for (int i = 0; i < fd_count && mode == 'm'; i++)
        if (!ftruncate(fds[i], 0))
            _exit(9);
    if (m->head.verb == WIRE_QUEUE && fd_count == 2)
        queue = mmap(NULL, sizeof *queue, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
    if (mode == 'a' && chance() % 2) {
        send_noise();
        return;
    }
    if (mode == 'a') {
        noise(&reply, sizeof reply);
        reply.status = (int32_t)(chance() % 40) - 4;
    }
    memset(reply.text, 'z', sizeof reply.text);
    send_bytes(&reply, sizeof reply);
}

int main(int argc, char **argv)
{
    char mode = argv[1][0];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    state = (uint64_t)strtol(argv[1] + 1, NULL, 10) * 2654435761u + 1;
    for (int i = 0; mode == 'g' && i < 100; i++)
        send_noise();
    open_well(mode);
    for (;;) {
        wire_call message;
        int fds[2], fd_count = 2;
        if (mode == 'f')
            flood();
        long got = wire_receive(WIRE_CONTROL, &message, sizeof message, fds, &fd_count,
                                queue ? MSG_DONTWAIT : 0);
        if (got == 0)
            return 0;
        scribble();
        if (got > 0 && message.head.verb != WIRE_FREE)
            answer(mode, &message, fds, fd_count);
    }
}
