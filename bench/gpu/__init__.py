"""`make gpu`: what runs on a machine with an NVIDIA GPU and no network, and what comes back from it.

`python -m bench.gpu` needs nothing but Python; it installs the bundle that `make gpu-bundle` made, runs the tests
marked `gpu` and the benchmark in processes of their own, and after each step writes all it knows: a run that is cut
short leaves what it found, and the next one goes on from there.
"""
