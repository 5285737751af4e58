/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_omp_places.c */
#include "places.h"

#include <omp.h>

/* Adds the processors of a place to the set; returns false if there are more than a set can hold. */
static bool add(int place, cpu_set_t *set)
{
    int ids[CPU_SETSIZE], count = omp_get_place_num_procs(place);
    if (count > CPU_SETSIZE)
        return false;
    omp_get_place_proc_ids(place, ids);
    for (int i = 0; i < count; i++)
        CPU_SET((size_t)ids[i], set);
    return true;
}

/* Lists the places that have a processor which no earlier place has; returns their number. */
static int distinct(int list[CPU_SETSIZE])
{
    int places = omp_get_num_places(), count = 0;
    cpu_set_t all, before;
    CPU_ZERO(&all);
    for (int place = 0; place < places && count < CPU_SETSIZE; place++) {
        before = all;
        if (add(place, &all) && !CPU_EQUAL(&all, &before))
            list[count++] = place;
    }
    return count;
}

bool places_bind(int32_t thread, int32_t threads)
{
    omp_proc_bind_t bind = omp_get_proc_bind();
    int list[CPU_SETSIZE], count = bind == omp_proc_bind_false ? 0 : distinct(list);
    if (count < 1)
        return false;
    int64_t index = bind == omp_proc_bind_master ? 0
                    : bind == omp_proc_bind_spread || threads > count
                        ? (int64_t)count * thread / threads
                        : thread;
    cpu_set_t set;
    CPU_ZERO(&set);
    (void)add(list[index], &set);
    (void)sched_setaffinity(0, sizeof set, &set);
    return true;
}

bool places_leave(cpu_set_t *own)
{
    int places = omp_get_proc_bind() == omp_proc_bind_false ? 0 : omp_get_num_places();
    bool bound = false;
    cpu_set_t all, one;
    CPU_ZERO(&all);
    if (places < 1 || sched_getaffinity(0, sizeof *own, own) != 0)
        return false;
    for (int place = 0; place < places; place++) {
        CPU_ZERO(&one);
        if (!add(place, &one))
            return false;
        bound |= CPU_EQUAL(&one, own);
        CPU_OR(&all, &all, &one);
    }
    return bound && sched_setaffinity(0, sizeof all, &all) == 0;
}

void places_return(const cpu_set_t *own)
{
    (void)sched_setaffinity(0, sizeof *own, own);
}
