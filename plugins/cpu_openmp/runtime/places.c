/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_omp_places.c */
#include "places.h"

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

void places_find(places *p)
{
    p->count = 0;
    p->bind = omp_get_proc_bind();
    int all_places = p->bind == omp_proc_bind_false ? 0 : omp_get_num_places();
    cpu_set_t all, before;
    CPU_ZERO(&all);
    for (int place = 0; place < all_places && p->count < CPU_SETSIZE; place++) {
        before = all;
        if (!add(place, &all) || CPU_EQUAL(&all, &before))
            continue;
        CPU_ZERO(&p->sets[p->count]);
        (void)add(place, &p->sets[p->count++]);
    }
}

const cpu_set_t *places_place(const places *p, int32_t thread, int32_t threads)
{
    int64_t index = p->bind == omp_proc_bind_master ? 0
                    : p->bind == omp_proc_bind_spread || threads > p->count
                        ? (int64_t)p->count * thread / threads
                        : thread;
    return &p->sets[index];
}

bool places_leave(cpu_set_t *own)
{
    int count = omp_get_proc_bind() == omp_proc_bind_false ? 0 : omp_get_num_places();
    bool bound = false;
    cpu_set_t all, one;
    CPU_ZERO(&all);
    if (count < 1 || sched_getaffinity(0, sizeof *own, own) != 0)
        return false;
    for (int place = 0; place < count; place++) {
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
