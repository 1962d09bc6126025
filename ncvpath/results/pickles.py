"""Results in pickles: they say which version wrote them, and another version says what
it cannot make of them."""

from dataclasses import MISSING, fields

from ..version import __version__

# What fields were called in 0.1.
RENAMED = {"predictions": "kept", "grid": "combinations"}
# Pickles did not always say it.
UNKNOWN = "0.1.0 (an early one)"


def pack(result):
    """The fields of a result, and the version that has them."""
    state = {field.name: getattr(result, field.name) for field in fields(result)}
    return state | {"version": __version__}


def unpack(result, state):
    """Put the fields of a pickle into a result; those added since have a default."""
    state = {RENAMED.get(name, name): value for name, value in dict(state).items()}
    writer = state.pop("version", UNKNOWN)
    known = {field.name: field.default for field in fields(result)}
    strange = [name for name in state if name not in known]
    lacking = [
        name for name, default in known.items()
        if name not in state and default is MISSING
    ]
    if strange or lacking:
        what = f"has {strange[0]!r}" if strange else f"lacks {lacking[0]!r}"
        raise ValueError(
            f"a pickled {type(result).__name__} must have the fields of ncvpath "
            f"{__version__}; this one was written by {writer} and {what}. Unpickle it "
            "with that version, or fit again"
        )
    # A frozen record has no other way in.
    result.__dict__.update(state)
