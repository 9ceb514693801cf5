"""Texts for the blog's sample: essays, titles, people, messages. Further subjects than those that all samples share.

Everything is drawn from a ``random.Random`` that the caller seeds, so the same seed gives the same text.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice

from keyplan_systems import texts
from keyplan_systems.texts import Subject, said

__all__ = ["BIOS", "FIRST_NAMES", "LAST_NAMES", "MESSAGES", "SUBJECTS", "essay", "title_of"]

WALKING = Subject(
    "walking",
    ("walking", "mountains", "maps", "weather", "trains", "slow-travel", "gear"),
    (
        "a path without signs",
        "the last bus down",
        "walking in November",
        "good boots",
        "contour lines",
        "huts and their keepers",
        "the long way round",
        "crossing a valley",
        "a night outside",
        "walking with children",
    ),
    (
        "I have walked this ridge {four|nine} times, and twice I have seen {where I was going|the lake}.",
        "The plan was {eighteen|twenty-two} kilometres; the plan was made indoors.",
        "You hear a valley before you see it, if {the wind is kind|nobody speaks}.",
        "Most of what I know about {weather|patience} I learned while waiting for it to change.",
    ),
    (
        "A map tells you what was there; the {path|cow} tells you what is.",
        "We stopped {every hour|whenever somebody said so}, and were no slower for it.",
        "Clouds below you are a lake, clouds above you are {a hat|a warning}.",
        "Carry water {for two|past the first stream}; the second one may be dry.",
        "The steepest part is {always just behind the hut|the one after lunch}.",
        "Nobody has ever regretted {a dry pair of socks|turning round}.",
        "At {six|half past five} in the morning a mountain belongs to whoever is on it.",
        "The guide book gives {four|five} hours, which is the time of somebody without a camera.",
        "Write down where you changed trains: in {ten|twenty} years that is the part you will have forgotten.",
        "We met {three|two} people all day, and each of them told us {a different|the same} way.",
        "If the cows lie down, {so should you|it has started to rain already}.",
        "A short rope weighs {four hundred grams|little}, and is worth it once.",
        "What looks like a path from across the valley is a {stream|wall}.",
        "The way back is a different walk, with {the sun on the other side|the same stones}.",
    ),
    ("The first hour", "Above the trees", "What we carried", "Where it goes wrong", "The way back", "A word on maps"),
    (
        "look at the forecast of two places, and take the worse",
        "tell somebody which way, and until when",
        "know where you will turn round",
        "leave before it is light",
    ),
    "> The view is for those who get up. The coffee is for those who come back.",
)

STARS = Subject(
    "stars",
    ("astronomy", "night-sky", "optics", "science", "beginners", "winter"),
    (
        "a first telescope",
        "the moons of Jupiter",
        "double stars",
        "a dark sky near a city",
        "binoculars on a tripod",
        "shooting stars in August",
        "the far side of the Moon",
        "drawing what you see",
        "variable stars",
    ),
    (
        "The first thing you see through a telescope is {the neighbour's chimney|how fast the Earth turns}.",
        "It takes {twenty|thirty} minutes until your eyes are open, and one headlight to close them.",
        "There are {three|two} nights a month when everything is right, and you are {ill|on a train} for one of them.",
    ),
    (
        "Begin with the Moon: it is bright, it is near, and it {changes every night|forgives everything}.",
        "A bigger mirror shows more; a smaller one is {used more|carried outside}.",
        "Look {a little beside|past} a faint thing, and it is there.",
        "Jupiter's moons change places within {an evening|the time of a supper}, and you can watch them do it.",
        "Draw it badly. You will still have {looked|seen} longer than any camera.",
        "The colours of double stars are {real|an agreement}, and everybody sees others.",
        "A red lamp costs {four|six} euros, and saves the evening.",
        "Dew is the natural end of {most|all} observations.",
        "The sky over a city is {brighter than a full moon|a ceiling}; the planets don't mind.",
        "Count the stars of the Pleiades that you see without help, and write the number down {each winter|somewhere}.",
        "What takes an hour to find the first time takes {a minute|two breaths} the tenth.",
        "Nobody tells you about the {cold feet|dogs}.",
    ),
    ("Before it is dark", "What to look at first", "With what", "What you will not see", "An hour outside", "Notes"),
    (
        "let the telescope get as cold as the air",
        "find one thing without any help",
        "stay on it for ten minutes",
        "write down the time, and what you saw",
    ),
    "| month | look for |\n|---|---|\n| March | the Beehive |\n| August | the Perseids |\n| November | the Pleiades |",
)

BOOKS = Subject(
    "books",
    ("books", "reading", "libraries", "notes", "essays", "craft"),
    (
        "reading slowly",
        "marginal notes",
        "the village library",
        "books that were lent",
        "a shelf of unread books",
        "translations",
        "reading aloud",
        "the second reading",
        "footnotes",
        "an index of one's own",
    ),
    (
        "I counted: {sixty-one|forty-eight} books on the shelf that I have not read, and {three|two} that I own twice.",
        "The best {bookshop|library} I know has {two|four} chairs and no coffee.",
        "Somebody had read this copy before me, in {pencil|green ink}.",
        "A book that you lend is a {letter|farewell}.",
    ),
    (
        "A pencil makes a reader; a {highlighter|marker} makes a poster.",
        "Reading aloud finds the sentences that {only looked|never were} finished.",
        "The footnotes are where the author {is allowed to be right|talks to you}.",
        "Give up on page {fifty|sixty}, less a page for each {year over forty|child in the house}.",
        "An index of your own, on the last page, takes {a minute|ten words} a chapter, and gives the book back.",
        "Two translations side by side are a {third book|conversation}.",
        "What I remember of it is {a kitchen|one wet street}, and that is not in the book at all.",
        "The library sends a letter after {four|six} weeks, which is how I know what I was reading in {spring|March}.",
        "Some books are better {the second time|in February}.",
        "The unread shelf is not a debt; it is {a larder|weather that is on its way}.",
        "Old paper smells of {vanilla|hay}, for reasons that a chemist can explain and shouldn't.",
        "I stopped counting books, and began to count {evenings|chapters}.",
    ),
    ("On the shelf", "With a pencil", "What stays", "Lent and returned", "A small method", "For further reading"),
    (
        "read the last page of the introduction first",
        "write one question on a slip of paper",
        "stop where it is still good",
        "tell somebody about it within a day",
    ),
    "> A reader lives a thousand evenings, most of them on one sofa.",
)

CITIES = Subject(
    "cities",
    ("cities", "streets", "housing", "public-space", "trams", "design", "opinion"),
    (
        "benches",
        "the missing crossing",
        "a market square",
        "narrow streets",
        "trams and their tracks",
        "shade in summer",
        "a corner shop",
        "the ground floor",
        "places for children",
        "what a wall can do",
    ),
    (
        "There is a bench near our house that {nobody|everybody} sits on, and I wanted to know why.",
        "A street is finished when somebody {puts a chair outside|sells bread in it}.",
        "We counted people for {an hour|two evenings}, with {chalk|dried beans}; the council had other numbers.",
    ),
    (
        "People sit where they can see {people|who comes}, with something solid behind them.",
        "Every {six|ten} metres a door: that is all the trick there is to a lively street.",
        "A crossing is where people cross, whatever {is painted|the sign says}.",
        "Trees are {slow|cheap}, so they should have been planted {twenty years|a mayor} ago.",
        "Nobody loves a square that was made for {looking at|parades}.",
        "The tram decides where the {shops|cafés} are; the timetable decides when.",
        "On the ground floor a city is {read|spoken}; above that it is only seen.",
        "Shade is {infrastructure|kindness}, and it weighs nothing.",
        "A narrow street slows a car better than {three|five} signs do.",
        "Ask the {postwoman|children}: they know every gate.",
        "What is closed at {six|eight} is dead by nine.",
        "We moved the bench by {four|two} metres, and it has been full since.",
        "Repairing is a kind of planning that {nobody cuts a ribbon for|fits on a bicycle}.",
    ),
    ("What we saw", "Who is it for?", "Numbers", "A small change", "What the neighbours said", "Afterwards"),
    (
        "stand there for an hour, twice",
        "count, and write down who isn't there",
        "change what can be changed back",
        "count again",
    ),
    "```text\nbefore   ▏▎▎▍▎▏\nafter    ▎▍▌▊▆▍\n         8 10 12 14 16 18 h\n```",
)

SUBJECTS = (*texts.SUBJECTS, WALKING, STARS, BOOKS, CITIES)

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
    "What nobody says about {thing}",
    "An evening with {thing}",
    "{thing}, revisited",
    "How I changed my mind about {thing}",
    "A second look at {thing}",
    "A short guide to {thing}",
    "Your questions about {thing}",
    "{thing}, measured",
    "Why we still talk about {thing}",
    "The trouble with {thing}",
    "What I got wrong about {thing}",
    "Ten minutes on {thing}",
    "Beyond {thing}",
)

_FIRST = (
    "Ada Amir Anouk Aya Bela Bruno Carla Chidi Clara Dario Dilnoza Edith Elif Emeka Esra Farid Fatima Femi Greta Hana "
    "Hugo Ida Ines Ivo Jana Jin Jonas Kaito Kira Lamin Lea Lien Lucía Magda Malik Mara Mei Milan Mina Nadia Niels Nora "
    "Olga Omar Paula Pavel Quinn Rafa Ravi Rosa Sami Selma Sofia Tariq Teo Uma Vera Wanda Yusuf Zoë"
)
_LAST = (
    "Abe Adeyemi Albrecht Andersen Baptiste Barros Becker Bianchi Bose Castro Cohen Costa Dahl Demir Dubois Eriksen "
    "Fischer Fontaine García Haddad Hansen Horvat Ibrahim Ivanova Jansen Johansson Kaya Keller Khan Kim Kowalski "
    "Larsen Lindqvist Lopes Marino Meyer Moreau Mwangi Nakamura Novak Okafor Olsen Pereira Petrov Quist Ramos Rossi "
    "Sato Schmidt Silva Sousa Tanaka Toth Usman Virtanen Wagner Weber Yilmaz Zhang Zimmer"
)
FIRST_NAMES = tuple(_FIRST.split())
LAST_NAMES = tuple(_LAST.split())
BIOS = (
    "Writes slowly, mostly on trains.",
    "Two children, one garden, too many notebooks.",
    "Engineer by day. Bread at night.",
    "I keep a list of benches.",
    "Formerly a librarian; still whispers.",
    "Here for the footnotes.",
    "Learning in public, forgetting in private.",
    "",
)
MESSAGES = (
    ("A broken link", "The second link in the article about sort keys leads nowhere. Otherwise: thank you!"),
    ("May I translate this?", "I would like to translate two of the essays into Portuguese, with a link to you."),
    ("Full text in the feed", "Please keep the full text in the feed. It is how I read on the train."),
    ("A correction", "Perseids peak around the 12th of August, not the 21st. I have the cold feet to prove it."),
    ("Accessibility", "Your headings make sense in a screen reader. That is rarer than you think."),
    ("Spam in my profile", "Somebody copied my profile under another name. Could you have a look?"),
    ("Lost password", "I no longer have the address that I registered with. What can I do?"),
    ("Reading group", "We are six people in a village library, and we read one of your posts each month."),
)


def title_of(number: int) -> tuple[str, Subject, int]:
    """The title of essay ``number``, its subject, and how often that title came before: neighbours differ in both."""
    which = number % len(SUBJECTS)
    subject = SUBJECTS[which]
    turn, place = divmod(number // len(SUBJECTS), len(subject.things))
    # Each thing meets each template once before anything comes again
    template = TITLES[(turn + 7 * place + 5 * which) % len(TITLES)]
    title = template.format(thing=subject.things[place])
    return title[0].upper() + title[1:], subject, turn // len(TITLES)


def essay(chance: random.Random, subject: Subject) -> str:
    """An essay in Markdown, from a note of two paragraphs to some pages with lists, quotes and code."""
    sentences = iter([said(chance, word) for word in chance.sample(subject.sentences, len(subject.sentences))])
    headings = iter(chance.sample(subject.headings, len(subject.headings)))
    blocks = [_paragraph(sentences, chance.randrange(1, 3), said(chance, chance.choice(subject.openings)))]
    for _ in range(chance.choices(range(5), weights=(2, 4, 5, 3, 1))[0]):
        text = _paragraph(sentences, chance.randrange(2, 5))
        if not text:
            break
        blocks += [f"## {next(headings)}", text]
        if chance.random() < 0.4:
            blocks.append(_paragraph(sentences, 2))
    extra = chance.random()
    if extra < 0.35:
        blocks += ["## In short", _list(chance, subject.steps)]
    elif extra < 0.6:
        blocks.insert(len(blocks) // 2 + 1, subject.extra)
    elif extra < 0.75:
        blocks.append(f"*With thanks to {chance.choice(FIRST_NAMES)}, who read a draft of this.*")
    return "\n\n".join(block for block in blocks if block) + "\n"


def _paragraph(sentences: Iterator[str], count: int, opening: str = "") -> str:
    """Some sentences behind an opening; empty when all have been said."""
    return " ".join(part for part in (opening, *islice(sentences, count)) if part)


def _list(chance: random.Random, steps: Sequence[str]) -> str:
    if chance.random() < 0.5:
        return "\n".join(f"{place}. {step}" for place, step in enumerate(steps, 1))
    return "\n".join(f"- **{step.partition(' ')[0]}** {step.partition(' ')[2]}" for step in steps)
