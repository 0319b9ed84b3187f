/* Execution without looking at what threads touch: blocks run on several threads of the operating system, and each has
   its own shared memory. */

#define __shared__ static thread_local
#define WB_CPU_SEES(pointer, bytes, what, line) ((void)(line))
#define WB_CPU_SEES_COPY(copy) ((void)0)
#define WB_CPU_SEES_ARRIVAL(copy) ((void)0)
#define WB_CPU_SHARED(bytes) malloc(bytes)
#define WB_CPU_UNSHARED(pointer) free(pointer)
