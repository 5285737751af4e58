// SPDX-License-Identifier: Apache-2.0
//! A backend in Rust: `add` of f32 on the host's memory, done when `run` returns. It declares what
//! it needs of collet/plugin.h and collet/types.h, in the same order.
//!
//!     rustc -O -C panic=abort -C strip=symbols --crate-type cdylib -o rust_add.so lib.rs
use std::os::raw::{c_char, c_void};
use std::{ptr, slice};

// ---- collet/types.h and collet/plugin.h -----------------------------------------------------

const COLLET_OK: i32 = 0;
const COLLET_UNAVAILABLE: i32 = 7;
const COLLET_F32: u64 = 3;
const COLLET_OP_ADD: u32 = 3;
const COLLET_LOG_DEBUG: i32 = 4;
const COLLET_MEMORY_HOST: u32 = 1;
const COLLET_ORDER_SYNCHRONOUS: u32 = 1;
const COLLET_THREADS_ANY: u32 = 1;
const COLLET_ABI_MAJOR: u32 = 2;
const COLLET_ABI: u32 = COLLET_ABI_MAJOR << 16;

type Error = c_void; // host.fail_text fills it
type Device = c_void;
type Queue = c_void;
type Absent = *const c_void; // a slot that is NULL here, or that is not called

#[repr(C)]
pub struct Host {
    abi: u32,
    struct_size: u32,
    fail: Absent,
    log: Absent,
    threads: Absent,
    config: Absent,
    extension: Absent,
    fail_text: extern "C" fn(*mut Error, i32, *const c_char) -> i32,
    log_text: extern "C" fn(*const Host, i32, *const c_char),
}

#[repr(C)]
pub struct Operand {
    buffer: *mut u8,
    byte_offset: u64,
    dtype: i32,
    ndim: i32,
    shape: *const i64,
    strides: *const i64,
}

#[repr(C)]
pub struct KernelCall {
    struct_size: u32,
    op: u32,
    sig: u64,
    n_out: u32,
    n_in: u32,
    operand_size: u32,
    params_size: u32,
    operands: *const u8,
    params: *const c_void,
    workspace: *mut c_void,
    workspace_bytes: u64,
    err: *mut Error,
}

#[repr(C)]
pub struct KernelRow {
    op: u32,
    flags: u32,
    sig: u64,
    params_size: u32,
    reserved: u32,
    run: unsafe extern "C" fn(*mut Device, *mut Queue, *const KernelCall) -> i32,
    accepts: Absent,
}

#[repr(C)]
pub struct DeviceProperties {
    struct_size: u32,
    memory: u32,
    order: u32,
    threads: u32,
    max_queues: u32,
    reserved: u32,
}

type Capabilities = unsafe extern "C" fn(
    *const Plugin, *mut c_char, u64, *mut u64, *const Host, *mut Error) -> i32;
type DeviceOpen = unsafe extern "C" fn(
    *const Plugin, *mut *mut Device, *mut DeviceProperties, *const Host, u32, *const c_char,
    *mut Error) -> i32;

#[repr(C)]
pub struct Plugin {
    abi: u32,
    struct_size: u32,
    flags: u32,
    kernel_count: u32,
    kernel_size: u32,
    op_count: u32,
    op_size: u32,
    reserved: u32,
    name: *const c_char,
    version: *const c_char,
    kernels: *const KernelRow,
    ops: Absent,
    capabilities: Capabilities,
    device_open: DeviceOpen,
    device_close: extern "C" fn(*mut Device),
    device_supports: Absent,
    memory_slots: [Absent; 4], // buffer_alloc to buffer_read
    queue_slots: [Absent; 5],  // queue_create to queue_after
    extension: Absent,
}
unsafe impl Sync for Plugin {} // its pointers are to constants
unsafe impl Sync for KernelRow {}

// ---- The manifest ---------------------------------------------------------------------------

/// An ELF note, as "The manifest" in collet/plugin.h describes it.
#[repr(C, align(4))]
pub struct Note<const N: usize> {
    owner_bytes: u32,
    content_bytes: u32,
    kind: u32,
    owner: [u8; 8],
    content: [u8; N],
}

const JSON: &[u8] = include_bytes!("manifest.json");

#[used]
#[link_section = ".note.collet"]
static MANIFEST: Note<{ JSON.len() }> = Note {
    owner_bytes: 7,
    content_bytes: JSON.len() as u32,
    kind: 1,
    owner: *b"collet\0\0",
    content: *include_bytes!("manifest.json"),
};

