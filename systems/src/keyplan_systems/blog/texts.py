"""Titles, people and messages of the blog's sample. ``keyplan_systems.texts`` has the sentences of its posts."""

from __future__ import annotations

from keyplan_systems.texts import SUBJECTS, TITLES, Subject

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
    """The title of post ``number``, its subject, and the number of earlier posts with that title."""
    which = number % len(SUBJECTS)
    subject = SUBJECTS[which]
    turn, place = divmod(number // len(SUBJECTS), len(subject.things))
    # Titles repeat only after each thing was combined with every template
    template = TITLES[(turn + 7 * place + 5 * which) % len(TITLES)]
    title = template.format(thing=subject.things[place])
    return title[0].upper() + title[1:], subject, turn // len(TITLES)
