"""An evaluator of models of which only some values are known: what is left is written as a program."""
