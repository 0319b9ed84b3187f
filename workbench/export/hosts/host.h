/* Between an operator's library and a framework that calls it: threads are lent, tables are handed out. */

#ifndef WORKBENCH_HOST_H
#define WORKBENCH_HOST_H

#include "dispatch.h"

typedef void (*wb_body)(const void *context, int64_t begin, int64_t end);

/* `thread` is the number, below `threads`, of the one that runs a body. */
typedef struct {
    void (*parallel_for)(int64_t begin, int64_t end, int threads, wb_body body, const void *context);
    int (*thread)(void);
} wb_threads;

typedef struct {
    const wb_family *family;
    int64_t (*call)(const wb_family *, const wb_array *, const wb_border_value *, const int64_t *, const wb_host *);
    int64_t (*workspace)(const wb_family *, const wb_array *, const int64_t *, int threads);
    const char *(*message)(void);
    const char *(*last_kernel)(void);
} wb_entries;

#endif
