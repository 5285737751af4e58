/* SPDX-License-Identifier: Apache-2.0 */
/* Native OpenCL handles: buffers over a part of the program's buffer, marks after commands of the
 * program, page-locked memory. Skipped if there is no device. */
#include "common/slots.h"

#include "opencl/abi.h"

#define BYTES 4096

static collet_device *device;
static collet_queue *queue;
static const char *no_cache = "off";
static const host_setting settings[] = {{"cache", &no_cache}, {NULL, NULL}};

TEST(part_of_a_buffer)
{
    const collet_native_extension *n = natives(device);
    collet_buffer *own = new_buffer(device, BYTES), *part = NULL;
    void *handle = NULL;
    char in[4] = "";
    assert_good(n->buffer(device, own, &handle, &err));
    assert_good(n->buffer_import(device, &part, handle, BYTES / 2, 64, 4, &err));
    assert_good(plugin->buffer_write(device, queue, part, 0, "abc", 4, &err));
    assert_good(wait_all(device, queue));
    assert_good(plugin->buffer_read(device, queue, own, BYTES / 2, in, 4, &err));
    assert_string_equal(in, "abc");
    plugin->buffer_free(device, part);
    assert_good(n->buffer_import(device, &part, handle, 0, BYTES, 4, &err));
    assert_good(plugin->buffer_read(device, queue, part, BYTES / 2, in, 4, &err));
    assert_string_equal(in, "abc");
    plugin->buffer_free(device, part);
    assert_status_is(n->buffer_import(device, &part, handle, 4, 64, 4, &err), COLLET_INVALID);
    assert_contains(err.text, "CL_DEVICE_MEM_BASE_ADDR_ALIGN");
    assert_status_is(n->buffer_import(device, &part, handle, BYTES, 64, 4, &err), COLLET_INVALID);
    assert_contains(err.text, "the buffer has 4096 bytes; 64 from byte 4096 were given");
    plugin->buffer_free(device, own);
}

TEST(buffers_of_other_contexts_are_refused)
{
    collet_device *other = open_device(0);
    collet_buffer *theirs = new_buffer(other, BYTES), *b = NULL;
    void *handle = NULL;
    assert_good(natives(other)->buffer(other, theirs, &handle, &err));
    assert_status_is(natives(device)->buffer_import(device, &b, handle, 0, 64, 4, &err),
                     COLLET_INVALID);
    assert_contains(err.text, "is not a buffer of the device's OpenCL context");
    plugin->buffer_free(other, theirs);
    plugin->device_close(other);
}

/* A mark also covers a write that the program enqueued by calling the driver itself. */
TEST(foreign_commands_are_marked)
{
    collet_native_device native = {.struct_size = sizeof native};
    collet_buffer *b = new_buffer(device, BYTES);
    void *handle = NULL, *memory = NULL, *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    char in[4] = "";
    cl_int (*write)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint,
                    const cl_event *, cl_event *);
    assert_non_null(library);
    void *symbol = dlsym(library, "clEnqueueWriteBuffer");
    memcpy(&write, &symbol, sizeof write);
    assert_good(natives(device)->device(device, &native, &err));
    assert_string_equal(native.api, "opencl");
    assert_int_equal(native.dlpack_type, 4);
    assert_good(natives(device)->queue(device, queue, &handle, &err));
    assert_good(natives(device)->buffer(device, b, &memory, &err));
    assert_int_equal(write(handle, memory, CL_FALSE, 0, 4, "xyz", 0, NULL, NULL), CL_SUCCESS);
    uint64_t before = plugin->queue_mark(device, queue);
    assert_good(natives(device)->queue_used(device, queue, &err));
    uint64_t mark = plugin->queue_mark(device, queue);
    assert_true(mark > before);
    assert_good(plugin->queue_wait(device, queue, mark, -1, &err));
    collet_queue *other = new_queue(device);
    assert_good(plugin->buffer_read(device, other, b, 0, in, 4, &err));
    assert_string_equal(in, "xyz");
    plugin->queue_destroy(device, other);
    plugin->buffer_free(device, b);
}

TEST(pinned_memory)
{
    const collet_pinned_extension *pinned = plugin->extension(device, COLLET_EXTENSION_PINNED);
    collet_buffer *b = new_buffer(device, BYTES);
    void *address = NULL, *handle = NULL;
    assert_good(pinned->alloc(device, &address, &handle, BYTES, &err));
    memset(address, 7, BYTES);
    assert_good(plugin->buffer_write(device, queue, b, 0, address, BYTES, &err));
    assert_good(wait_all(device, queue));
    memset(address, 0, BYTES);
    assert_good(plugin->buffer_read(device, queue, b, 0, address, BYTES, &err));
    assert_int_equal(((char *)address)[BYTES - 1], 7);
    pinned->free(device, address, handle);
    assert_status_is(pinned->alloc(device, &address, &handle, (uint64_t)1 << 60, &err),
                     COLLET_REFUSED);
    plugin->buffer_free(device, b);
}

int main(void)
{
    host_settings = settings;
    if (load_plugin_file(COLLET_TEST_PLUGINS "/opencl.so"))
        return 1;
    if (host_open(0, &device, &err) != COLLET_OK) {
        printf("SKIP: no OpenCL device: %s\n", err.text);
        return 77;
    }
    queue = new_queue(device);
    int failed = test_run();
    plugin->queue_destroy(device, queue);
    plugin->device_close(device);
    return failed;
}
