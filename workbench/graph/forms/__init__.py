"""Forms of models: graph, basic blocks, A-normal; what is equal up to renaming."""
