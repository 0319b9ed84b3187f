"""Arrays of other libraries, memory for results, layouts."""
