"""How a line of bash is read: values, words, the walk over the tree, what wrappers run."""
