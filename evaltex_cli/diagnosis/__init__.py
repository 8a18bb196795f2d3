"""Which kinds of errors there are, and what each costs."""
