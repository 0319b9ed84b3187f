/* What threads touch, cell by cell: outside of arrays, before anything was written, or unordered with another thread.

   The compiler calls `__tsan_*` before each access of the kernel and `__ubsan_*` for a subscript outside of a declared
   array; both are defined here, so none of its own runtime libraries is needed.  One worker executes all blocks. */

#define __shared__ static __attribute__((section("wb_shared"), aligned(16)))
#define WB_CPU_SEES(pointer, bytes, what, line) ::wb_cpu::see((uint64_t)(pointer), bytes, ::wb_cpu::what, line)
#define WB_CPU_SEES_COPY(copy) ::wb_cpu::see_copy(copy)
#define WB_CPU_SEES_ARRIVAL(copy) ::wb_cpu::see_arrival(copy)
#define WB_CPU_SHARED(bytes) ::wb_cpu::shared_memory(*launch)
#define WB_CPU_UNSHARED(pointer) ((void)(pointer))

namespace wb_cpu {

/* PEEK is a volatile read: it may see what others are updating. */
enum What { READ, WRITE, UPDATE, COPY, PEEK };
/* In place of a region: an array that the text declares. */
enum { MOST_LOGGED = 1 << 23, NEAREST = 4096, DECLARED = -2 };

struct Touch {
    int64_t site;
    uint32_t phase, block, time;
    uint16_t thread;
    uint8_t what, made;
};

/* `owner` is the launch or, in shared memory, the block for which the rest holds. */
struct Cell {
    Touch write, read[2], foreign;
    int64_t pending_site, logged_site;
    uint32_t owner;
    int16_t pending;
    uint8_t initialised, met;
};

WB_CPU int64_t site_of(const Thread &thread, int64_t site) { return thread.depth >= 2 ? thread.calls[1] : site; }

/* The dynamic shared memory is the last region of a launch; cells of shared memory are made anew. */
WB_CPU_SLOW void *shared_memory(Launch &launch) {
    for (int n = 0; n < launch.regions; ++n) {
        Region &region = launch.region[n];
        if (region.shared && region.cells)
            __builtin_memset((void *)region.cells, 0, ((region.high - region.low) / region.grain + 1) * sizeof(Cell));
    }
    return (void *)launch.region[launch.regions - 1].low;
}

WB_CPU bool ordered(const Touch &touch, const Thread &thread) {
    const Crew &crew = *thread.crew;
    if (touch.block != (uint32_t)crew.block_number) return false;
    if (touch.thread == thread.linear || touch.phase != (uint32_t)crew.phase) return true;
    return touch.thread / WARP == thread.linear / WARP && thread.joined[touch.thread % WARP] > touch.time;
}

/* `inner` is the place inside a function that the kernel calls at `site`, where no other access is told. */
WB_CPU_SLOW void tell(Kind kind, const Thread &thread, int what, int64_t site, int region, uint64_t p, int bytes,
                      const Touch *other = 0, int64_t inner = 0) {
    Launch &launch = *thread.crew->launch;
    Finding found = {kind, what, other ? other->what : 0, region, site, other ? other->site : inner != site ? inner : 0,
                     thread.crew->block_number, other ? (int64_t)other->block : -1, (int64_t)thread.linear,
                     other ? (int64_t)other->thread : -1, 0, bytes};
    found.offset = region < 0 ? (int64_t)p : (int64_t)(p - launch.region[region].low);
    report(launch, found, kind == OUTSIDE);
}

/* Who touches what of the arrays that arguments point to, each pair about once. */
WB_CPU_SLOW void log_touch(Launch &launch, Cell &cell, int64_t site, int region, int64_t element) {
    if (cell.logged_site == site || launch.log_count >= MOST_LOGGED) return;
    cell.logged_site = site;
    if (launch.log_count == launch.log_room) {
        int64_t room = launch.log_room ? 2 * launch.log_room : 4096;
        Logged *more = (Logged *)realloc(launch.log, (size_t)room * sizeof(Logged));
        if (!more) return;
        launch.log = more;
        launch.log_room = room;
    }
    launch.log[launch.log_count++] = {site, region, element};
}

/* What a place in the text writes, in all. */
WB_CPU_SLOW void count_written(Launch &launch, int64_t site, int64_t array, int64_t elements) {
    static int64_t last = 0;
    int64_t n = last < launch.written_count ? last : 0;
    if (n < launch.written_count && (launch.written[n].site != site || launch.written[n].array != array))
        for (n = 0; n < launch.written_count; ++n)
            if (launch.written[n].site == site && launch.written[n].array == array) break;
    if (n == launch.written_room) {
        int64_t room = n ? 2 * n : 64;
        Written *more = (Written *)realloc(launch.written, (size_t)room * sizeof(Written));
        if (!more) return;
        launch.written = more;
        launch.written_room = room;
    }
    if (n == launch.written_count) launch.written[launch.written_count++] = {site, array, 0};
    launch.written[last = n].elements += elements;
}

WB_CPU_SLOW void own_cell(Cell &cell, const Region &region, const Thread &thread, uint32_t owner) {
    uint8_t initialised = cell.initialised, met = cell.met;
    __builtin_memset((void *)&cell, 0, sizeof cell);
    cell.owner = owner;
    cell.met = 1;
    if (!region.shared) cell.initialised = met ? initialised : (uint8_t)(region.writable & 2);
    (void)thread;
}

WB_CPU void remember(Cell &cell, const Touch &now) {
    if (now.what != READ && now.what != PEEK) {
        cell.write = now;
        return;
    }
    if (cell.read[0].made && cell.read[0].block != now.block) cell.foreign = cell.read[0];
    else if (cell.read[0].made && cell.read[0].thread != now.thread) cell.read[1] = cell.read[0];
    cell.read[0] = now;
}

/* The last write of the nearest element that has a value: what nobody has written may have gone there. */
WB_CPU_SLOW const Touch *nearest(const Cell &cell, const Region &region, uint32_t owner) {
    int64_t own = &cell - region.cells, count = (int64_t)(region.high - region.low) / region.grain;
    for (int64_t far = 1; far < NEAREST; ++far)
        for (int64_t n = own - far; n <= own + far; n += 2 * far)
            if (n >= 0 && n < count && region.cells[n].owner == owner && region.cells[n].write.made)
                return &region.cells[n].write;
    return 0;
}

WB_CPU_SLOW void see_cell(Cell &cell, int number, const Touch &now, const Thread &thread, uint64_t p, int bytes) {
    Region &region = thread.crew->launch->region[number];
    uint32_t owner = (uint32_t)(region.shared ? thread.crew->block_number + 1 : thread.crew->launch->serial);
    if (cell.owner != owner) own_cell(cell, region, thread, owner);
    if (cell.pending) {
        Touch copy = {cell.pending_site, 0, now.block, 0, (uint16_t)(cell.pending - 1), COPY, 1};
        tell(UNFINISHED_COPY, thread, now.what, now.site, number, p, bytes, &copy);
    }
    bool looks = now.what == READ || now.what == PEEK;
    if ((looks || now.what == UPDATE) && !cell.initialised)
        tell(UNINITIALISED, thread, now.what, now.site, number, p, bytes, nearest(cell, region, owner));
    bool both = (now.what == UPDATE || now.what == PEEK) && cell.write.what == UPDATE;
    bool told = cell.pending && cell.write.what == COPY;
    if (cell.write.made && !both && !told && !ordered(cell.write, thread))
        tell(RACE, thread, now.what, now.site, number, p, bytes, &cell.write);
    if (!looks) {
        const Touch *readers[3] = {&cell.read[0], &cell.read[1], &cell.foreign};
        for (const Touch *reader : readers)
            if (reader->made && !(now.what == UPDATE && reader->what == PEEK) && !ordered(*reader, thread))
                tell(RACE, thread, now.what, now.site, number, p, bytes, reader);
        cell.initialised = 1;
    }
    remember(cell, now);
}

WB_CPU int region_of(const Launch &launch, uint64_t p) {
    static int last = 0;
    if (last < launch.regions && p >= launch.region[last].low && p < launch.region[last].high) return last;
    for (int n = 0; n < launch.regions; ++n)
        if (p >= launch.region[n].low && p < launch.region[n].high) return last = n;
    return -1;
}

WB_CPU bool on_stack(const Thread &thread, uint64_t p) {
    return p >= (uint64_t)thread.stack && p < (uint64_t)thread.stack + STACK_BYTES;
}

WB_CPU_SLOW void see_own(uint64_t p, int bytes, What what, int64_t site);

/* A word around smaller elements is looked at before one of them is swapped: what lies beside it is nobody's business. */
WB_CPU bool beside(const Launch &launch, uint64_t p, int bytes, What what) {
    if (what != PEEK) return false;
    for (int n = 0; n < launch.regions; ++n) {
        const Region &region = launch.region[n];
        if (p < region.high && p + (uint64_t)bytes > region.low) return region.grain < bytes;
    }
    return false;
}

/* An access of the thread that runs; one outside of all arrays ends the launch before it is made. */
WB_CPU_SLOW void see(uint64_t p, int bytes, What what, int64_t site) {
    Thread *thread = here;
    if (!thread || bytes <= 0) return;
    if (on_stack(*thread, p)) return see_own(p, bytes, what, site);
    Crew &crew = *thread->crew;
    if (beside(*crew.launch, p, bytes, what)) return;
    int number = region_of(*crew.launch, p);
    int64_t inner = site;
    site = site_of(*thread, site);
    bool inside = number >= 0 && p + (uint64_t)bytes <= crew.launch->region[number].high;
    if (!inside || (what != READ && what != PEEK && !(crew.launch->region[number].writable & 1))) {
        tell(OUTSIDE, *thread, what, site, number, p, bytes, 0, inner);
        give_up();
        return;
    }
    Region &region = crew.launch->region[number];
    if (!region.cells) return;
    Touch now = {site, (uint32_t)crew.phase, (uint32_t)crew.block_number, crew.time, (uint16_t)thread->linear, (uint8_t)what, 1};
    int64_t first = (int64_t)(p - region.low) / region.grain;
    int64_t end = ((int64_t)(p - region.low) + bytes + region.grain - 1) / region.grain;
    if (what == WRITE || what == UPDATE) count_written(*crew.launch, site, number, end - first);
    for (int64_t n = first; n < end; ++n) {
        see_cell(region.cells[n], number, now, *thread, p, bytes);
        if (!region.shared) log_touch(*crew.launch, region.cells[n], site, number, n);
    }
}

WB_CPU void mark(const Copy &copy, int pending) {
    int number = region_of(*here->crew->launch, (uint64_t)copy.to);
    Region &region = here->crew->launch->region[number];
    if (!region.cells) return;
    int64_t first = (int64_t)((uint64_t)copy.to - region.low) / region.grain;
    for (int64_t n = 0; n * region.grain < copy.bytes; ++n) {
        region.cells[first + n].pending = (int16_t)pending;
        region.cells[first + n].pending_site = copy.site;
    }
}

WB_CPU_SLOW void see_copy(const Copy &copy) {
    see((uint64_t)copy.from, (int)(copy.bytes - copy.zeros), READ, copy.site);
    if (on_stack(*here, (uint64_t)copy.to)) return;
    see((uint64_t)copy.to, (int)copy.bytes, COPY, copy.site);
    mark(copy, 1 + (int)here->linear);
}

WB_CPU_SLOW void see_arrival(const Copy &copy) {
    int depth = here->depth;
    here->depth = 0;  // the site is the copy's, not the wait's
    if (!on_stack(*here, (uint64_t)copy.to)) mark(copy, 0);
    see((uint64_t)copy.to, (int)copy.bytes, COPY, copy.site);
    see((uint64_t)copy.from, (int)(copy.bytes - copy.zeros), READ, copy.site);
    here->depth = depth;
}

}  // namespace wb_cpu

