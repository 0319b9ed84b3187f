/* Machine code that stands in a library goes into the GPU when a call first wants it. */

#include "gpu_images.h"

#include <pthread.h>
#include <stdio.h>

static int wb_load_text(const wb_gpu_table *table, int text, int device)
{
    int refused = 1;
    for (int n = 0; n < table->count && refused; ++n)
        if (table->images[n].number == text) refused = table->load(text, table->images[n].code, device);
    return refused;
}

const wb_gpu_entries *wb_gpu_loaded(const char *name, const wb_gpu_table *table, int device)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int refused = 0;
    pthread_mutex_lock(&lock);
    for (int text = 0; text < table->texts && !*table->entries && !refused; ++text)
        refused = wb_load_text(table, text, device);
    if (!refused && !*table->entries) *table->entries = (const wb_gpu_entries *)table->open(NULL);
    const wb_gpu_entries *found = *table->entries;
    pthread_mutex_unlock(&lock);
    if (found) return found;
    char why[WB_TEXT];
    snprintf(why, sizeof why, "%s", wb_message());
    wb_fail(WB_GPU_REFUSED, "%s has no kernel for this GPU: %s", name, why);
    return NULL;
}
