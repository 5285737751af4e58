/* SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include <omp.h>

bool places_all(cpu_set_t *all)
{
    int places = omp_get_proc_bind() == omp_proc_bind_false ? 0 : omp_get_num_places();
    int ids[CPU_SETSIZE];
    CPU_ZERO(all);
    for (int p = 0; p < places; p++) {
        int count = omp_get_place_num_procs(p);
        if (count > CPU_SETSIZE)
            return false;
        omp_get_place_proc_ids(p, ids);
        for (int i = 0; i < count; i++)
            CPU_SET((size_t)ids[i], all);
    }
    return CPU_COUNT(all) > 0;
}

bool places_leave(cpu_set_t *own)
{
    cpu_set_t all;
    return places_all(&all) && sched_getaffinity(0, sizeof *own, own) == 0 &&
           sched_setaffinity(0, sizeof all, &all) == 0;
}

void places_return(const cpu_set_t *own)
{
    (void)sched_setaffinity(0, sizeof *own, own);
}