// ---- Device ---------------------------------------------------------------------------------

const CAPABILITIES: &[u8] = b"{\"jit\": false, \"parallel\": false, \"gpu\": false, \
    \"device_count\": 1, \"devices\": [{\"name\": \"CPU\"}]}\0";

unsafe extern "C" fn capabilities(
    _this: *const Plugin, json: *mut c_char, capacity: u64, needed: *mut u64, _host: *const Host,
    _err: *mut Error,
) -> i32 {
    *needed = CAPABILITIES.len() as u64;
    if capacity >= *needed {
        ptr::copy_nonoverlapping(CAPABILITIES.as_ptr(), json.cast(), CAPABILITIES.len());
    }
    COLLET_OK
}

/// The device has no state, so any address that is not NULL stands for it.
unsafe extern "C" fn device_open(
    _this: *const Plugin, device: *mut *mut Device, properties: *mut DeviceProperties,
    host: *const Host, index: u32, _name: *const c_char, err: *mut Error,
) -> i32 {
    if index != 0 {
        let text = b"rust_add has one device, 0\0";
        return ((*host).fail_text)(err, COLLET_UNAVAILABLE, text.as_ptr().cast());
    }
    ((*host).log_text)(host, COLLET_LOG_DEBUG, b"rust_add: opened\0".as_ptr().cast());
    (*properties).memory = COLLET_MEMORY_HOST;
    (*properties).order = COLLET_ORDER_SYNCHRONOUS;
    (*properties).threads = COLLET_THREADS_ANY;
    *device = &PLUGIN as *const Plugin as *mut Device;
    COLLET_OK
}

extern "C" fn device_close(_device: *mut Device) {}

// ---- The kernel -----------------------------------------------------------------------------

/// out = a + b for all elements; `at` has their addresses, `shape` and `strides` the axes.
unsafe fn add_elements(at: [*mut f32; 3], shape: &[i64], strides: [&[i64]; 3]) {
    for i in 0..shape[0] {
        let next = [0, 1, 2].map(|k| at[k].offset((i * strides[k][0]) as isize));
        if shape.len() == 1 {
            *next[0] = *next[1] + *next[2];
        } else {
            add_elements(next, &shape[1..], strides.map(|s| &s[1..]));
        }
    }
}

unsafe extern "C" fn add(_device: *mut Device, _queue: *mut Queue, call: *const KernelCall) -> i32 {
    let size = (*call).operand_size as usize; // libcore's struct may be longer than ours
    let operands = [0, 1, 2].map(|k| &*(*call).operands.add(k * size).cast::<Operand>());
    let axes = operands[0].ndim as usize;
    add_elements(
        operands.map(|o| o.buffer.add(o.byte_offset as usize).cast()),
        slice::from_raw_parts(operands[0].shape, axes),
        operands.map(|o| slice::from_raw_parts(o.strides, axes)),
    );
    COLLET_OK
}

// ---- Tables ---------------------------------------------------------------------------------

static KERNELS: [KernelRow; 1] = [KernelRow {
    op: COLLET_OP_ADD,
    flags: 0,
    sig: COLLET_F32 | COLLET_F32 << 5 | COLLET_F32 << 10, // out, a, b
    params_size: 0,
    reserved: 0,
    run: add,
    accepts: ptr::null(),
}];

static PLUGIN: Plugin = Plugin {
    abi: COLLET_ABI,
    struct_size: std::mem::size_of::<Plugin>() as u32,
    flags: 0,
    kernel_count: KERNELS.len() as u32,
    kernel_size: std::mem::size_of::<KernelRow>() as u32,
    op_count: 0,
    op_size: 0,
    reserved: 0,
    name: b"rust_add\0".as_ptr().cast(),
    version: b"1.0.0\0".as_ptr().cast(),
    kernels: KERNELS.as_ptr(),
    ops: ptr::null(),
    capabilities,
    device_open,
    device_close,
    device_supports: ptr::null(),
    memory_slots: [ptr::null(); 4],
    queue_slots: [ptr::null(); 5],
    extension: ptr::null(),
};

#[no_mangle]
pub unsafe extern "C" fn collet_plugin_entry(host: *const Host) -> *const Plugin {
    if (*host).abi >> 16 == COLLET_ABI_MAJOR {
        &PLUGIN
    } else {
        ptr::null()
    }
}
