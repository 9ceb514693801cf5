"""The words of the sample: names, posts, remarks, messages."""

from __future__ import annotations

import random

FIRST_NAMES = (
    "ada", "ben", "chloe", "dario", "esra", "finn", "grace", "hugo", "ines", "jonas", "kaya", "leon", "mina", "noor",
    "olga", "paul", "quinn", "rosa", "sami", "tess", "umar", "vera", "wanda", "yusuf", "zoe",
)  # fmt: skip
FAMILY_NAMES = (
    "abel", "braun", "cruz", "dahl", "evers", "fox", "garcia", "hart", "ito", "jansen", "kaplan", "lund", "moreau",
    "novak", "okoye", "price", "rossi", "silva", "tanaka", "urban", "vance", "weber", "young", "zhao",
)  # fmt: skip
BIOS = (
    "",
    "Walks a lot, reads more.",
    "Bread, bicycles and binary trees.",
    "Here for the weather.",
    "Plays second violin.",
    "Allotment holder. Opinions about beans.",
)
_OPENINGS = ("Just", "Finally", "Today I", "This morning I", "After three tries I", "Nobody asked, but I")
_DEEDS = (
    "fixed the kitchen tap",
    "saw a heron by the canal",
    "baked a loaf that didn't fall",
    "finished the book everybody recommended",
    "cycled all the way to the coast",
    "repotted the lemon tree",
    "found my old notebooks",
    "learnt a new chord",
    "missed the last train, and walked home",
    "cleared the whole inbox",
)
_ENDINGS = (
    ".",
    ", and it was worth it.",
    ". Recommended.",
    ". Never again.",
    "! Photos to follow.",
    ". How was your day?",
)
REMARKS = ("Lovely!", "Same here.", "Where was that?", "You'll have to show me.", "I didn't know you could.", "Again?")
MESSAGES = ("Are you coming on Friday?", "Yes, around eight.", "I'll bring the bread.", "See you there.", "Thank you!")


def post_text(chance: random.Random) -> str:
    return f"{chance.choice(_OPENINGS)} {chance.choice(_DEEDS)}{chance.choice(_ENDINGS)}"
