"""How values that are no programs, schedules or kernels show themselves."""
