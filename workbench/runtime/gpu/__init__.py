"""CUDA kernels on a real GPU: a narrow driver with two implementations, arrays of other libraries, calls.

`driver.py` says what a driver has to do; `bindings_driver.py` and `pycuda_driver.py` do it; `choosing.py` takes one,
or says what is missing.  Nothing here is imported before somebody asks for `target="cuda"`.
"""
