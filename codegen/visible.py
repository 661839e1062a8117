"""Text as a terminal may have it: nothing that it would obey, and how many columns the rest takes."""

import unicodedata


def visible(text: str, keep: str = "") -> str:
    """The text with every character that a terminal obeys or hides shown as its code point."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in keep else f"<U+{ord(char):04X}>" for char in text
    )


def cells(text: str) -> int:
    """How many columns of a terminal the text takes, as `visible` shows it."""
    shown = visible(text)
    return len(shown) if shown.isascii() else sum(map(_columns, shown))


def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me") or _joins_the_syllable_before(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _joins_the_syllable_before(char: str) -> bool:
    """Vowels and finals of decomposed Hangul, which the columns of their initial cover."""
    return "\u1160" <= char <= "\u11ff" or "\ud7b0" <= char <= "\ud7ff"
