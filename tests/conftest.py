"""What all tests need."""

import signal

# Where the tests run in the background of a shell, Ctrl-C is ignored, and every process they start would ignore it too.
signal.signal(signal.SIGINT, signal.default_int_handler)
