"""Heavy packages are loaded in the middle of the first fit, and as a whole.

Python forgets a package whose import was interrupted, but not those parts of it that
were complete: the next import finds half of numba and fails, and so does every fit
until Python is started anew. Users do interrupt a first fit.
"""

import signal
import sys
import threading
from contextlib import contextmanager
from importlib import import_module

ONE_AT_A_TIME = threading.RLock()


def package(name):
    """A package, imported as a whole if it is not there yet."""
    if name not in sys.modules:
        with ONE_AT_A_TIME, undisturbed():
            return import_module(name)
    return import_module(name)


@contextmanager
def undisturbed():
    """Let an interrupt wait for the end of the block.

    Only the main thread hears of interrupts; a handler that is not Python's, or one
    that does not listen, stays as it is.
    """
    handler = signal.getsignal(signal.SIGINT)
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or not callable(handler):
        yield
        return
    heard = []
    signal.signal(signal.SIGINT, lambda *arguments: heard.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if heard:
            handler(*heard[0])
