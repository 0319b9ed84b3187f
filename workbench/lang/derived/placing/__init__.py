"""Where contributions go: scatters turned into gathers."""
