"""Steps that say how loops are executed: threads, lanes, barriers, instructions."""
