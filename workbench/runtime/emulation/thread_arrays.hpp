/* Arrays of a thread with margins that nobody may touch, and with a note for each element that has a value.

   In a watched text `Array<float, 4> own(12);` stands where line 12 of the kernel says `float own[4];`: subscripts,
   addresses and pointers to its elements work as before. */

namespace wb_cpu {

enum { MARGIN = 64 };

/* An array of the thread that runs, declared in `line`: its elements are [low, high); earlier arrays are in `outer`. */
struct Own {
    Own *outer;
    uint64_t low, high, grain;
    uint8_t *known;
    int line;
};

WB_CPU bool reaches(const Own &own, uint64_t p, int bytes) {
    return p + (uint64_t)bytes > own.low - MARGIN && p < own.high + MARGIN;
}

WB_CPU_SLOW void beyond(const Own &own, uint64_t p, What what, int64_t site, int bytes) {
    int64_t index = ((int64_t)(p - own.low) - (p < own.low ? (int64_t)own.grain - 1 : 0)) / (int64_t)own.grain;
    tell(OUTSIDE, *here, what, site_of(*here, site), DECLARED - own.line, (uint64_t)index, bytes, 0, site);
    give_up();
}

/* An access on the thread's stack. */
WB_CPU_SLOW void see_own(uint64_t p, int bytes, What what, int64_t site) {
    Own *own = here->owns;
    while (own && !reaches(*own, p, bytes)) own = own->outer;
    if (!own) return;
    if (p < own->low || p + (uint64_t)bytes > own->high) return beyond(*own, p, what, site, bytes);
    int64_t elements = ((int64_t)(p - own->low) % (int64_t)own->grain + bytes + (int64_t)own->grain - 1) / (int64_t)own->grain;
    if (what != READ && what != PEEK) count_written(*here->crew->launch, site_of(*here, site), DECLARED - own->line, elements);
    for (uint64_t n = (p - own->low) / own->grain; n * own->grain < p - own->low + (uint64_t)bytes; ++n) {
        if (!own->known[n] && (what == READ || what == PEEK || what == UPDATE))
            tell(UNINITIALISED, *here, what, site_of(*here, site), DECLARED - own->line, n, bytes);
        if (what != READ && what != PEEK) own->known[n] = 1;
    }
}

template <class T, int64_t N> struct Array : Own {
    __attribute__((aligned(16))) unsigned char before[MARGIN];
    T cell[N];
    unsigned char after[MARGIN];
    uint8_t has[N];

    WB_CPU_UNSEEN Array(int declared, bool zeros = false) {
        outer = here->owns;
        low = (uint64_t)cell;
        high = low + sizeof cell;
        grain = sizeof(T);
        known = has;
        line = declared;
        __builtin_memset(has, zeros, sizeof has);
        if (zeros) __builtin_memset((void *)cell, 0, sizeof cell);
        here->owns = this;
    }
    WB_CPU_UNSEEN ~Array() { here->owns = outer; }
    WB_CPU_UNSEEN operator T *() { return cell; }
    /* Far away the access itself would meet something else. */
    WB_CPU_UNSEEN __attribute__((noinline)) T &operator[](int64_t n) {
        int64_t site = (int64_t)(uintptr_t)__builtin_return_address(0) - 1;
        if (n < 0 || n >= N) beyond(*this, low + (uint64_t)(n * (int64_t)sizeof(T)), READ, site, 0);
        return cell[n];
    }
};

}  // namespace wb_cpu
