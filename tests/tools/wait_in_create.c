/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a program: collet_runtime_create waits until another process has opened the FIFO
 * WAIT_FOR for writing. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <collet/collet.h>

collet_status collet_runtime_create(collet_runtime **runtime, const collet_runtime_options *options,
                                    collet_error *err)
{
    collet_status (*create)(collet_runtime **, const collet_runtime_options *, collet_error *);
    void *symbol = dlsym(RTLD_NEXT, "collet_runtime_create");
    char byte;
    int fifo = open(getenv("WAIT_FOR"), O_RDONLY | O_CLOEXEC);
    while (fifo >= 0 && read(fifo, &byte, 1) > 0)
        continue;
    close(fifo);
    memcpy(&create, &symbol, sizeof create);
    return create(runtime, options, err);
}
