/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_allocation_ops.c */
#include "load.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

/* The number of threads of this process that run or are ready to run. */
static int32_t running_here(void)
{
    int32_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    while (tasks && (task = readdir(tasks))) {
        char path[300], state = 0;
        if (task->d_name[0] == '.') /* "../stat" is the file of the process */
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", task->d_name);
        FILE *file = fopen(path, "re");
        count += file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1 && state == 'R';
        if (file)
            fclose(file);
    }
    if (tasks)
        closedir(tasks);
    return count;
}

/* The number of threads of all processes that run or are ready to run; 0: the system does not report it. */
static int32_t running_anywhere(void)
{
    int running = 0;
    FILE *file = fopen("/proc/loadavg", "re");
    if (file && fscanf(file, "%*s %*s %*s %d/", &running) != 1)
        running = 0;
    if (file)
        fclose(file);
    return running;
}

bool load_is_crowded(int32_t processors, int32_t workers)
{
    if (running_anywhere() <= processors)
        return false;
    int32_t here = running_here();
    return here > processors && here - workers > 1;
}

int32_t load_free_processors(int32_t most)
{
    int64_t processors = sysconf(_SC_NPROCESSORS_ONLN);
    int32_t running = running_anywhere();
    if (running - 1 + most <= processors)
        return most;
    int32_t here = running_here(), again = running_anywhere(); /* read twice, because our threads may start or stop */
    int64_t left = processors - ((again > running ? again : running) - here);
    return left < 1 ? 1 : left < most ? (int32_t)left : most;
}
