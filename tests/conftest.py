"""What all tests need."""

import signal

from hypothesis import settings

# Where the tests run in the background of a shell, Ctrl-C is ignored, and every process they start would ignore it too.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("no deadline", deadline=None)  # a busy machine proves nothing
settings.load_profile("no deadline")
