"""What happens between a posed problem and its coefficients, lambda after lambda."""
