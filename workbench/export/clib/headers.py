"""The header of an exported operator."""

from __future__ import annotations

from workbench.codegen.c.names import comment
from workbench.export.clib.api import Interface

_TEXT = """/* {name}, made by the Tensor Workbench.

{operator}

   Functions answer 0, or what workbench.h lists; {function}_message() says what was wrong, in words. */

#ifndef {guard}
#define {guard}

#include "workbench.h"

#ifdef __cplusplus
extern "C" {{
#endif

/* Dense arrays, row after row.
{arguments} */
{plain};

/* The same for tensors with strides, of the shapes and types above; sizes come from the shapes. */
{tensors};

/* What the last call of this thread that failed was about. */
const char *{function}_message(void);

/* Which kernel the last call of this thread ran, and the instruction set the library chose when it was loaded. */
const char *{function}_kernel(void);
const char *{function}_isa(void);

/* Threads of each call; 0: one for each processor that this process may use. */
void {function}_set_threads(int threads);

/* Two libraries share one pool of threads: b_pool_borrow(a_pool_lend()). */
void *{function}_pool_lend(void);
void {function}_pool_borrow(void *pool);

#ifdef __cplusplus
}}
#endif

#endif
"""


def header_text(interface: Interface) -> str:
    """`<name>.h`: the operator's text, and every function with what it takes."""
    op = interface.family.op
    return _TEXT.format(
        name=op.name,
        operator="\n".join(f"       {comment_line(line)}" for line in op.text.splitlines()),
        function=interface.function,
        guard=f"WORKBENCH_{op.name.upper()}_H",
        arguments="\n".join(f"   {a.c_name}: {comment(a.about)}" for a in interface.arguments),
        plain=interface.plain(),
        tensors=interface.tensors(),
    )


def comment_line(line: str) -> str:
    """A line for a comment, with its indentation."""
    return f"{' ' * (len(line) - len(line.lstrip()))}{comment(line)}"
