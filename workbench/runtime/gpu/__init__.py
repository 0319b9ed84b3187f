"""CUDA kernels on a real GPU: a narrow driver with two implementations, arrays of other libraries, calls.

In `drivers/` stands what a driver has to do (`drivers/driver.py`), two that do it, and `drivers/choosing.py`, which
takes one or says what is missing.  Nothing here is imported before somebody asks for `target="cuda"`.
"""
