"""The headers of exported libraries: how an operator is called, and what every library has beside that."""

from __future__ import annotations

from workbench.codegen.c.names import comment
from workbench.export.clib.api import Interface

_TEXT = """/* {opening}

   Functions answer 0, or what workbench.h lists; {function}_message() says what was wrong, in words. */

#ifndef {guard}
#define {guard}

#include "workbench.h"

#ifdef __cplusplus
extern "C" {{
#endif

{functions}

/* What the last call of this thread that failed was about. */
const char *{function}_message(void);

/* {of_kernel}, and the instruction set the library chose when it was loaded. */
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

_FUNCTIONS = """/* Dense arrays, row after row.
{arguments} */
{plain};

/* The same for tensors with strides, of the shapes and types above; sizes come from the shapes. */
{tensors};"""


def header_text(interface: Interface) -> str:
    """`<name>.h`: the operator's text, and every function with what it takes."""
    op = interface.family.op
    text = "\n".join(f"       {comment_line(line)}" for line in op.text.splitlines())
    functions = _FUNCTIONS.format(
        arguments="\n".join(f"   {a.c_name}: {comment(a.about)}" for a in interface.arguments),
        plain=interface.plain(),
        tensors=interface.tensors(),
    )
    opening = f"{op.name}, made by the Tensor Workbench.\n\n{text}"
    of_kernel = "Which kernel the last call of this thread ran"
    return library_header(op.name, interface.function, opening, functions, of_kernel)


def library_header(name: str, function: str, opening: str, functions: str, of_kernel: str) -> str:
    """The header of a library called `name`, whose functions begin with `function`: what it is, how it is called, what
    `_kernel()` says, and what every library has."""
    return _TEXT.format(
        opening=opening, function=function, guard=f"WORKBENCH_{name.upper()}_H", functions=functions,
        of_kernel=of_kernel,
    )  # fmt: skip


def comment_line(line: str) -> str:
    """A line for a comment, with its indentation."""
    return f"{' ' * (len(line) - len(line.lstrip()))}{comment(line)}"
