"""The PolyBench kernels from C, against compilers that optimise the text themselves."""
