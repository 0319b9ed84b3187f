"""An operator taken apart, and a program written as text that is read again."""