/* Gives back what a launch took down. */
WB_CPU_EXPORT void wb_cpu_forget(wb_cpu::Launch *launch) {
    free(launch->log);
    free(launch->written);
}

/* -- what the compiler calls ------------------------------------------------------------------------------------------ */

#define WB_CPU_HOOK extern "C" __attribute__((noinline, visibility("hidden"))) WB_CPU_UNSEEN
#define WB_CPU_NAMED(name) __asm__(name)
#define WB_CPU_PLACE ((int64_t)(uintptr_t)__builtin_return_address(0) - 1)
#define WB_CPU_ACCESS(name, n) \
    WB_CPU_HOOK void __tsan_##name##read##n(void *p) { wb_cpu::see((uint64_t)p, n, wb_cpu::READ, WB_CPU_PLACE); } \
    WB_CPU_HOOK void __tsan_##name##write##n(void *p) { wb_cpu::see((uint64_t)p, n, wb_cpu::WRITE, WB_CPU_PLACE); }
#define WB_CPU_VOLATILE(name, n) \
    WB_CPU_HOOK void __tsan_##name##volatile_read##n(void *p) { wb_cpu::see((uint64_t)p, n, wb_cpu::PEEK, WB_CPU_PLACE); } \
    WB_CPU_HOOK void __tsan_##name##volatile_write##n(void *p) { wb_cpu::see((uint64_t)p, n, wb_cpu::WRITE, WB_CPU_PLACE); }
