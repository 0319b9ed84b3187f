"""The ways out of a panel: what each would write or register, shown before it is done."""
