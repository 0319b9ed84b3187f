"""What one would write in each of the other libraries, operator by operator.  Nothing here needs the workbench."""