#define WB_CPU_VOLATILES(name) \
    WB_CPU_VOLATILE(name, 2) WB_CPU_VOLATILE(name, 4) WB_CPU_VOLATILE(name, 8) WB_CPU_VOLATILE(name, 16)
#define WB_CPU_BOTH(name, n) \
    WB_CPU_HOOK void __tsan_##name##read_write##n(void *p) { \
        wb_cpu::see((uint64_t)p, n, wb_cpu::READ, WB_CPU_PLACE); \
        wb_cpu::see((uint64_t)p, n, wb_cpu::WRITE, WB_CPU_PLACE); \
    }
#define WB_CPU_ACCESSES(name) \
    WB_CPU_ACCESS(name, 2) WB_CPU_ACCESS(name, 4) WB_CPU_ACCESS(name, 8) WB_CPU_ACCESS(name, 16)
WB_CPU_ACCESS(, 1)
WB_CPU_ACCESSES()
WB_CPU_ACCESSES(unaligned_)
WB_CPU_VOLATILE(, 1)
WB_CPU_VOLATILES()
WB_CPU_VOLATILES(unaligned_)
WB_CPU_BOTH(, 1)
WB_CPU_BOTH(, 2)
WB_CPU_BOTH(, 4)
WB_CPU_BOTH(, 8)
WB_CPU_BOTH(, 16)
WB_CPU_BOTH(unaligned_, 2)
WB_CPU_BOTH(unaligned_, 4)
WB_CPU_BOTH(unaligned_, 8)
WB_CPU_BOTH(unaligned_, 16)

