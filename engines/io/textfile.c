/* SPDX-License-Identifier: Apache-2.0 */
#include "textfile.h"

#include "spool.h"

collet_status collet_textfile_write(const char *path, const void *text, size_t length,
                                    collet_error *err)
{
    collet_spool *spool;

    collet_status status = collet_spool_create(path, COLLET_SPOOL_OUTPUT, &spool, err);
    if (status != COLLET_OK)
        return status;
    status = collet_spool_write(spool, text, length, err);
    if (status == COLLET_OK)
        status = collet_spool_link(spool, err);
    if (status == COLLET_OK)
        status = collet_spool_rename(spool, err);
    collet_spool_free(spool);
    return status;
}
