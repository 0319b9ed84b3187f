"""The NumPy oracle: what an operator means, evaluated without any polyhedral machinery."""