WB_CPU_HOOK void __tsan_init() {}
WB_CPU_HOOK void __tsan_func_entry(void *caller) {
    wb_cpu::Thread *thread = wb_cpu::here;
    if (thread && thread->depth++ < wb_cpu::CALLS) thread->calls[thread->depth - 1] = (int64_t)(uintptr_t)caller - 1;
}
/* GCC knows these three with types of its own. */
WB_CPU_HOOK void wb_cpu_left() WB_CPU_NAMED("__tsan_func_exit");
WB_CPU_HOOK void wb_cpu_left() {
    if (wb_cpu::here) wb_cpu::here->depth--;
}
WB_CPU_HOOK void wb_cpu_read(void *p, unsigned long n) WB_CPU_NAMED("__tsan_read_range");
WB_CPU_HOOK void wb_cpu_read(void *p, unsigned long n) {
    wb_cpu::see((uint64_t)p, (int)n, wb_cpu::READ, WB_CPU_PLACE);
}
WB_CPU_HOOK void wb_cpu_write(void *p, unsigned long n) WB_CPU_NAMED("__tsan_write_range");
WB_CPU_HOOK void wb_cpu_write(void *p, unsigned long n) {
    wb_cpu::see((uint64_t)p, (int)n, wb_cpu::WRITE, WB_CPU_PLACE);
}
WB_CPU_HOOK void *__tsan_memcpy(void *to, const void *from, size_t n) {
    wb_cpu::see((uint64_t)from, (int)n, wb_cpu::READ, WB_CPU_PLACE);
    wb_cpu::see((uint64_t)to, (int)n, wb_cpu::WRITE, WB_CPU_PLACE);
    return __builtin_memcpy(to, from, n);
}
WB_CPU_HOOK void *__tsan_memset(void *to, int value, size_t n) {
    wb_cpu::see((uint64_t)to, (int)n, wb_cpu::WRITE, WB_CPU_PLACE);
    return __builtin_memset(to, value, n);
}
#define WB_CPU_BOUNDS(name) \
    WB_CPU_HOOK void name(void *, void *index) { \
        wb_cpu::Thread *thread = wb_cpu::here; \
        if (!thread) return; \
        int64_t inner = WB_CPU_PLACE, site = wb_cpu::site_of(*thread, inner); \
        wb_cpu::tell(wb_cpu::OUTSIDE, *thread, 0, site, wb_cpu::DECLARED, (uint64_t)index, 0, 0, inner); \
        wb_cpu::give_up(); \
    }
WB_CPU_BOUNDS(__ubsan_handle_out_of_bounds)
WB_CPU_BOUNDS(__ubsan_handle_out_of_bounds_abort)

extern "C" __attribute__((visibility("default"))) const int64_t wb_cpu_cell_bytes = sizeof(wb_cpu::Cell);
