"""What is wrong with inputs, and what was probably meant."""
