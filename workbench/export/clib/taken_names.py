"""Names that C has itself: a library of such a name would stand in the way of C's own headers and functions."""

from __future__ import annotations

from workbench.errors import WorkbenchError

HEADERS = """
    aio alloca assert complex cpio ctype dirent dlfcn endian errno fcntl features fenv float fnmatch ftw getopt glob
    grp iconv inttypes iso646 langinfo libgen libintl limits locale malloc math memory monetary netdb nl_types poll
    pthread pwd regex resolv sched search semaphore setjmp signal spawn stdalign stdarg stdatomic stdbool stddef
    stdint stdio stdlib stdnoreturn string strings stropts syslog tar termios tgmath threads time ulimit unistd
    utime utmpx values wait wchar wctype wordexp workbench
"""
FUNCTIONS = """
    accept access alarm atexit atof atoi atol bind brk bsearch calloc chdir chmod chown close connect div dup exec
    fclose feof ferror fflush fgets fileno fopen fork fprintf fputc fputs fread freopen fscanf fseek ftell fwrite
    getc getchar getenv getline gets getpid index kill ldiv link listen lseek memchr mkdir open pause perror pipe
    popen printf putc putchar puts qsort raise rand random read realloc recv remove rename rewind rindex rmdir sbrk
    scanf select send setbuf sleep snprintf socket sprintf srand srandom sscanf stat strcat strchr strcmp strcoll
    strcpy strcspn strdup strerror strncat strncmp strncpy strpbrk strrchr strspn strstr strtod strtof strtok strtol
    strtoul swab sync system tmpfile tmpnam truncate umask ungetc unlink vfprintf vprintf vscanf vsnprintf vsprintf
    wait write
"""


def checked_for_c(name: str) -> str:
    """The name of an operator that becomes a C library; WorkbenchError for one that C has itself."""
    header = name in HEADERS.split()
    if header or name in FUNCTIONS.split():
        has = f"a header {name}.h" if header else f"a function {name}"
        raise WorkbenchError(f"{name} cannot name a C library, as C has {has}; rename the operator: def {name}_op(...)")
    return name
