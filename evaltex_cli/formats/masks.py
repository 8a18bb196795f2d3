"""Label pictures: pictures whose pixels are the numbers of the objects."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

_lock = threading.Lock()
_users: list[object] = []
_settings = ExitStack()


@contextmanager
def unlimited_and_silent() -> Iterator[None]:
    """Let pictures be of any size, and ignore what decoders log and warn of; callers have limits
    and messages.

    The settings hold while any thread is in such a block: the first one makes them, the last one
    resets them.
    """
    user = object()
    with _lock:
        if not _users:
            _settings.enter_context(_changed_settings())
        _users.append(user)
    try:
        yield
    finally:
        with _lock:
            _users.remove(user)
            if not _users:
                _settings.close()


@contextmanager
def _changed_settings() -> Iterator[None]:
    import logging

    from PIL import Image

    loggers = [logging.getLogger(name) for name in ("PIL", "tifffile")]
    levels = [logger.level for logger in loggers]
    limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        Image.MAX_IMAGE_PIXELS = limit
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
