"""From syntax to operators: names, types, calls and monoids resolved, a def at a time."""
