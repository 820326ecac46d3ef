"""The C library's allocator, kept from holding on to what was freed: memory stays flat from run to run.

Only glibc has these knobs; elsewhere nothing happens (mallopt(3), malloc_trim(3)).
"""

from __future__ import annotations

import ctypes
import gc

_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_LARGE_BYTES = 1 << 20
_ARENAS = 2


def limit_fragmentation() -> bool:
    """Gives large blocks (whole files, responses, columns) back to the system as soon as they are freed.

    By default glibc puts them on the heap once one of their size was freed, where small objects pin them, and
    gives each thread a heap of its own.

    Returns:
        Whether the allocator could be told.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)) and bool(mallopt(_M_ARENA_MAX, _ARENAS))


def give_back() -> None:
    """Gives unused memory of Python, Arrow and the C library back to the system."""
    import pyarrow as pa

    gc.collect()
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
