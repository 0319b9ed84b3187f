/* The side of an operator's library that a framework sees: threads are lent to it, its tables are handed out. */

#include "host.h"

static wb_threads wb_lent;

void wb_parallel_for(int64_t begin, int64_t end, int threads, wb_body body, const void *context)
{
    if (end - begin > 1 && threads > 1) wb_lent.parallel_for(begin, end, threads, body, context);
    else if (end > begin) body(context, begin, end);
}

int wb_thread(void)
{
    return wb_lent.thread();
}

__attribute__((visibility("default"))) const wb_entries *wb_open(const wb_threads *threads)
{
    static const wb_entries entries = {&wb_the_family, wb_call, wb_workspace, wb_message, wb_last_kernel};
    wb_lent = *threads;
    return &entries;
}
