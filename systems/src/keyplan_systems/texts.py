"""Articles for samples: hand-written sentences about a few subjects, combined into readable articles.

A seeded ``random.Random`` makes them deterministic.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice


@dataclass(frozen=True)
class Subject:
    """The sentences for articles on one subject. ``{a|b|c}`` in a sentence becomes one of the alternatives."""

    tags: Sequence[str]
    things_listed: str
    """The topics of its articles, separated by commas."""
    openings: Sequence[str]
    sentences: Sequence[str]
    headings: Sequence[str]
    steps: Sequence[str]
    extra: str

    @property
    def things(self) -> Sequence[str]:
        return self.things_listed.split(", ")


@dataclass(frozen=True)
class Manuscript:
    """An article: its title, excerpt, and the versions of its body, the first draft first."""

    title: str
    excerpt: str
    bodies: Sequence[str]


TITLES = (
    "Notes on {thing}",
    "What {thing} taught me",
    "{thing}, step by step",
    "A year with {thing}",
    "Getting {thing} right",
    "The quiet case for {thing}",
    "{thing}: questions and answers",
    "Before you start with {thing}",
    "Three mistakes with {thing}",
    "{thing} without fear",
    "In praise of {thing}",
    "How I changed my mind about {thing}",
)

DATABASES = Subject(
    ("databases", "dynamodb", "aws", "modeling", "indexes", "performance", "transactions", "sqlite", "backups"),
    (
        "single-table design, sparse indexes, optimistic locking, hot partitions, sort keys, "
        "conditional writes, write sharding, item collections, slow queries, schema migrations, "
        "restore drills, junction items"
    ),
    (
        "Every table begins with a list of questions, and {most teams|we, too,} write it down one outage too late.",
        "We moved our {orders|subscriptions|event log} last {spring|autumn}; the keys were the smallest part of it.",
        "Nobody is woken at night by a query that reads {ten|twenty} items.",
        "A data model is a promise about the questions it will answer, and at what price.",
    ),
    (
        "Start from the {screens|endpoints} you have, and write down what each of them has to know.",
        'A sort key that begins with the date answers {"what is new?"|"what was in May?"} without reading the rest.',
        "The cheapest index is the one that {only a tenth of the items|almost nothing} belongs to.",
        "When two writers collide, one of them should {fail|get an error and retry}, not win silently.",
        "We measured it: {four|six} requests became one, and the page was ready before the {spinner|skeleton} showed.",
        "Numbers inside text keys need zeros in front of them, or ten comes before two.",
        "A filter saves {bandwidth|no money}: you pay for each item that is read.",
        "Keep the large attributes out of the items that lists read.",
        "If a condition can fail, decide now what the caller {sees|does next}.",
        "Ask how large one partition can grow before you {fall in love with|ship} its key.",
        "Denormalise what is displayed together, and note which write keeps the copies {equal|honest}.",
        "The {second|third} index was for a report that runs {once a month|on Mondays}; a nightly export did as well.",
        "Time to live is a broom, not a clock: items go {within days|when there is time}.",
        "We now test each question against a plain loop over everything; it found {two|three} wrong answers in a week.",
        "Capacity is bought per partition in the end, so {spread the writes|choose keys that many people share}.",
    ),
    (
        "The question behind it",
        "What it costs",
        "Where it hurts",
        "How we test it",
        "What we would do again",
        "Numbers",
    ),
    (
        "list the access patterns with how often each is asked",
        "give every pattern a key, and every key a reason",
        "write the conditions before the happy path",
        "load a month of real data and read the slowest page",
        "delete the index that nothing uses",
    ),
    "```\nPK = ARTICLE#01HW…   SK = #METADATA\nPK = ARTICLE#01HW…   SK = VERSION#99999996\n```",
)

COOKING = Subject(
    ("cooking", "baking", "vegetarian", "soup", "bread", "quick", "preserving", "winter"),
    (
        "sourdough, onion soup, slow beans, flat bread, pickled carrots, lentils, roast vegetables, "
        "plain rice, plum jam, fresh pasta, potato salad, stock"
    ),
    (
        "There are dishes for guests, and there are dishes for {Tuesdays|rain}; this is one of the second kind.",
        "My {grandmother|neighbour} never wrote this down, so what follows took {nine|eleven} attempts.",
        "It needs little money, one pot, and {an afternoon|the patience to leave it alone}.",
        "Most recipes hurry where they should wait, and this one forgives neither.",
    ),
    (
        "Salt the water until it tastes like {a mild soup|the sea on a calm day}.",
        "Let the onions take their {twenty|thirty} minutes; colour is flavour, and it cannot be hurried.",
        "A heavy pot with a lid that closes is worth more than {three|four} gadgets.",
        "Taste before you season, and again {five minutes later|when it has cooled a little}.",
        "The dough is ready when it {springs back slowly|no longer clings to the bowl}.",
        "Keep a cup of the cooking water: it {binds the sauce|rescues whatever is too thick}.",
        "Soak them overnight, and {throw the water away|give the water to the tomatoes}.",
        "Lemon at the end does what a second spoon of salt can't.",
        "If it looks dry, wait; if it still looks dry, add {a spoon of water|a little oil}.",
        "Freeze half of it flat in a bag, with the {date|name} on it.",
        "Old bread is not a problem but {an ingredient|the beginning of croutons}.",
        "Resting is part of cooking: {ten|fifteen} minutes under a cloth change the whole crumb.",
        "A sharp knife is safer than a blunt one, and {kinder to tomatoes|quicker by half}.",
        "Use the {leaves|stalks} too; they have more taste than the part in the photograph.",
        "Leftovers are better {fried the next day|in a flat bread, with yoghurt}.",
    ),
    ("What you need", "The slow part", "When it goes wrong", "Variations", "The next day", "Why it works"),
    (
        "weigh everything before you begin",
        "heat the oven, then wait ten minutes more",
        "stir from the bottom",
        "let it rest, covered",
        "write down what you changed",
    ),
    "> Two spoons of everything, said the note, and none of the spoons was the same.",
)

GARDENS = Subject(
    ("gardens", "compost", "vegetables", "balcony", "seeds", "pruning", "soil", "bees"),
    (
        "compost, raised beds, tomatoes on a balcony, winter salads, old roses, garlic, apple trees, "
        "clay soil, rain barrels, runner beans, wild corners, slugs"
    ),
    (
        "The garden was {forty square metres of nettles|a lawn nobody loved} when we got the key.",
        "You learn patience from a garden, or you learn {the price of seedlings|to buy them grown}.",
        "By {March|April} every window sill in the house belongs to seedlings.",
        "I keep a diary of what was sown where, and it contradicts me every year.",
    ),
    (
        "Water {in the morning|early}, at the root, and seldom but thoroughly.",
        "What looks like a pest in May is {a ladybird's dinner|gone} in June.",
        "Turn the heap {twice|three times} a year; it does the rest itself.",
        "A hand's depth of leaves keeps the soil {moist|warm} better than any sheet.",
        "Garlic goes in when everything else {comes out|is asleep}.",
        "Never sow the whole packet: half of it is insurance against {frost|pigeons}.",
        "Cut the roses when the forsythia blooms, and cut {harder|more} than you dare.",
        "The beans climb whatever you give them, {the washing line|the neighbour's fence} included.",
        "Clay holds what sand loses; both want {compost|worms}.",
        "Leave the dead stalks standing until spring: somebody {sleeps|winters} in them.",
        "Tomatoes want a roof, {a stick|a string}, and to be left alone with the sun.",
        "A barrel under the gutter pays for itself in {one dry summer|two summers}.",
        "Label everything, with a pencil: ink is gone by {July|the first rain}.",
        "Rest a bed for a year under clover, and it {thanks you|feeds whatever comes after}.",
        "Apples in a cool room, not touching, last until {February|Easter}.",
    ),
    ("The ground", "Through the year", "What failed", "Neighbours", "In a small space", "What it costs"),
    (
        "look where the sun is at noon",
        "dig once, then never again",
        "sow a little every second week",
        "mulch before the heat",
        "keep seed of the best plant, not the first",
    ),
    "> Plant the tree where your grandchildren will want the shade.",
)

SUBJECTS = (DATABASES, COOKING, GARDENS)


def manuscript(chance: random.Random, subject: Subject, number: int, drafts: int) -> Manuscript:
    """An article of a subject with ``drafts`` (1 to 6) versions, each longer than the previous one.

    ``number`` selects the title, so that neighbors differ.
    """
    thing = subject.things[number % len(subject.things)]
    title = TITLES[(number // len(subject.things) + number) % len(TITLES)].format(thing=thing)
    title = title[0].upper() + title[1:]
    opening = said(chance, chance.choice(subject.openings))
    sentences = iter([said(chance, text) for text in chance.sample(subject.sentences, len(subject.sentences))])
    headings = iter(chance.sample(subject.headings, len(subject.headings)))

    def section(count: int) -> str:
        return f"## {next(headings)}\n\n{' '.join(islice(sentences, count))}"

    steps = "\n".join(f"{place}. {step}" for place, step in enumerate(subject.steps, 1))
    lead = " ".join((opening, *islice(sentences, 2)))
    blocks = (
        *(f"# {title}\n\n{lead}\n\n{section(2)}", section(3), f"## In short\n\n{steps}"),
        *(section(3), subject.extra, section(3)),
    )
    bodies = ["\n\n".join(blocks[:count]) + "\n" for count in range(1, drafts + 1)]
    return Manuscript(title, opening, bodies)


def said(chance: random.Random, sentence: str) -> str:
    """The sentence with one alternative of each ``{a|b}``."""
    return re.sub(r"\{([^{}]*)\}", lambda match: chance.choice(match[1].split("|")), sentence)
