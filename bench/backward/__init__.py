"""Our gradients of the library's operators against PyTorch's own backward."""
