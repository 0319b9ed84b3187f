/* Machine code that stands in a library: several for one text, of which a GPU takes one. */

#ifndef WORKBENCH_GPU_IMAGES_H
#define WORKBENCH_GPU_IMAGES_H

#include "gpu.h"

const wb_entries *wb_open(const wb_threads *threads);
int wb_gpu_load(int number, const void *image, int device);

typedef struct {
    int number; /* of the text */
    const void *code;
} wb_gpu_image;

/* An operator's; `entries` is where its kernels are found once they are in the GPU. */
typedef struct {
    const wb_entries *(*open)(const wb_threads *threads);
    int (*load)(int number, const void *image, int device);
    const wb_gpu_image *images;
    int count, texts;
    const wb_gpu_entries **entries;
} wb_gpu_table;

/* The kernels of an operator called `name`, their machine code in the GPU: of several for one text, what the driver takes.
   NULL where there are none for it; `wb_message` says why. */
const wb_gpu_entries *wb_gpu_loaded(const char *name, const wb_gpu_table *table, int device);

#endif
