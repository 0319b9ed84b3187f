"""Value-based dataflow of programs as they are written: what certificates are checked by."""
