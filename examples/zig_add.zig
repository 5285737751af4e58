// SPDX-License-Identifier: Apache-2.0
//! Adds two arrays through the C interface, which `zig translate-c` has translated to collet.zig:
//! docs/languages.md has the commands.

const std = @import("std");
const c = @import("collet.zig");

/// Functions that take a context keep the text of a failure there.
fn check(context: ?*c.collet_context, status: c.collet_status) !void {
    if (status == c.COLLET_OK) return;
    std.debug.print("zig_add: {s}\n", .{c.collet_last_error(context)});
    return error.Failed;
}

fn array(context: ?*c.collet_context, numbers: []const f32) !?*c.collet_array {
    var made: ?*c.collet_array = null;
    const shape = [_]i64{@intCast(numbers.len)};
    try check(context, c.collet_array_from(context, &made, c.COLLET_F32, 1, &shape, numbers.ptr));
    return made;
}

pub fn main() !void {
    var runtime: ?*c.collet_runtime = null;
    var context: ?*c.collet_context = null;
    var err: c.collet_error = undefined;
    if (c.collet_runtime_create(&runtime, null, &err) != c.COLLET_OK or
        c.collet_context_create(runtime, &context, &err) != c.COLLET_OK)
    {
        std.debug.print("zig_add: {s}\n", .{std.mem.sliceTo(&err.text, 0)});
        return error.Failed;
    }
    defer c.collet_runtime_destroy(runtime);
    defer c.collet_context_destroy(context);

    const a = try array(context, &.{ 1, 2, 3 });
    defer c.collet_array_destroy(a);
    const b = try array(context, &.{ 10, 20, 30 });
    defer c.collet_array_destroy(b);
    const outs = [_]?*c.collet_array{a};
    const ins = [_]?*const c.collet_array{ a, b };
    try check(context, c.collet_call(context, c.COLLET_OP_ADD, &outs, &ins, null));
    var sums: [3]f32 = undefined;
    try check(context, c.collet_array_read(context, a, &sums, @sizeOf(@TypeOf(sums))));
    std.debug.print("{d} {d} {d} by {s}\n", .{ sums[0], sums[1], sums[2], c.collet_last_backend(context) });
}
